// The effects of allowed calls, in the model: they change trust and the data of the session.

import { ownerOf, sessionOf, type Memory, type Opening } from './model-memory.ts'
import { addSeen, inspect, NO_DATA, remembers, same, type SeenData } from './model-taint.ts'
import { factsOf } from './model-texts.ts'
import { matches } from './model-glob.ts'
import { moved, NEW_TRUST, trustText } from './model-trust.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import type { EffectSpec } from './model-world.ts'

/** The receipt's description of an effect. */
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

/** The entry with exactly this name, otherwise the first that matches. */
export function toolOf({ tools }: ModelPolicy, tool: string): ModelTool | undefined {
  return tools.find(({ name }) => name === tool) ?? tools.find(({ name }) => matches(name, tool))
}

/** Ends a call that waits for its effect; undefined if there is none. */
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
  // Callers can only report COMPLETED and FAILED.
  if (isReport && spec.status !== 'COMPLETED' && spec.status !== 'FAILED') return undefined
  // The lookup of a call that is not open takes a turn of the ledger.
  if (opening?.state !== 'open') memory.time = time
  if (!opening || opening.state === 'closed' || (isReport && spec.stranger)) return undefined
  memory.time = time
  const expired = opening.state === 'open' && opening.until < time
  if (expired) record(memory, opening, UNKNOWN_OUTCOME, false)
  memory.openings[number] = { ...opening, state: 'closed' }
  return record(memory, opening, spec, expired || opening.state === 'late')
}

type Outcome = Pick<EffectSpec, 'status' | 'texts'>
const UNKNOWN_OUTCOME: Outcome = { status: 'UNKNOWN' }

function record(memory: Memory, opening: Opening, { status, texts }: Outcome, late: boolean): ModelEffect {
  const policy = memory.policyFor(opening.whose.tenant)
  const returns = toolOf(policy, opening.tool)?.returns ?? []
  const said = status === 'COMPLETED' || status === 'FAILED' ? texts : undefined
  const inspected = said && inspect(said.map(factsOf), policy, returns)
  // Declared labels count for every result, inspected or not. A cancelled call has no result.
  const declared: readonly SeenData[] = [{ origin: 'output', labels: returns, values: [] }]
  remember(memory, opening, status === 'CANCELLED' ? [] : [...declared, ...(inspected?.seen ?? [])])
  const { delivery = 'full', labels = [], findings = [] } = inspected ?? {}
  return { status, late, delivery, labels, findings, trust: moveTrust(memory, opening, status) }
}

function remember(memory: Memory, { whose }: Opening, seen: readonly SeenData[]): void {
  const before = memory.data.get(sessionOf(whose)) ?? NO_DATA
  const after = seen.reduce(addSeen, before)
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

/** Closes advised calls without a report as unknown when they expire by the clock. */
export function closeExpired(memory: Memory, clock: number): void {
  for (const [number, opening] of memory.openings.entries()) {
    if (opening.state !== 'open' || opening.until >= clock) continue
    memory.time = Math.max(memory.time, clock)
    memory.openings[number] = { ...opening, state: 'late' }
    record(memory, opening, UNKNOWN_OUTCOME, false)
  }
}

/** After a restart, enforced calls are lost. Advised calls can still be reported. */
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
