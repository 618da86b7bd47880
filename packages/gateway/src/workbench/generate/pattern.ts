// Generates texts that match a regular expression from its structure. Unsupported syntax gives no texts. Callers check every
// text with the real matcher.

type PatternPart =
  | { readonly kind: 'text'; readonly options: readonly string[] }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'repeat'; readonly part: PatternPart; readonly counts: readonly number[] }

const MAX_TEXTS = 24
const MAX_LENGTH = 4096
const MAX_DEPTH = 40
const MAX_COUNT = 64

/** Some texts that probably match, simplest first; none for unsupported patterns. */
export function textsOf(pattern: string): readonly string[] {
  const part = new PatternReader(pattern).whole()
  if (!part) return []
  const sizes: number[] = []
  const texts = [write(part, (options) => (sizes.push(options), 0))]
  for (const [point, size] of sizes.entries()) {
    for (let option = 1; option < size && texts.length < MAX_TEXTS; option++) {
      let at = 0
      texts.push(write(part, () => (at++ === point ? option : 0)))
    }
  }
  return [...new Set(texts.filter((text) => text.length <= MAX_LENGTH))]
}

/** Texts for every branch of a pattern, including nested ones; at most `most`. */
export function branchesOf(pattern: string, most: number): readonly string[] {
  const part = new PatternReader(pattern).whole()
  return part ? [...new Set(variants(part, most))].filter((text) => text.length <= MAX_LENGTH) : []
}

function variants(part: PatternPart, most: number): readonly string[] {
  switch (part.kind) {
    case 'text':
      return part.options.slice(0, most)
    case 'choice':
      return part.parts.flatMap((each) => variants(each, most)).slice(0, most)
    case 'sequence':
      return sequences(
        part.parts.map((each) => variants(each, most)),
        most,
      )
    case 'repeat': {
      const once = variants(part.part, most)
      const [first = ''] = once
      const counted = part.counts.map((count) =>
        first.repeat(Math.min(count, Math.ceil(MAX_LENGTH / (first.length + 1)))),
      )
      return [...counted, ...(part.counts.some((count) => count > 0) ? once : [])].slice(0, most)
    }
  }
}

/** The first variant of each part, then all variants of one part after the other. */
function sequences(parts: readonly (readonly string[])[], most: number): readonly string[] {
  const firsts = parts.map(([first = '']) => first)
  const texts = [firsts.join('')]
  for (const [i, forms] of parts.entries()) {
    const [before, after] = [firsts.slice(0, i).join(''), firsts.slice(i + 1).join('')]
    for (const form of forms.slice(1)) {
      if (texts.length >= most || before.length + form.length + after.length > MAX_LENGTH) break
      texts.push(before + form + after)
    }
  }
  return texts
}

/** Writes one text. `pick` chooses among the options of each part. */
function write(part: PatternPart, pick: (options: number) => number): string {
  const chosen = <T>(options: readonly T[]): T | undefined =>
    options.length > 1 ? (options[pick(options.length)] ?? options[0]) : options[0]
  switch (part.kind) {
    case 'text':
      return chosen(part.options) ?? ''
    case 'choice': {
      const one = chosen(part.parts)
      return one ? write(one, pick) : ''
    }
    case 'sequence': {
      let text = ''
      for (const each of part.parts) if (text.length <= MAX_LENGTH) text += write(each, pick)
      return text
    }
    case 'repeat': {
      const once = write(part.part, pick)
      return once.repeat(Math.min(chosen(part.counts) ?? 0, Math.ceil(MAX_LENGTH / (once.length + 1))))
    }
  }
}

const PROBES = 'a0Z_ -./x9A@:\\\n'
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  d: ['0', '9'],
  w: ['a', 'Z', '0', '_'],
  s: [' ', '\t'],
  D: ['a', '-'],
  W: ['-', ' ', '/'],
  S: ['a', '0', '.'],
}
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', a: '\u0007' }
const EMPTY: PatternPart = { kind: 'text', options: [''] }

class PatternReader {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): PatternPart | undefined {
    const part = this.#alternatives()
    return this.#at === this.#source.length ? part : undefined
  }

  #alternatives(): PatternPart | undefined {
    if (++this.#depth > MAX_DEPTH) return undefined
    const parts: PatternPart[] = []
    do {
      const part = this.#sequence()
      if (!part) return undefined
      parts.push(part)
    } while (this.#took('|'))
    this.#depth--
    return { kind: 'choice', parts }
  }

  #sequence(): PatternPart | undefined {
    const parts: PatternPart[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#next())) {
      const part = this.#atom()
      const repeated = part && this.#repeated(part)
      if (!repeated) return undefined
      parts.push(repeated)
    }
    return { kind: 'sequence', parts }
  }

  #atom(): PatternPart | undefined {
    const sign = this.#take()
    if (sign === '^' || sign === '$') return EMPTY
    if (sign === '.') return { kind: 'text', options: ['a', '/', ' '] }
    if (sign === '(') return this.#group()
    if (sign === '[') return this.#set()
    if (sign === '\\') return this.#escape()
    return '*+?'.includes(sign) ? undefined : { kind: 'text', options: [sign] }
  }

  #group(): PatternPart | undefined {
    const flags = /^\?(?:P?<[A-Za-z_]\w{0,63}>|[a-zA-Z-]{0,8}:|[a-zA-Z-]{1,8}(?=\)))/.exec(this.#rest(80))
    if (this.#next() === '?' && !flags) return undefined
    this.#at += flags?.[0].length ?? 0
    const part = this.#alternatives()
    return this.#took(')') ? part : undefined
  }

  #escape(): PatternPart | undefined {
    const sign = this.#take()
    const options = CLASSES[sign]
    if (options) return { kind: 'text', options }
    if (sign === 'b' || sign === 'B' || sign === 'A' || sign === 'z') return EMPTY
    const [hex, wide, narrow] = /^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))/.exec(this.#rest(10)) ?? []
    if (sign === 'x' && hex !== undefined) {
      this.#at += hex.length
      return { kind: 'text', options: [pointOf(parseInt(wide ?? narrow ?? '', 16))] }
    }
    if (/[A-Za-z0-9]/.test(sign) && ESCAPES[sign] === undefined) return undefined
    return { kind: 'text', options: [ESCAPES[sign] ?? sign] }
  }

  #set(): PatternPart | undefined {
    const isNegated = this.#took('^')
    const ranges: [string, string][] = []
    do {
      const from = this.#member()
      if (from === undefined) return undefined
      if (from.length > 1 || this.#next() !== '-' || this.#source[this.#at + 1] === ']') {
        ranges.push(...from.map((each): [string, string] => [each, each]))
        continue
      }
      this.#at++
      const to = this.#member()
      ranges.push([from[0] ?? '', to?.[0] ?? from[0] ?? ''])
    } while (this.#next() !== ']')
    this.#at++
    return { kind: 'text', options: isNegated ? outside(ranges) : ends(ranges) }
  }

  /** The characters of one set member; undefined at the end of the pattern. */
  #member(): readonly string[] | undefined {
    if (this.#at >= this.#source.length || this.#rest(2) === '[:') return undefined
    if (this.#next() !== '\\') return [this.#take()]
    this.#at++
    const part = this.#escape()
    return part?.kind === 'text' ? part.options : undefined
  }

  #repeated(part: PatternPart): PatternPart | undefined {
    const [sign, least, comma, most] = /^(?:[*+?]|\{(\d{1,4})(,?)(\d{0,4})\})/.exec(this.#rest(16)) ?? []
    if (sign === undefined) return part
    this.#at += sign.length
    this.#took('?')
    const from = sign === '+' ? 1 : Number(least ?? 0)
    const to =
      sign === '?' ? 1 : least !== undefined && comma === '' ? from : Number(most === '' ? NaN : most)
    return { kind: 'repeat', part, counts: countsOf(from, Number.isNaN(to) ? from + 3 : to) }
  }

  #next(): string {
    return this.#source[this.#at] ?? ''
  }

  #rest(most: number): string {
    return this.#source.slice(this.#at, this.#at + most)
  }

  /** Takes one code point. */
  #take(): string {
    const sign = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
    this.#at += sign.length
    return sign
  }

  #took(sign: string): boolean {
    if (this.#next() !== sign) return false
    this.#at++
    return true
  }
}

function pointOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

/** One repetition if permitted, then the minimum and the maximum. */
function countsOf(least: number, most: number): readonly number[] {
  const counts = [Math.max(least, Math.min(1, most)), least, least + 1, most]
  return [...new Set(counts.filter((count) => count >= least && count <= most && count <= MAX_COUNT))]
}

function ends(ranges: readonly (readonly [string, string])[]): readonly string[] {
  return [...new Set(ranges.flat())].slice(0, 12)
}

function outside(ranges: readonly (readonly [string, string])[]): readonly string[] {
  return Array.from(PROBES)
    .filter((probe) => !ranges.some(([from, to]) => from <= probe && probe <= to))
    .slice(0, 4)
}
