// A process that tests its share of the damages and returns those that passed.

import { accepted, boundFlips, subject, type Damage } from './flips-pack.ts'

/** A share of the work: the damages of a kind from `start` up to `end`. */
export interface Share {
  readonly kind: Damage['kind']
  readonly start: number
  readonly end: number
}

const given = await subject()
const bound = boundFlips(given)

function* damagesIn({ kind, start, end }: Share): Generator<Damage> {
  if (kind === 'bound flip') yield* bound.slice(start, end)
  else for (let at = start; at < end; at++) yield { kind, at }
}

process.on('message', (share: Share) => {
  void accepted(given, damagesIn(share)).then((passed) => process.send?.(passed))
})
