// What comes of allowed calls, in the model: trust moves, and the session remembers what came back.

import { ownerOf, sessionOf, type Memory, type Opening } from './model-memory.ts'
import { hear, lookThrough, NO_DATA, remembers, same, type Utterance } from './model-taint.ts'
import { factsOf } from './model-texts.ts'
import { matches } from './model-glob.ts'
import { moved, NEW_TRUST, trustText } from './model-trust.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import type { EffectSpec } from './model-world.ts'

/** What a receipt says of an effect. */
export interface ModelEffect {
  readonly status: EffectSpec['status']
  readonly late: boolean
  readonly delivery: 'full' | 'redacted' | 'withheld'
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  readonly trust: string | undefined
}

const OUTCOMES = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  UNKNOWN: 'unknown',
  CANCELLED: undefined,
} as const

/** The entry of exactly this name, or else the first that fits. */
export function toolOf({ tools }: ModelPolicy, tool: string): ModelTool | undefined {
  return tools.find(({ name }) => name === tool) ?? tools.find(({ name }) => matches(name, tool))
}

/** What came of a call, if there is one that waits for it; undefined if not. */
export function endCall(
  memory: Memory,
  number: number,
  spec: EffectSpec,
  clock: number,
): ModelEffect | undefined {
  const opening = memory.openings[number]
  const time = Math.max(memory.time, clock)
  if (opening?.assurance === 'enforced' && opening.state !== 'open') return undefined
  const isReport = opening?.assurance !== 'enforced'
  // Nobody reports that it does not know.
  if (isReport && spec.status !== 'COMPLETED' && spec.status !== 'FAILED') return undefined
  // Who looks for one that is not open has had a turn.
  if (opening?.state !== 'open') memory.time = time
  if (!opening || opening.state === 'closed' || (isReport && spec.stranger)) return undefined
  memory.time = time
  const expired = opening.state === 'open' && opening.until < time
  if (expired) record(memory, opening, NOBODY_KNOWS, false)
  memory.openings[number] = { ...opening, state: 'closed' }
  return record(memory, opening, spec, expired || opening.state === 'late')
}

type Came = Pick<EffectSpec, 'status' | 'texts'>
const NOBODY_KNOWS: Came = { status: 'UNKNOWN' }

function record(memory: Memory, opening: Opening, { status, texts }: Came, late: boolean): ModelEffect {
  const policy = memory.policyFor(opening.whose.tenant)
  const returns = toolOf(policy, opening.tool)?.returns ?? []
  const said = status === 'COMPLETED' || status === 'FAILED' ? texts : undefined
  const looked = said && lookThrough(said.map(factsOf), policy, returns)
  // What the tool says of all its answers counts, whatever was seen of this one; what was called off never came.
  const blindly: readonly Utterance[] = [{ origin: 'output', labels: returns, values: [] }]
  remember(memory, opening, status === 'CANCELLED' ? [] : [...blindly, ...(looked?.heard ?? [])])
  const { delivery = 'full', labels = [], findings = [] } = looked ?? {}
  return { status, late, delivery, labels, findings, trust: moveTrust(memory, opening, status) }
}

function remember(memory: Memory, { whose }: Opening, heard: readonly Utterance[]): void {
  const before = memory.data.get(sessionOf(whose)) ?? NO_DATA
  const after = heard.reduce(hear, before)
  const counts = remembers(memory.policyFor(whose.tenant)) && !before.broken
  if (counts && !same(before, after)) memory.data.set(sessionOf(whose), after)
}

function moveTrust(memory: Memory, { whose }: Opening, status: EffectSpec['status']): string | undefined {
  const settings = memory.policyFor(whose.tenant).trust
  const before = memory.trust.get(ownerOf(whose)) ?? NEW_TRUST
  const after = settings && moved(before, OUTCOMES[status], memory.time, settings)
  if (after) memory.trust.set(ownerOf(whose), after)
  return after && trustText(after)
}

/** Advised calls that nobody spoke of in time are closed as unknown, by the host's clock. */
export function closeExpired(memory: Memory, clock: number): void {
  for (const [number, opening] of memory.openings.entries()) {
    if (opening.state !== 'open' || opening.until >= clock) continue
    memory.time = Math.max(memory.time, clock)
    memory.openings[number] = { ...opening, state: 'late' }
    record(memory, opening, NOBODY_KNOWS, false)
  }
}

/** After a restart: what the gateway itself ran is lost, what others run may still be reported. */
export function recover(memory: Memory, clock: number): void {
  const time = Math.max(memory.time, clock)
  for (const [number, opening] of memory.openings.entries()) {
    if (opening.state !== 'open') continue
    if (opening.assurance === 'enforced') memory.openings[number] = { ...opening, state: 'closed' }
    else if (opening.until < time) memory.openings[number] = { ...opening, state: 'late' }
    else continue
    memory.time = time
  }
}
