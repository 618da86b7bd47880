// Reads TOML into a tree with positions, as far as `config.toml` of Codex needs it. Everything that it cannot read for certain is
// refused, so that no edit is a guess.

import { UnreadableFile, type Node, type Table } from './tree.ts'

/** Reads a file. @throws UnreadableFile. */
export function readTomlTree(text: string): Node {
  return new TomlReader(text).whole()
}

interface Growing {
  readonly kind: 'table'
  readonly start: number
  readonly end: number
  readonly members: { key: string; at: number; value: Node }[]
}

const MAX_DEPTH = 100
const BARE = /[A-Za-z0-9_-]+/y
const SCALAR = /[A-Za-z0-9_+.:-]+(?: \d[\d:.]+(?:Z|[+-][\d:]+)?)?/y

class TomlReader {
  readonly #text: string
  readonly #root: Growing
  #table: Growing
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
    this.#root = { kind: 'table', start: 0, end: text.length, members: [] }
    this.#table = this.#root
  }

  whole(): Table {
    while (this.#hasMore()) {
      if (this.#text.charAt(this.#at) === '[') this.#header()
      else this.#member(this.#table, 0)
      this.#endOfLine()
    }
    return this.#root
  }

  #fail(why: string): UnreadableFile {
    return new UnreadableFile(this.#text, this.#at, why)
  }

  /** Skips blanks, and with `lines` also comments and line ends. */
  #skip(lines: boolean): void {
    const skipped = lines ? /(?:[ \t\r\n]|#[^\n]*)*/y : /[ \t]*/y
    skipped.lastIndex = this.#at
    skipped.test(this.#text)
    this.#at = skipped.lastIndex
  }

  #hasMore(): boolean {
    this.#skip(true)
    return this.#at < this.#text.length
  }

  #closes(sign: string): boolean {
    this.#skip(true)
    return this.#takes(sign)
  }

  #endOfLine(): void {
    const end = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y
    end.lastIndex = this.#at
    if (!end.test(this.#text)) throw this.#fail('expected the end of the line')
    this.#at = end.lastIndex
  }

  #takes(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false
    this.#at += sign.length
    return true
  }

  #header(): void {
    const start = this.#at
    const isList = this.#takes('[[')
    if (!isList) this.#at++
    const keys = this.#keys()
    if (!this.#takes(isList ? ']]' : ']')) throw this.#fail('expected `]`')
    // The tables of a list are read, but not found by their names.
    this.#table = isList ? growing(start) : this.#below(this.#root, keys, start)
  }

  #keys(): readonly string[] {
    const keys: string[] = []
    do {
      this.#skip(false)
      keys.push(this.#key())
      this.#skip(false)
    } while (this.#takes('.'))
    return keys
  }

  #key(): string {
    const sign = this.#text.charAt(this.#at)
    if (sign === '"' || sign === "'") return this.#string().value
    BARE.lastIndex = this.#at
    const [word] = BARE.exec(this.#text) ?? []
    if (word === undefined) throw this.#fail('expected a key')
    this.#at += word.length
    return word
  }

  #below(from: Growing, keys: readonly string[], at: number): Growing {
    return keys.reduce((table, key) => {
      const known = table.members.find((each) => each.key === key)?.value
      if (known === undefined) {
        const value = growing(at)
        table.members.push({ key, at, value })
        return value
      }
      if (known.kind !== 'table') throw this.#fail('a key has two values')
      // Sound: every table here was made by `growing`.
      return known as Growing
    }, from)
  }

  #member(table: Growing, depth: number): void {
    const at = this.#at
    const keys = this.#keys()
    if (!this.#takes('=')) throw this.#fail('expected `=`')
    this.#skip(false)
    const value = this.#value(depth)
    const holder = this.#below(table, keys.slice(0, -1), at)
    const key = keys.at(-1) ?? ''
    if (holder.members.some((each) => each.key === key)) throw this.#fail('a key has two values')
    holder.members.push({ key, at, value })
  }

  #value(depth: number): Node {
    if (depth > MAX_DEPTH) throw this.#fail('too many levels')
    const start = this.#at
    const sign = this.#text.charAt(start)
    if (sign === '"' || sign === "'") return this.#anyString()
    if (sign === '[') return this.#list(depth)
    if (sign === '{') return this.#inline(depth)
    SCALAR.lastIndex = start
    const [word] = SCALAR.exec(this.#text) ?? []
    if (word === undefined) throw this.#fail('expected a value')
    this.#at += word.length
    const value = word === 'true' ? true : word === 'false' ? false : undefined
    return { kind: 'other', start, end: this.#at, value }
  }

  #list(depth: number): Node {
    const start = this.#at++
    const items: Node[] = []
    while (!this.#closes(']')) {
      items.push(this.#value(depth + 1))
      this.#skip(true)
      if (!this.#takes(',') && this.#text.charAt(this.#at) !== ']') throw this.#fail('expected `,` or `]`')
    }
    return { kind: 'list', start, end: this.#at, items }
  }

  #inline(depth: number): Node {
    const start = this.#at++
    const table = growing(start)
    while (!this.#closes('}')) {
      this.#member(table, depth + 1)
      this.#skip(true)
      if (!this.#takes(',') && this.#text.charAt(this.#at) !== '}') throw this.#fail('expected `,` or `}`')
    }
    return { ...table, end: this.#at }
  }

  #anyString(): Node {
    const fence = this.#text.slice(this.#at, this.#at + 3)
    if (fence !== '"""' && fence !== "'''") return this.#string()
    const start = this.#at
    let end = start + 3
    while (end < this.#text.length && !this.#text.startsWith(fence, end)) {
      end += fence === '"""' && this.#text.charAt(end) === '\\' ? 2 : 1
    }
    if (end >= this.#text.length) throw this.#fail('a string does not end')
    end += 3
    // Up to two more quotation marks belong to the string.
    for (let i = 0; i < 2 && this.#text.charAt(end) === fence.charAt(0); i++) end++
    this.#at = end
    // Its value is not needed, and an entry with such a string is not edited.
    return { kind: 'other', start, end, value: undefined }
  }

  #string(): Node & { readonly kind: 'text' } {
    const start = this.#at
    const pattern = this.#text.charAt(start) === '"' ? /"(?:[^"\\\r\n]|\\[^\r\n])*"/y : /'[^'\r\n]*'/y
    pattern.lastIndex = start
    const [whole] = pattern.exec(this.#text) ?? []
    if (whole === undefined) throw this.#fail('a string does not end')
    this.#at += whole.length
    const value = whole.startsWith("'") ? whole.slice(1, -1) : this.#unescaped(whole.slice(1, -1))
    return { kind: 'text', start, end: this.#at, value }
  }

  #unescaped(text: string): string {
    return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g, (_, short, long, sign) => {
      const code = String(short ?? long ?? '')
      if (code !== '') return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
      const known = ESCAPES[String(sign)]
      if (known === undefined) throw this.#fail('a string has an unknown escape')
      return known
    })
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b' },
  ...{ '"': '"', '\\': '\\' },
}

function growing(at: number): Growing {
  return { kind: 'table', start: at, end: at, members: [] }
}
