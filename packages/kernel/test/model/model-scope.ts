// The scope of a session in the model: effect classes, tools and time. Sinks and `looked_up` need a parser and a scanner; separate
// vectors and tests cover them.

import type { EffectClass } from '@tollgate/evidence'
import { matches } from './model-glob.ts'
import { ask, type StepResult } from './model-results.ts'
import type { State } from './model.ts'

/** The scope of a session. */
export interface ModelScope {
  readonly effects: readonly EffectClass[] | undefined
  readonly tools: readonly string[] | undefined
  readonly until: number | undefined
  /** The tools that people added. */
  readonly also: readonly string[]
}

/** Escalates calls outside the scope. */
export function askScope(state: State): StepResult | undefined {
  const { policy, session, call, effect, acts, time } = state
  if (!acts && !goesOut(state)) return undefined
  const { scope } = session
  if (!scope) return policy.scoped ? ask('TASK_SCOPE_EXCEEDED', 'none') : undefined
  const { effects, tools, until, also } = scope
  if (until !== undefined && time > until) return ask('TASK_SCOPE_EXCEEDED', 'until')
  const wrong = [
    ...(effects === undefined || effects.includes(effect) ? [] : ['effect']),
    ...(tools === undefined || !acts || tools.some((tool) => matches(tool, call.tool)) ? [] : ['tool']),
  ]
  if (wrong.length === 0 || also.includes(call.tool)) return undefined
  return ask('TASK_SCOPE_EXCEEDED', wrong.join(' '))
}

/** Whether a read contacts a destination. An address in a text does not count. */
function goesOut({ call, tool }: State): boolean {
  return call.pages.length > 0 || (call.hosts.length > 0 && tool?.offline === false)
}

/** Whether one scope allows nothing that the other does not. */
export function isNarrower(next: ModelScope, before: ModelScope): boolean {
  const fewer = <T>(
    one: readonly T[] | undefined,
    all: readonly T[] | undefined,
    has: (a: T, b: T) => boolean,
  ): boolean => !all || one?.every((each) => all.some((other) => has(each, other))) === true
  const sooner = before.until === undefined || (next.until !== undefined && next.until <= before.until)
  const same = (a: string, b: string): boolean => a === b
  return (
    sooner &&
    fewer(next.effects, before.effects, same) &&
    fewer(next.tools, before.tools, (tool, pattern) => matches(pattern, tool))
  )
}

/** Whether two scopes are equal, apart from additions. */
export function isSame(a: ModelScope, b: ModelScope): boolean {
  const text = ({ effects, tools, until }: ModelScope): string =>
    JSON.stringify([effects && [...effects].sort(), tools && [...tools].sort(), until ?? null])
  return text(a) === text(b)
}
