// Reads JSON with comments and trailing commas into a tree with positions. It accepts what the clients accept, and nothing else.

import { UnreadableFile, type Member, type Node, type Table } from './tree.ts'

const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const BLANK = /[ \t\r\n]+/y

/** Reads a file. A byte order mark at its start is skipped. @throws UnreadableFile. */
export function readJsonTree(text: string): Node {
  const reader = new JsonReader(text)
  return reader.whole()
}

class JsonReader {
  readonly #text: string
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
  }

  whole(): Node {
    const value = this.#value(0)
    this.#skip()
    if (this.#at < this.#text.length) throw this.#fail('text after the end of the JSON')
    return value
  }

  #fail(why: string): UnreadableFile {
    return new UnreadableFile(this.#text, this.#at, why)
  }

  /** Skips blanks and comments. */
  #skip(): void {
    for (;;) {
      BLANK.lastIndex = this.#at
      if (BLANK.test(this.#text)) this.#at = BLANK.lastIndex
      const end = this.#endOfComment()
      if (end === undefined) return
      this.#at = end
    }
  }

  #endOfComment(): number | undefined {
    const isLine = this.#text.startsWith('//', this.#at)
    if (!isLine && !this.#text.startsWith('/*', this.#at)) return undefined
    const end = this.#text.indexOf(isLine ? '\n' : '*/', this.#at + 2)
    if (end === -1 && !isLine) throw this.#fail('a comment does not end')
    return end === -1 ? this.#text.length : end + (isLine ? 1 : 2)
  }

  #value(depth: number): Node {
    if (depth > MAX_DEPTH) throw this.#fail('too many levels')
    this.#skip()
    const sign = this.#text.charAt(this.#at)
    if (sign === '{') return this.#object(depth)
    if (sign === '[') return this.#list(depth)
    if (sign === '"') return this.#string()
    return this.#scalar()
  }

  #object(depth: number): Table {
    const start = this.#at
    const members: Member[] = []
    this.#each('}', () => {
      const at = this.#at
      if (this.#text.charAt(at) !== '"') throw this.#fail('expected a key in quotes')
      const key = this.#string().value
      this.#skip()
      if (this.#text.charAt(this.#at) !== ':') throw this.#fail('expected `:`')
      this.#at++
      members.push({ key, at, value: this.#value(depth + 1) })
    })
    return { kind: 'table', start, end: this.#at, members }
  }

  #list(depth: number): Node {
    const start = this.#at
    const items: Node[] = []
    this.#each(']', () => void items.push(this.#value(depth + 1)))
    return { kind: 'list', start, end: this.#at, items }
  }

  /** Reads items between commas up to the closing sign. */
  #each(close: string, item: () => void): void {
    this.#at++
    for (let isFirst = true; ; isFirst = false) {
      this.#skip()
      if (this.#takes(close)) return
      if (!isFirst) {
        if (!this.#takes(',')) throw this.#fail(`expected \`,\` or \`${close}\``)
        this.#skip()
        if (this.#takes(close)) return
      }
      item()
    }
  }

  #takes(sign: string): boolean {
    if (this.#text.charAt(this.#at) !== sign) return false
    this.#at++
    return true
  }

  #string(): Node & { readonly kind: 'text' } {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && this.#text.charAt(end) !== '"') {
      end += this.#text.charAt(end) === '\\' ? 2 : 1
    }
    try {
      const value: unknown = JSON.parse(this.#text.slice(start, end + 1))
      this.#at = end + 1
      if (typeof value === 'string') return { kind: 'text', start, end: end + 1, value }
    } catch {
      // Reported below, without the text.
    }
    throw this.#fail('a string is not valid')
  }

  #scalar(): Node {
    const start = this.#at
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', undefined],
    ] as const) {
      if (!this.#text.startsWith(word, start)) continue
      this.#at += word.length
      return { kind: 'other', start, end: this.#at, value }
    }
    NUMBER.lastIndex = start
    if (!NUMBER.test(this.#text)) throw this.#fail('expected a value')
    this.#at = NUMBER.lastIndex
    return { kind: 'other', start, end: this.#at, value: undefined }
  }
}
