// A clue: one test of a condition on one part of a call.

import type { Json } from '@tollgate/evidence'
import { Frame } from '../../policy/cel/frame.ts'
import { parsePattern } from '../../policy/cel/regex.ts'
import { parseWithin, type WithinKind } from '../../policy/cel/within.ts'
import type { Constant } from './clue-terms.ts'

/** The kinds of tests. `same` compares two parts of a call; its value is the path of the other. */
export type ClueTest =
  | 'is'
  | 'among'
  | 'starts'
  | 'ends'
  | 'contains'
  | 'matches'
  | 'within path'
  | 'within host'
  | 'within url'
  | 'below'
  | 'up to'
  | 'present'
  | 'type'
  | 'same'

/** One test of a condition on one part of a call. */
export interface Clue {
  /** A variable of conditions, then names of members; `[]` for an item, `#` for the size, `getHours` and the like for times. */
  readonly path: readonly string[]
  readonly test: ClueTest
  readonly value: Constant
  /** The wanted result of the test; undefined if its effect is unknown. */
  readonly holds: boolean | undefined
  /** Returns whether a value gives the wanted result. Undefined means a missing value. */
  fits(value: Json | undefined): boolean
}

/** Returns a clue that must be true. */
export function clueOf(path: readonly string[], test: ClueTest, value: Constant): Clue {
  return { path, test, value, holds: true, fits }
}

/** Returns the clue with the opposite result. */
export function negated(clue: Clue): Clue {
  return { ...clue, holds: clue.holds === undefined ? undefined : !clue.holds }
}

function fits(this: Clue, value: Json | undefined): boolean {
  if (this.holds === undefined || this.test === 'same') return true
  if (this.test === 'present') return (value !== undefined) === this.holds
  // A missing value or another type makes the condition fail, which is neither.
  const answer = value === undefined ? undefined : ask(this.test, this.value, value)
  return answer === this.holds
}

function ask(test: ClueTest, wanted: Constant, value: Json): boolean | undefined {
  if (test === 'is') return isSame(wanted, value)
  if (test === 'among') return Array.isArray(wanted) && wanted.some((each: Constant) => isSame(each, value))
  if (test === 'type') return typeOf(value) === wanted
  if (test === 'below' || test === 'up to') return compare(test, wanted, value)
  return typeof wanted === 'string' && typeof value === 'string' ? askText(test, wanted, value) : undefined
}

function isSame(wanted: Constant, value: Json): boolean {
  return typeof wanted === 'object' ? JSON.stringify(wanted) === JSON.stringify(value) : wanted === value
}

function typeOf(value: Json): string {
  if (value === null) return 'null_type'
  if (Array.isArray(value)) return 'list'
  return { string: 'string', number: 'double', boolean: 'bool', object: 'map' }[typeof value as string] ?? ''
}

function compare(test: ClueTest, wanted: Constant, value: Json): boolean | undefined {
  const isPair =
    (typeof wanted === 'number' && typeof value === 'number') ||
    (typeof wanted === 'string' && typeof value === 'string')
  if (!isPair) return undefined
  return test === 'below' ? value < wanted : value <= wanted
}

function askText(test: ClueTest, wanted: string, value: string): boolean | undefined {
  if (test === 'starts') return value.startsWith(wanted)
  if (test === 'ends') return value.endsWith(wanted)
  if (test === 'contains') return value.includes(wanted)
  if (test === 'within path') return askWithin('path', wanted, value)
  if (test === 'within host') return askWithin('host', wanted, value)
  if (test === 'within url') return askWithin('url', wanted, value)
  return test === 'matches' ? askPattern(wanted, value) : undefined
}

function askWithin(kind: WithinKind, base: string, value: string): boolean | undefined {
  const test = parseWithin(kind, base)
  return typeof test === 'string' ? undefined : test(value)
}

// A cache, because the same few patterns are tested many times.
const MAX_KEPT = 64
const kept = new Map<string, ReturnType<typeof parsePattern>>()

function askPattern(source: string, text: string): boolean | undefined {
  let pattern = kept.get(source)
  if (pattern === undefined) {
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(source, (pattern = parsePattern(source)))
  }
  if (typeof pattern === 'string') return undefined
  try {
    return pattern.test(text, new Frame({}))
  } catch {
    // More work than the budget of a condition allows.
    return undefined
  }
}
