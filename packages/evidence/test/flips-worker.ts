// A process that damages the pack in its share of the ways, and answers with those that passed.

import { accepted, boundFlips, subject, type Damage } from './flips-pack.ts'

/** A share of the work: of all damages of a kind, those from `start` up to `end`. */
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
