// The scope of a session, in the model: classes of effects, tools, a time. What values a call acts on takes a parser, and
// what was looked up a scanner: both are shown by vectors and tests of their own.

import type { EffectClass } from '@tollgate/evidence'
import { matches } from './model-glob.ts'
import { ask, type Word } from './model-risk-terms.ts'
import type { Scene } from './model.ts'

/** What a session was opened for. */
export interface ModelScope {
  readonly effects: readonly EffectClass[] | undefined
  readonly tools: readonly string[] | undefined
  readonly until: number | undefined
  /** Tools that people have added. */
  readonly also: readonly string[]
}

/** Asks about what is outside. */
export function askScope(scene: Scene): Word | undefined {
  const { policy, session, call, effect, acts, time } = scene
  if (!acts && !goesOut(scene)) return undefined
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

/** Whether a read asks a stranger for something. An address in some text is only mentioned. */
function goesOut({ call, tool }: Scene): boolean {
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

/** Whether both were given as the same. */
export function isSame(a: ModelScope, b: ModelScope): boolean {
  const text = ({ effects, tools, until }: ModelScope): string =>
    JSON.stringify([effects && [...effects].sort(), tools && [...tools].sort(), until ?? null])
  return text(a) === text(b)
}
