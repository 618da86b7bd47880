// A world: what a role works with, and the policy that its platform team has written for it.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Random } from './random.ts'
import type { Split } from './session.ts'
import { PUBLIC_MAIL, type Values } from './values.ts'

/** A call and what comes back. */
export type Everyday = readonly [tool: string, args: JsonObject, output: Json]

/** What a role works with. */
export interface World {
  readonly role: string
  readonly split: Split
  /** The company's own domain. */
  readonly home: string
  /** Hosts that the policy lets data go to and where anybody can have an account. */
  readonly shared: readonly string[]
  /** A host of a partner under contract: the policy names it as one that data may go to as if it were inside. */
  readonly partner: string
  readonly policy: string
  /** Everyday calls that nobody would look at twice. */
  readonly everyday: readonly ((values: Values, random: Random) => Everyday)[]
}

/** What a platform team fills in. */
export interface WorldText {
  readonly role: string
  readonly split: Split
  readonly home: string
  readonly shared: readonly string[]
  readonly partner: string
  /** Lines of `tools`. */
  readonly tools: string
  /** Lines of `rules` before the one that allows the daily work. */
  readonly rules?: string
  /** Classes of data that go out only with a person's yes. */
  readonly ask: readonly string[]
  /** Lines of `gates` besides those that every team has. */
  readonly gates?: string
  readonly everyday: World['everyday']
}

/** Names in the policy that may delegate, each with a key of its own. */
export function delegatorsOf(role: string): readonly string[] {
  return [`agent:${role}`, `agent:${role}-lead`]
}

/** Where the key of a delegator goes; the runner has the keys. */
export function keyMark(name: string): string {
  return `KEY(${name})`
}

/** The world with its policy written out. */
export function worldOf(text: WorldText): World {
  const { role, split, home, shared, partner, everyday } = text
  return { role, split, home, shared, partner, everyday, policy: policyText(text) }
}

function policyText({ role, home, shared, partner, tools, rules = '', ask, gates = '' }: WorldText): string {
  const [main, lead] = delegatorsOf(role)
  const allowed = [home, `*.${home}`, partner, ...shared, ...PUBLIC_MAIL]
  return `tollgate: 1
name: ${role}
principals:
  '${main ?? ''}': { tier: admin, key: '${keyMark(main ?? '')}' }
  '${lead ?? ''}': { tier: admin, key: '${keyMark(lead ?? '')}', delegate-only: true }
  'agent:${role}-*': { tier: admin, delegate-only: true }
tools:
${tools.trim().replace(/^ */gm, '  ')}
rules:
${rules.trim().replace(/^ */gm, '  ')}
  - { id: daily-work, allow: '*' }
gates:
  egress: { allow: [${quoted(allowed)}] }
  taint: { deny: [secret], ask: [${ask.join(', ')}], internal: [${quoted([home, `*.${home}`, partner])}] }
  threat: { arguments: { high: ask, medium: label, low: label } }
  session-risk: {}
${gates.trim().replace(/^ */gm, '  ')}
`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ')
}
