// Translates ECMAScript patterns of a schema to RE2, which matches in linear time.

import { RE2JS } from 're2js'

/** A usable pattern. */
export interface SchemaPattern {
  /** Returns whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** The program size. The time of a test grows with it and with the length of the text. */
  readonly size: number
  /** The cost of compiling the pattern. */
  readonly cost: number
}

const MAX_LENGTH = 1000
const MAX_SIZE = 2500
// A Unicode class is one step, but compiles as slowly as this many.
const CLASS_COST = 25

/** Compiles a pattern, or returns why it cannot be used. Stops before a pattern grows too large. */
export function compilePattern(source: string): SchemaPattern | { readonly problem: string } {
  if (source.length > MAX_LENGTH) return { problem: `is longer than ${MAX_LENGTH} characters` }
  const { text, size, classes, problem } = new Translator(source).translate()
  if (problem !== undefined) return { problem }
  if (size > MAX_SIZE) return { problem: `repeats too much (more than ${MAX_SIZE} steps when expanded)` }
  try {
    const compiled = RE2JS.compile(text)
    const steps = compiled.programSize()
    return { test: (input) => compiled.test(input), size: steps, cost: steps + CLASS_COST * classes }
  } catch {
    // The message of the library would quote the pattern.
    return { problem: 'is not a regular expression that can be matched in linear time' }
  }
}

// The meaning of `\s` and `\S` in ECMAScript. In RE2 they cover ASCII only.
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'
const ANY = '\\x{0}-\\x{10ffff}'
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['Letter', 'L'],
  ['Uppercase_Letter', 'Lu'],
  ['Lowercase_Letter', 'Ll'],
  ['Mark', 'M'],
  ['Number', 'N'],
  ['Decimal_Number', 'Nd'],
  ['Punctuation', 'P'],
  ['Symbol', 'S'],
  ['Separator', 'Z'],
])

/**
 * Translates an ECMAScript pattern (flag `u`, lenient) to the same pattern for RE2. `\d`, `\w` and `\b` are ASCII in both. `\s`
 * and `.` differ, so they are written out. Refuses features that RE2 lacks (lookaround, back references) and syntax of other
 * languages (`\A`, `\Z`, `(?i)`).
 */
class Translator {
  readonly #source: string
  #at = 0
  #text = ''
  #problem: string | undefined
  // The expanded sizes of the open groups, of the current group and of the last atom.
  readonly #outer: number[] = []
  #size = 0
  #atom = 0
  #classes = 0

  constructor(source: string) {
    this.#source = source
  }

  translate(): { text: string; size: number; classes: number; problem: string | undefined } {
    while (this.#at < this.#source.length && this.#problem === undefined) this.#next()
    return { text: this.#text, size: this.#size, classes: this.#classes, problem: this.#problem }
  }

  #next(): void {
    const char = this.#source.charAt(this.#at)
    if (char === '\\') return this.#put(this.#escape(false))
    if (char === '[') return this.#put(this.#class())
    if (char === '(') return this.#open()
    if (char === ')') return this.#close()
    const repetition = this.#take(/\{(\d+)(?:,(\d*))?\}/y)
    if (repetition) return this.#repeat(repetition)
    this.#at++
    this.#put(char === '.' ? '[^\\n\\r\\x{2028}\\x{2029}]' : char)
  }

  #put(text: string): void {
    this.#text += text
    this.#atom = 1
    this.#size++
  }

  #open(): void {
    if (this.#take(/\(\?<?[=!]/y)) return this.#refuse('uses lookaround, which needs more than linear time')
    if (!this.#take(/\((?:\?:|\?<[\p{L}$_][\p{L}\p{N}$_]*>|(?!\?))/uy)) {
      return this.#refuse('has a group that ECMAScript does not support')
    }
    this.#text += '(?:'
    this.#outer.push(this.#size)
    this.#size = 0
  }

  #close(): void {
    this.#at++
    this.#text += ')'
    this.#atom = this.#size + 1
    this.#size = (this.#outer.pop() ?? 0) + this.#atom
  }

  #repeat([text, least = '', most]: RegExpExecArray): void {
    this.#text += text
    const times = Math.max(1, Number(least), Number(most ?? 0))
    this.#size += this.#atom * (times - 1)
    this.#atom *= times
  }

  #class(): string {
    this.#at++
    const negated = this.#take(/\^/y) !== null
    let inside = ''
    while (this.#at < this.#source.length) {
      const char = this.#source.charAt(this.#at)
      if (char === ']') {
        this.#at++
        // An empty class matches nothing, or anything if negated. RE2 would take the bracket as a member.
        if (inside === '') return negated ? `[${ANY}]` : `[^${ANY}]`
        return `[${negated ? '^' : ''}${inside}]`
      }
      // An opening bracket is a literal here. In RE2, `[:` would begin a POSIX class.
      inside += char === '\\' ? this.#escape(true) : char === '[' ? '\\[' : char
      if (char !== '\\') this.#at++
    }
    this.#refuse('has an unclosed class')
    return ''
  }

  #escape(inClass: boolean): string {
    this.#at++
    const unicode = this.#take(/u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})/y)
    if (unicode) return this.#codePoint(unicode)
    const property = this.#take(/([pP])\{(?:Script=|sc=|General_Category=|gc=)?(\w+)\}/y)
    if (property) return this.#property(property)
    const control = this.#take(/c([a-zA-Z])/y)
    if (control) return hex((control[1] ?? '').charCodeAt(0) % 32)
    if (this.#take(/0(?!\d)/y)) return '\\x{0}'
    return this.#letter(this.#source.charAt(this.#at++), inClass)
  }

  #property([, letter = '', name = '']: RegExpExecArray): string {
    this.#classes++
    return `\\${letter}{${CATEGORIES.get(name) ?? name}}`
  }

  #letter(letter: string, inClass: boolean): string {
    if (letter === 's') return inClass ? SPACE : `[${SPACE}]`
    if (letter === 'S') return inClass ? NO_SPACE : `[${NO_SPACE}]`
    if (letter === 'b' && inClass) return '\\x{8}'
    if (/[dDwWtnvfr]/.test(letter) || (!inClass && /[bB]/.test(letter))) return `\\${letter}`
    if (/[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/.test(letter)) return `\\${letter}`
    if (/[1-9k]/.test(letter)) this.#refuse('uses a back reference, which needs more than linear time')
    else this.#refuse(`has an escape that ECMAScript does not support`)
    return ''
  }

  #codePoint([, braced, four, two]: RegExpExecArray): string {
    const code = Number.parseInt(braced ?? four ?? two ?? '', 16)
    const low = isHighSurrogate(code) ? this.#take(/\\u([dD][c-fC-F][0-9a-fA-F]{2})/y) : null
    if (low) return hex(0x10000 + (code - 0xd800) * 0x400 + (Number.parseInt(low[1] ?? '', 16) - 0xdc00))
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      this.#refuse('has an escape that is not a character')
    return hex(code)
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    this.#at += found?.[0].length ?? 0
    return found
  }

  #refuse(problem: string): void {
    this.#problem ??= problem
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`
}
