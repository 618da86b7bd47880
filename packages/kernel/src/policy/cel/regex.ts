// `matches` with RE2: matching takes time linear in the text for every pattern.

import { RE2JS, RE2JSException } from 're2js'
import { Failure } from './failure.ts'
import type { Frame } from './frame.ts'

const MAX_PATTERN_LENGTH = 1024
const MAX_INSTRUCTIONS = 2048
const MAX_CACHED = 16

/** A compiled regular expression. */
export interface Pattern {
  /** Returns whether the text contains a match. */
  test(text: string, frame: Frame): boolean
}

/** Returns the compiled pattern, or its problem as text. The problem may quote the source. */
export function parsePattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`
  try {
    const compiled = RE2JS.compile(source)
    const instructions = compiled.programSize()
    if (instructions > MAX_INSTRUCTIONS) return 'has too many repetitions'
    return { test: (text, frame) => matches(compiled, instructions, text, frame) }
  } catch (error) {
    const problem = error instanceof RE2JSException ? error.message : 'it cannot be compiled'
    return `is not accepted by RE2: ${problem.replace('error parsing regexp: ', '')}`
  }
}

function matches(compiled: RE2JS, instructions: number, text: string, frame: Frame): boolean {
  // The worst case of RE2 is every instruction on every character; small patterns stay far below it.
  frame.charge(Math.floor((text.length * Math.max(16, instructions)) / 256))
  return compiled.test(text)
}

const MAX_DYNAMIC_LENGTH = 256
const BROKEN = new Failure('a pattern is not accepted by RE2')
const TOO_COSTLY = new Failure(
  `a pattern computed at run time must not contain \`{\` or exceed ${MAX_DYNAMIC_LENGTH} characters`,
)

/**
 * Compiles patterns that are only known at run time, with a small cache. The charge is the same with and without the cache.
 *
 * Counted repetitions are not allowed: a few characters like `a{1000}` would take milliseconds to compile.
 */
export function createPatterns(): (source: string, frame: Frame) => Pattern {
  const kept = new Map<string, Pattern | string>()

  return (source, frame) => {
    if (source.length > MAX_DYNAMIC_LENGTH || source.includes('{')) throw TOO_COSTLY
    frame.charge(64 + 64 * source.length)
    let pattern = kept.get(source)
    if (pattern === undefined) {
      pattern = parsePattern(source)
      if (kept.size >= MAX_CACHED) kept.clear()
      kept.set(source, pattern)
    }
    if (typeof pattern === 'string') throw BROKEN
    return pattern
  }
}
