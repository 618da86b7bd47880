// `&&`, `||`, `!`, `?:` and the loops. A failure on one side is ignored if the other side decides.

import { Failure } from './failure.ts'
import type { Code, Frame } from './frame.ts'
import { isList, isMap, keysOfMap, sizeOfMap, typeOf, type CelValue } from './value.ts'

const NOT_BOOL = new Failure('a part of the condition must be a bool and is not')

// Unwinding to the place that absorbs a failure takes longer than any other step.
const ABSORPTION = 50

/** Returns the bool result of the code, or its failure. */
function attempt(code: Code, frame: Frame): boolean | Failure {
  try {
    const value = code(frame)
    return typeof value === 'boolean' ? value : NOT_BOOL
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    frame.charge(ABSORPTION)
    return error
  }
}

/** Returns the value if it is a bool. @throws Failure for anything else. */
function demandBool(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw NOT_BOOL
  return value
}

/** Combines two sides of which each may decide: with `false` for `&&`, with `true` for `||`. */
function either(left: Code, right: Code, decisive: boolean): Code {
  return (frame) => {
    const first = attempt(left, frame)
    if (first === decisive) return decisive
    if (typeof first === 'boolean') return demandBool(right(frame))
    if (attempt(right, frame) === decisive) return decisive
    throw first
  }
}

/** Compiles `left && right`. */
export function and(left: Code, right: Code): Code {
  return either(left, right, false)
}

/** Compiles `left || right`. */
export function or(left: Code, right: Code): Code {
  return either(left, right, true)
}

/** Compiles `!operand`. */
export function not(operand: Code): Code {
  return (frame) => !demandBool(operand(frame))
}

/** Compiles `condition ? yes : no`. */
export function ternary(condition: Code, yes: Code, no: Code): Code {
  return (frame) => (demandBool(condition(frame)) ? yes(frame) : no(frame))
}

/** The range and costs of a loop. */
interface Loop {
  readonly range: Code
  /** The index of the loop variable in the frame. */
  readonly place: number
  /** Steps of one iteration. */
  readonly cost: number
}

/** Compiles `all` (false decides) and `exists` (true decides). A failing item is ignored if another one decides. */
export function quantifier({ range, place, cost }: Loop, body: Code, decisive: boolean): Code {
  return (frame) => {
    let failure: Failure | undefined
    for (const item of itemsOf(range(frame), frame)) {
      frame.charge(cost)
      frame.locals[place] = item
      const verdict = attempt(body, frame)
      if (verdict === decisive) return decisive
      if (verdict instanceof Failure) failure ??= verdict
    }
    if (failure) throw failure
    return !decisive
  }
}

/** Compiles `exists_one`. A failing item fails the whole. */
export function existsOne({ range, place, cost }: Loop, body: Code): Code {
  return (frame) => {
    let count = 0
    for (const item of itemsOf(range(frame), frame)) {
      frame.charge(cost)
      frame.locals[place] = item
      if (demandBool(body(frame))) count++
    }
    return count === 1
  }
}

/** Compiles `map` and `filter`: the result of `transform` for every item that `keep` accepts. */
export function collect({ range, place, cost }: Loop, keep: Code, transform: Code): Code {
  return (frame) => {
    const kept: CelValue[] = []
    for (const item of itemsOf(range(frame), frame)) {
      frame.charge(cost)
      frame.locals[place] = item
      if (demandBool(keep(frame))) kept.push(transform(frame))
    }
    return kept
  }
}

/** Returns the items of a list, or the keys of a map in a fixed order. */
function itemsOf(range: CelValue, frame: Frame): readonly CelValue[] {
  if (isList(range)) return range
  if (!isMap(range)) throw new Failure(`a loop needs a list or a map, not \`${typeOf(range)}\``)
  frame.charge(8 * sizeOfMap(range))
  return keysOfMap(range)
}
