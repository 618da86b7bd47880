// Renders `attacks.jsonl`: every wording once, with goals and host documents in turn. Run it after a wording changed.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WORDINGS, type Goal, type Split } from '../wordings/index.ts'
import { GOALS } from './goals.ts'
import { HOSTS, SUBJECT, type Host } from './hosts.ts'

/** An injected text inside a document. */
export interface Attack {
  readonly kind: string
  readonly split: Split
  readonly text: string
}

/** Where the texts are kept. */
export const ATTACKS: URL = new URL('attacks.jsonl', import.meta.url)

const SHORT = 120

function goalAt(at: number): Goal {
  const goal = GOALS[at % GOALS.length]
  if (goal === undefined) throw new Error('there are no goals')
  return goal
}

function hostAt(at: number, text: string): Host {
  if (text.length < SHORT && !text.includes('\n') && at % 2 === 0) return SUBJECT
  return HOSTS[at % HOSTS.length] ?? SUBJECT
}

/** Every wording once. The number of goals and of hosts have no common factor, so that the pairs vary. */
export function attacks(): readonly Attack[] {
  return WORDINGS.map(({ family, split, text }, at) => {
    const injected = text(goalAt(at))
    return { kind: family, split, text: hostAt(at, injected)(injected) }
  })
}

/** As they are kept: one JSON object a line. */
export function lines(): string {
  return attacks()
    .map((attack) => `${JSON.stringify(attack)}\n`)
    .join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(ATTACKS, lines())
