// What a person is shown of a definition that changed.

import type { Json, JsonObject } from '@tollgate/evidence'
import { definitionOf, type Definition } from '@tollgate/kernel'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffOf, MOST_LINES } from '../src/tools/diff.ts'
import { hiddenIn } from '../src/tools/hidden.ts'

function tool(said: JsonObject): Definition {
  const { inputSchema = { type: 'object' } } = said
  return definitionOf({ kind: 'tool', server: 'fs', tool: { name: 'x', ...said }, inputSchema })
}

function check(before: JsonObject, after: JsonObject): readonly string[] {
  return diffOf(tool(before), tool(after))
}

test('the same is no change', () => {
  expect(check({ description: 'a' }, { description: 'a' })).toEqual([])
})

describe('a change', () => {
  test('of a member is told by its place', () => {
    const before = { annotations: { readOnlyHint: true }, title: 'T' }
    expect(check(before, { annotations: { readOnlyHint: false, openWorldHint: true } })).toEqual([
      '+ /annotations/openWorldHint: true',
      '~ /annotations/readOnlyHint',
      '  - true',
      '  + false',
      '- /title: "T"',
    ])
  })

  test('of a list tells the items that came and went', () => {
    const list = (...required: string[]): JsonObject => ({ inputSchema: { type: 'object', required } })
    expect(check(list('a', 'b', 'c'), list('a', 'x', 'b', 'c'))).toEqual(['+ /inputSchema/required/1: "x"'])
    expect(check(list('a', 'b'), list('a'))).toEqual(['- /inputSchema/required/1: "b"'])
  })

  test('of one word in a long text is told with the words around it', () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i}`)
    const before = words.join(' ')
    const after = words.with(100, 'EVIL').join(' ')
    expect(check({ description: before }, { description: after })).toEqual([
      '~ /description',
      '  - … w94 w95 w96 w97 w98 w99 w100 w101 w102 w103 w104 w105 w106 …',
      '  + … w94 w95 w96 w97 w98 w99 EVIL w101 w102 w103 w104 w105 w106 …',
    ])
  })

  test('in two places tells both, and not what lies between', () => {
    const words = Array.from({ length: 200 }, (_, i) => `w${i}`)
    const lines = check(
      { description: words.join(' ') },
      { description: words.with(10, 'X').with(190, 'Y').join(' ') },
    )
    expect(lines).toHaveLength(5)
    expect(lines.join('\n')).not.toContain('w100')
  })

  test('that hides something shows it', () => {
    expect(check({ description: 'Read it' }, { description: 'Read\u200b it' })).toEqual([
      '~ /description',
      '  - Read it',
      '  + Read\\u{200b} it',
    ])
    expect(check({}, { 'a\u202e': 1 })).toEqual(['+ /a\\u{202e}: 1'])
  })

  test('of what only we added is told too', () => {
    const other = definitionOf({
      kind: 'tool',
      server: 'other',
      tool: { name: 'x' },
      inputSchema: { type: 'object' },
    })
    expect(diffOf(tool({}), other)).toEqual(['~ /server', '  - fs', '  + other'])
  })

  test('of everything is told as far as anybody reads', () => {
    const many = (mark: string): JsonObject =>
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`m${i}`, `${mark}${i}`]))
    const lines = check(many('a'), many('b'))
    expect(lines).toHaveLength(MOST_LINES)
    expect(lines.at(-1)).toMatch(/more than can be shown/)
  })

  test('of a text as long as a message is told, cut', () => {
    const [before, after] = ['a b '.repeat(400_000), 'b c '.repeat(400_000)]
    const lines = check({ description: before }, { description: after })
    expect(lines).toHaveLength(MOST_LINES)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2500)
  })
})

test('whatever changed, something is told, and nothing in it is hidden', () => {
  const json = fc.oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null), fc.array(fc.string()))
  const said = fc.dictionary(fc.constantFrom('description', 'title', 'x', 'y'), json)
  fc.assert(
    fc.property(said, said, (a, b) => {
      const [before, after] = [tool(plain(a)), tool(plain(b))]
      const lines = diffOf(before, after)
      expect(lines.length > 0).toBe(before.hash !== after.hash)
      expect(lines.length).toBeLessThanOrEqual(MOST_LINES)
      expect(hiddenIn(lines.join(''), 1, true)).toEqual([])
    }),
  )
})

function plain(said: Readonly<Record<string, Json>>): JsonObject {
  return JSON.parse(
    JSON.stringify(said, (_, each: unknown) => (typeof each === 'string' ? each.toWellFormed() : each)),
  ) as JsonObject
}
