// The diff of a changed definition for people.

import { canonicalize, type Json, type JsonObject } from '@tollgate/evidence'
import { definitionOf, type Definition } from '@tollgate/kernel/admin'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createNumbering } from '../../src/tools/alike.ts'
import { diffOf, MAX_LINES } from '../../src/tools/diff.ts'
import { hiddenIn } from '../../src/tools/hidden.ts'

function tool(said: JsonObject): Definition {
  const { inputSchema = { type: 'object' } } = said
  return definitionOf({ kind: 'tool', server: 'fs', tool: { name: 'x', ...said }, inputSchema })
}

function check(before: JsonObject, after: JsonObject): readonly string[] {
  return diffOf(tool(before), tool(after))
}

test('equal definitions have no changes', () => {
  expect(check({ description: 'a' }, { description: 'a' })).toEqual([])
})

describe('a change', () => {
  test('of a member is shown with its position', () => {
    const before = { annotations: { readOnlyHint: true }, title: 'T' }
    expect(check(before, { annotations: { readOnlyHint: false, openWorldHint: true } })).toEqual([
      '+ /annotations/openWorldHint: true',
      '~ /annotations/readOnlyHint',
      '  - true',
      '  + false',
      '- /title: "T"',
    ])
  })

  test('of a list shows added and removed items', () => {
    const list = (...required: string[]): JsonObject => ({ inputSchema: { type: 'object', required } })
    expect(check(list('a', 'b', 'c'), list('a', 'x', 'b', 'c'))).toEqual(['+ /inputSchema/required/1: "x"'])
    expect(check(list('a', 'b'), list('a'))).toEqual(['- /inputSchema/required/1: "b"'])
  })

  test('of one word in a long text is shown with its context', () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i}`)
    const before = words.join(' ')
    const after = words.with(100, 'EVIL').join(' ')
    expect(check({ description: before }, { description: after })).toEqual([
      '~ /description',
      '  - … w94 w95 w96 w97 w98 w99 w100 w101 w102 w103 w104 w105 w106 …',
      '  + … w94 w95 w96 w97 w98 w99 EVIL w101 w102 w103 w104 w105 w106 …',
    ])
  })

  test('in two places shows both, without the text between', () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i}`)
    const lines = check(
      { description: words.join(' ') },
      { description: words.with(10, 'X').with(190, 'Y').join(' ') },
    )
    expect(lines).toHaveLength(5)
    expect(lines.join('\n')).not.toContain('w100')
  })

  test('with hidden characters shows them', () => {
    expect(check({ description: 'Read it' }, { description: 'Read\u200b it' })).toEqual([
      '~ /description',
      '  - Read it',
      '  + Read\\u{200b} it',
    ])
    expect(check({}, { 'a\u202e': 1 })).toEqual(['+ /a\\u{202e}: 1'])
  })

  test('of members added by the gateway is shown too', () => {
    const other = definitionOf({
      kind: 'tool',
      server: 'other',
      tool: { name: 'x' },
      inputSchema: { type: 'object' },
    })
    expect(diffOf(tool({}), other)).toEqual(['~ /server', '  - fs', '  + other'])
  })

  test('of the origin is shown first', () => {
    const from = (origin: string, description = 'a'): Definition =>
      definitionOf({ kind: 'tool', server: 'fs', origin, tool: { name: 'x', description } })
    expect(diffOf(from('npx @a/fs'), from('npx @evil/fs'))).toEqual([
      '~ origin',
      '  - npx @a/fs',
      '  + npx @evil/fs',
    ])
    expect(diffOf(from('npx @a/fs'), from('node /x.js', 'b'))).toEqual([
      '~ origin',
      '  - npx @a/fs',
      '  + node /x.js',
      '~ /description',
      '  - a',
      '  + b',
    ])
    // The server's own `origin` member is something else.
    expect(check({}, { origin: 'npx @a/fs' })).toEqual(['+ /origin: "npx @a/fs"'])
    const faculty = (origin: string): Definition =>
      definitionOf({ kind: 'server', server: 'fs', origin, instructions: null, name: 'fs', title: null })
    expect(diffOf(faculty('https://a.test/'), faculty('https://b.test/'))).toEqual([
      '~ origin',
      '  - https://a.test/',
      '  + https://b.test/',
    ])
  })

  test('of everything is limited in length', () => {
    const many = (mark: string): JsonObject =>
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`m${i}`, `${mark}${i}`]))
    const lines = check(many('a'), many('b'))
    expect(lines).toHaveLength(MAX_LINES)
    expect(lines.at(-1)).toMatch(/more changes than can be shown/)
  })

  test('of a very long text is cut', () => {
    const [before, after] = ['a b '.repeat(400_000), 'b c '.repeat(400_000)]
    const lines = check({ description: before }, { description: after })
    expect(lines).toHaveLength(MAX_LINES)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2500)
  })
})

describe('a malicious definition', () => {
  /** The same value, with every access to an item or member counted. */
  function watched<T extends Json>(value: T, looks: { count: number }): T {
    if (value === null || typeof value !== 'object') return value
    const inner = Array.isArray(value)
      ? value.map((item: Json) => watched(item, looks))
      : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, watched(each, looks)]))
    const proxy: unknown = new Proxy(inner, {
      get(target, key, receiver): unknown {
        looks.count++
        return Reflect.get(target, key, receiver)
      },
    })
    // Sound: the proxy has all members of the value.
    return proxy as T
  }

  function looksAt(before: JsonObject, after: JsonObject): { lines: readonly string[]; looks: number } {
    const looks = { count: 0 }
    const [was, is] = [tool(before), tool(after)].map((each) => ({
      ...each,
      content: watched(each.content, looks),
    }))
    if (!was || !is) throw new Error('two')
    return { lines: diffOf(was, is), looks: looks.count }
  }

  test.each([
    ['lists', 55, (inner: Json): Json => [inner]],
    ['lists beside something', 55, (inner: Json): Json => [0, inner, 1]],
    ['objects', 55, (inner: Json): Json => ({ a: inner })],
    ['both', 27, (inner: Json): Json => [{ a: inner }]],
  ])('with much in many %s costs a few looks at each part', (_, depth, around) => {
    const deep = (last: string): JsonObject => {
      let inner: Json = [...Array.from({ length: 20_000 }, (_each, i) => `${i} ${'x'.repeat(60)}`), last]
      for (let i = 0; i < depth; i++) inner = around(inner)
      return { x: inner }
    }
    const { lines, looks } = looksAt(deep('a'), deep('b'))
    expect(lines).toHaveLength(3)
    expect(lines.slice(1)).toEqual(['  - a', '  + b'])
    // Two definitions of 20,000 parts each. A quadratic comparison would need millions of accesses.
    expect(looks).toBeLessThan(400_000)
  })

  test('with too many changes is not compared to its end', () => {
    const many = (mark: string): JsonObject => ({
      x: Array.from({ length: 20_000 }, (_, i) => [`${mark}${i}`]),
    })
    const { lines, looks } = looksAt(many('a'), many('b'))
    expect(lines).toHaveLength(MAX_LINES)
    expect(looks).toBeLessThan(600_000)
  })

  test('with a very long name is shown with the beginning of the name', () => {
    const name = 'n'.repeat(1 << 20)
    const below = (mark: string): JsonObject => ({
      [name]: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`m${i}`, mark])),
    })
    const lines = check(below('a'), below('b'))
    expect(lines).toHaveLength(MAX_LINES)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(500)
  })
})

test('equal numbers mean equal canonical JSON', () => {
  // Few values, so that many are equal and many are similar.
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>('', 'a', '1', '=1', '[', null, 'null', true, 0, 1, 1.5),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', ''), tie('value'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(fc.array(value, { minLength: 2, maxLength: 8 }), (values) => {
      const numberOf = createNumbering()
      const all = values.map((each) => [numberOf(each), canonicalize(each)] as const)
      for (const [number, text] of all) {
        for (const [other, its] of all) expect(number === other).toBe(text === its)
      }
    }),
  )
})

test('every change is shown, with all characters visible', () => {
  const json = fc.oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null), fc.array(fc.string()))
  const said = fc.dictionary(fc.constantFrom('description', 'title', 'x', 'y'), json)
  fc.assert(
    fc.property(said, said, (a, b) => {
      const [before, after] = [tool(plain(a)), tool(plain(b))]
      const lines = diffOf(before, after)
      expect(lines.length > 0).toBe(before.hash !== after.hash)
      expect(lines.length).toBeLessThanOrEqual(MAX_LINES)
      expect(hiddenIn(lines.join(''), 1, true)).toEqual([])
    }),
  )
})

function plain(said: Readonly<Record<string, Json>>): JsonObject {
  return JSON.parse(
    JSON.stringify(said, (_, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each)),
  ) as JsonObject
}
