// Whether a call is inside of its session's scope.

import { glob, type Glob } from '../../policy/glob.ts'
import type { Intent } from '../../road/capture.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { valuesIn } from '../../text/values.ts'
import { notLookedUp, type LookingUp } from './looked-up.ts'
import { MOST_WIDENINGS, type HeldScope, type Scope, type Widening } from './scope.ts'
import { isActing, sinksOf, spelt, type Acting, type Sink } from './sinks.ts'

/** What a call is held against a scope by. */
type Held = Acting & LookingUp & Pick<Snapshot, 'time'>
/** The call itself, as far as a scope is about it. */
type ScopedCall = Pick<Intent, 'tool' | 'args'>
/** A scope, with what people have added to it. */
type OwnScope = Scope & Pick<HeldScope, 'also'>

/** What of a call is outside. */
interface Excess {
  readonly parts: readonly ('until' | 'effect' | 'tool' | 'sink')[]
  /** Path of the first sink that is outside. */
  readonly at: string | undefined
}

/** What of a call is outside of a scope; undefined if it is inside, as every call without a side effect is. */
export function excessOf(scope: OwnScope, call: ScopedCall, held: Held): Excess | undefined {
  if (!isActing(held)) return undefined
  if (scope.until !== undefined && held.time > Date.parse(scope.until))
    return { parts: ['until'], at: undefined }
  const [effect, tool] = [allowsEffect(scope, held), allowsTool(scope, call, held)]
  const unnamed = unnamedIn(scope, call, held)
  // A tool that a person has added was added with what it may act on, and with nothing else.
  const looksUp = scope.looked_up === true && effect && tool
  const outside = looksUp ? notLookedUp(unnamed, held) : unnamed
  const parts: Excess['parts'] = [
    ...(effect ? [] : (['effect'] as const)),
    ...(tool ? [] : (['tool'] as const)),
    ...(outside.length === 0 ? [] : (['sink'] as const)),
  ]
  if (parts.length === 0 || isAdded(scope, call.tool, outside)) return undefined
  return { parts, at: outside[0]?.path }
}

/** Whether a call is inside of a scope. */
export function isInside(scope: OwnScope, call: ScopedCall, held: Held): boolean {
  return excessOf(scope, call, held) === undefined
}

/** The scope with a call added to it; the very same if no more can be added. */
function widened(scope: HeldScope, call: ScopedCall, held: Held): HeldScope {
  const { also = [] } = scope
  if (also.length >= MOST_WIDENINGS) return scope
  const sinks = [...new Set(unnamedIn(scope, call, held).map(({ names }) => names[0] ?? ''))].sort()
  return { ...scope, also: [...also, { tool: call.tool, sinks }] }
}

/** What a call acts on that the scope does not name. */
function unnamedIn(scope: Scope, { args }: ScopedCall, held: Held): readonly Sink[] {
  const { sinks } = compiled(scope)
  return sinks ? sinksOf(args, held).filter((sink) => !sinks.has(sink)) : []
}

/** A read that asks a stranger is no effect of its own: where it may go is said by the sinks, unless these are not limited. */
function allowsEffect({ effects, sinks }: Scope, { effect, sideEffect }: Held): boolean {
  if (effects === undefined || effects.includes(effect)) return true
  return !sideEffect && sinks !== undefined
}

function allowsTool(scope: Scope, { tool }: ScopedCall, { sideEffect }: Held): boolean {
  const { tools } = compiled(scope)
  return tools === undefined || !sideEffect || tools.some((pattern) => pattern.matches(tool))
}

/** Whether a person has added this tool, with every sink that the scope itself does not have. */
function isAdded({ also = [] }: OwnScope, tool: string, outside: readonly Sink[]): boolean {
  const has = ({ sinks }: Widening, { names: [name = ''] }: Sink): boolean => sinks.includes(name)
  return also.some((added) => added.tool === tool && outside.every((sink) => has(added, sink)))
}

interface Compiled {
  readonly tools: readonly Glob[] | undefined
  readonly sinks: SinkSet | undefined
}

const known = new WeakMap<Scope, Compiled>()

function compiled(scope: Scope): Compiled {
  let own = known.get(scope)
  if (!own) {
    own = { tools: scope.tools?.map(glob), sinks: scope.sinks && new SinkSet(scope.sinks) }
    known.set(scope, own)
  }
  return own
}

/** Sinks that are allowed: most by their name, some by a pattern. */
class SinkSet {
  readonly #names = new Set<string>()
  readonly #patterns: Glob[] = []

  constructor(sinks: readonly string[]) {
    for (const sink of sinks) {
      if (sink.includes('*')) this.#patterns.push(glob(spelt(sink)))
      else for (const name of namesOf(sink)) this.#names.add(name)
    }
  }

  has({ names }: Sink): boolean {
    return names.some((name) => this.#names.has(name) || this.#patterns.some((each) => each.matches(name)))
  }
}

/** How a sink may be spelt: as it is, and as the value that it is. */
function namesOf(sink: string): readonly string[] {
  const [value] = valuesIn(sink)
  const isWhole = value?.start === 0 && value.end === sink.length
  return isWhole ? [spelt(sink), spelt(value.text)] : [spelt(sink)]
}

/** Whether a scope allows nothing that another one does not. Where that cannot be told from the patterns, it does not hold. */
export function isNarrower(next: Scope, before: Scope): boolean {
  return (
    isSubset(next.effects, before.effects, (effect, all) => all.includes(effect)) &&
    isSubset(next.tools, before.tools, (tool, all) => all.some((each) => glob(each).matches(tool))) &&
    isSubset(next.sinks, before.sinks, isAmong) &&
    (next.looked_up === undefined || before.looked_up === true || before.sinks === undefined) &&
    (before.until === undefined || (next.until !== undefined && next.until <= before.until))
  )
}

/** A pattern that another one matches as it is written allows nothing that the other does not. */
function isAmong(sink: string, all: readonly string[]): boolean {
  return all.some((each) => each === sink || glob(spelt(each)).matches(spelt(sink)))
}

function isSubset<T>(
  next: readonly T[] | undefined,
  before: readonly T[] | undefined,
  has: (each: T, all: readonly T[]) => boolean,
): boolean {
  if (before === undefined) return true
  return next?.every((each) => has(each, before)) ?? false
}

/** The scope once a person has widened it by this call; undefined if nobody has. */
export function widenedBy({ uses }: Settled, intent: Intent, snapshot: Snapshot): HeldScope | undefined {
  if (uses?.answer?.widen !== true) return undefined
  const { scope } = snapshot.session
  return scope ? widened(scope, intent, snapshot) : undefined
}
