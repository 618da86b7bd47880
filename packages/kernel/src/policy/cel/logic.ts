// `&&`, `||`, `!`, `?:` and the loops. A failure on one side does not matter when the other side decides.

import { Failure } from './failure.ts'
import type { Code, Frame } from './frame.ts'
import { isList, isMap, keysOfMap, sizeOfMap, typeOf, type CelValue } from './value.ts'

const NOT_BOOL = new Failure('a part that must be a bool is none')

// Unwinding to the place that absorbs a failure takes longer than any other single step.
const ABSORPTION = 50

/** The bool that the code gives, or the failure it ends in. */
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

/** The value, if it is a bool. @throws Failure for anything else. */
function demandBool(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw NOT_BOOL
  return value
}

/** Both sides may decide, whatever the other one does: `false` for `&&`, `true` for `||`. */
function either(left: Code, right: Code, decisive: boolean): Code {
  return (frame) => {
    const first = attempt(left, frame)
    if (first === decisive) return decisive
    if (typeof first === 'boolean') return demandBool(right(frame))
    if (attempt(right, frame) === decisive) return decisive
    throw first
  }
}

/** `left && right`. */
export function and(left: Code, right: Code): Code {
  return either(left, right, false)
}

/** `left || right`. */
export function or(left: Code, right: Code): Code {
  return either(left, right, true)
}

/** `!operand`. */
export function not(operand: Code): Code {
  return (frame) => !demandBool(operand(frame))
}

/** `condition ? yes : no`. */
export function ternary(condition: Code, yes: Code, no: Code): Code {
  return (frame) => (demandBool(condition(frame)) ? yes(frame) : no(frame))
}

/** What a loop runs over and with. */
interface Loop {
  readonly range: Code
  /** Where the frame has the loop variable. */
  readonly place: number
  /** Steps of one turn. */
  readonly cost: number
}

/** `all` (false decides) and `exists` (true decides): a failing item does not matter if another one decides. */
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

/** `exists_one`: a failing item fails the whole. */
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

/** `map` and `filter`: what `transform` makes of every item that `keep` holds for. */
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

/** The items of a list, or the keys of a map in an order that does not depend on how it was written down. */
function itemsOf(range: CelValue, frame: Frame): readonly CelValue[] {
  if (isList(range)) return range
  if (!isMap(range)) throw new Failure(`a loop runs over a list or a map, not over \`${typeOf(range)}\``)
  frame.charge(8 * sizeOfMap(range))
  return keysOfMap(range)
}
