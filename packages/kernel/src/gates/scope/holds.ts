// Checks whether a call is inside the scope of its session.

import { glob, type Glob } from '../../policy/glob.ts'
import type { Intent } from '../../road/capture.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { valuesIn } from '../../text/values.ts'
import { notLookedUp, type LookingUp } from './looked-up.ts'
import { MAX_WIDENINGS, type HeldScope, type Scope, type Widening } from './scope.ts'
import { isActing, sinksOf, spelt, type Acting, type Sink } from './sinks.ts'

/** The facts of a call that are compared with a scope. */
type Held = Acting & LookingUp & Pick<Snapshot, 'time'>
/** The part of a call that a scope limits. */
type ScopedCall = Pick<Intent, 'tool' | 'args'>
/** A scope with the additions of people. */
type OwnScope = Scope & Pick<HeldScope, 'also'>

/** The parts of a call that are outside the scope. */
interface Excess {
  readonly parts: readonly ('until' | 'effect' | 'tool' | 'sink')[]
  /** The path of the first sink outside the scope. */
  readonly at: string | undefined
}

/** The parts of a call outside the scope; undefined if it is inside. Calls that act on nothing are always inside. */
export function excessOf(scope: OwnScope, call: ScopedCall, held: Held): Excess | undefined {
  if (!isActing(held)) return undefined
  if (scope.until !== undefined && held.time > Date.parse(scope.until))
    return { parts: ['until'], at: undefined }
  const [effect, tool] = [allowsEffect(scope, held), allowsTool(scope, call, held)]
  const unnamed = unnamedIn(scope, call, held)
  // A tool that a person added may act only on the sinks added with it.
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

/** Whether a call is inside a scope. */
export function isInside(scope: OwnScope, call: ScopedCall, held: Held): boolean {
  return excessOf(scope, call, held) === undefined
}

/** The scope with a call added to it; the same scope if no more can be added. */
function widened(scope: HeldScope, call: ScopedCall, held: Held): HeldScope {
  const { also = [] } = scope
  if (also.length >= MAX_WIDENINGS) return scope
  const sinks = [...new Set(unnamedIn(scope, call, held).map(({ names }) => names[0] ?? ''))].sort()
  return { ...scope, also: [...also, { tool: call.tool, sinks }] }
}

/** The sinks of a call that the scope does not name. */
function unnamedIn(scope: Scope, { args }: ScopedCall, held: Held): readonly Sink[] {
  const { sinks } = compiled(scope)
  return sinks ? sinksOf(args, held).filter((sink) => !sinks.has(sink)) : []
}

/** A read that contacts a destination needs no effect class if the scope limits the sinks: then the sinks decide. */
function allowsEffect({ effects, sinks }: Scope, { effect, sideEffect }: Held): boolean {
  if (effects === undefined || effects.includes(effect)) return true
  return !sideEffect && sinks !== undefined
}

function allowsTool(scope: Scope, { tool }: ScopedCall, { sideEffect }: Held): boolean {
  const { tools } = compiled(scope)
  return tools === undefined || !sideEffect || tools.some((pattern) => pattern.matches(tool))
}

/** Whether a person added this tool with every sink that is outside the scope. */
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

/** The allowed sinks, as names and patterns. */
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

/** The spellings of a sink: as written, and as the normal form of its value. */
function namesOf(sink: string): readonly string[] {
  const [value] = valuesIn(sink)
  const isWhole = value?.start === 0 && value.end === sink.length
  return isWhole ? [spelt(sink), spelt(value.text)] : [spelt(sink)]
}

/** Whether a scope allows nothing that another one does not. False if the patterns do not show it. */
export function isNarrower(next: Scope, before: Scope): boolean {
  return (
    isSubset(next.effects, before.effects, (effect, all) => all.includes(effect)) &&
    isSubset(next.tools, before.tools, (tool, all) => all.some((each) => glob(each).matches(tool))) &&
    isSubset(next.sinks, before.sinks, isAmong) &&
    (next.looked_up === undefined || before.looked_up === true || before.sinks === undefined) &&
    (before.until === undefined || (next.until !== undefined && next.until <= before.until))
  )
}

/** If one pattern matches the text of another, the other allows nothing more. */
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

/** The scope if a person widened it for this call; otherwise undefined. */
export function widenedBy({ uses }: Settled, intent: Intent, snapshot: Snapshot): HeldScope | undefined {
  if (uses?.answer?.widen !== true) return undefined
  const { scope } = snapshot.session
  return scope ? widened(scope, intent, snapshot) : undefined
}
