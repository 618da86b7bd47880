// Measures the ladder with every step active, compared with one signature, and the threat scanner compared with one hash of
// the same text.

import { createHash } from 'node:crypto'
import type { ToolCall } from '@tollgate/kernel'
import { scanText } from '@tollgate/kernel/detection'
import { authorizing, callAt, rulesOf } from './kernel.ts'
import { beside, sized, type Row } from './measure.ts'

export async function* ladderRows(say: (line: string) => void): AsyncGenerator<Row> {
  say('ladder: every rung configured …')
  for (const [args, call] of CALLS) {
    const name = `authorize, every rung, 50 rules, ${args}`
    for (const atOnce of [1, 64]) {
      yield await authorizing({ area: 'ladder', name, policy: POLICY, call, target: 3.6, atOnce })
    }
  }
  say('ladder: scanning 10 KB …')
  for (const [name, text] of TEXTS) yield await scanning(name, text)
}

const EVERY_STEP = `
context: { environments: [prod] }
principals: { "agent:*": { tier: elevated }, "agent:planner": { tier: elevated }, "agent:only": { tier: standard, delegate-only: true } }
`

const GATES = `
  browser: { domains: ["example.com"] }
  taint: { deny: [secret], ask: [personal], internal: ["example.com"], provenance: { untrusted: ask } }
  threat: {}
  trust: {}
  privilege: {}
  temporal:
    rate: { "files/*": 999999/s }
    budget: { calls: 999999/m }
    hours: { "pay/*": "mon-fri 08:00-18:00" }
    burst: { ask: 900000/s, deny: 999999/s }
  compliance:
    jurisdictions: { eu: ["*.eu.example.com"] }
    rules:
      - { id: eu-transfer, labels: [personal], outside: [eu], then: deny }
      - { id: cards, labels: [card], effects: [send, write], then: ask }
`

/** A policy that activates every step. */
export const POLICY: string = `${rulesOf(50).trimEnd()}${GATES}${EVERY_STEP}`

/** The same call, and one with an address and a link in its text. */
export const CALLS: readonly (readonly [string, (i: number) => ToolCall])[] = [
  ['plain text', (i) => ({ ...callAt(i), context: { environment: 'prod' } })],
  ['addresses', (i) => ({ ...withAddresses(callAt(i)), context: { environment: 'prod' } })],
]

function withAddresses(call: ToolCall): ToolCall {
  // Sound: the calls of the benchmark have these arguments.
  const args = call.args as { readonly content: string }
  return {
    ...call,
    args: {
      ...args,
      content: `${args.content.slice(80)} See https://example.com/charts, ask olga@example.com.`,
    },
  }
}

const PROSE =
  'The committee met on Tuesday to discuss the budget for the coming year. Members agreed that the library needs a new ' +
  'roof, and that the old one should be repaired before winter; the estimates are in the annex. Please read them before ' +
  'the next meeting, and send your remarks to the secretary by Friday. A visitor asked whether the instructions on the ' +
  'notice board could be made easier to read. It was decided to print them in larger letters, in two languages. '

const TEXTS: readonly (readonly [string, string])[] = [
  ['prose', PROSE.repeat(40).slice(0, 10_240)],
  ['prose with accents', PROSE.replaceAll('e', 'é').repeat(40).slice(0, 10_240)],
]

/** A scan of 10 KB compared with SHA-256 over the same text in normal forms. The text is new each time. */
async function scanning(name: string, text: string): Promise<Row> {
  let i = 0
  const { work, floor, ratio } = await beside(
    () => scanText(`${text}${(i = (i + 1) % 10)}`),
    () => {
      const copy = `${text}${(i = (i + 1) % 10)}`.normalize('NFKC').toLowerCase()
      createHash('sha256').update(copy).digest('hex')
    },
    { rounds: sized(101, 1), calls: sized(20, 1), warm: sized(50, 1) },
  )
  return {
    area: 'ladder',
    name: `threat scan, 10 KB of ${name}`,
    value: work,
    unit: 'µs',
    floor,
    ratio,
    target: '≤ 10 × SHA-256, or 400 µs',
    pass: ratio <= 10 || work <= 400,
  }
}
