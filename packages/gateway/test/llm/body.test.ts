// Bodies with images: the parsed value and the forwarded bytes equal the received document.

import type { Json, JsonObject } from '@tollgate/evidence'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../src/llm/body.ts'
import { Refused } from '../../src/llm/dialect.ts'

const LONG = 70_000
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString()

/** A text long enough to become a mark, and texts around that length. */
const picture = fc
  .tuple(fc.constantFrom('A', 'b', '+', '/', '9', '_', '-'), fc.integer({ min: LONG, max: LONG + 3 }))
  .map(([letter, length]) => letter.repeat(length))
const longText = fc.constantFrom(
  `data:image/png;base64,${'A'.repeat(LONG)}`,
  `data:image/png;base64,${'A'.repeat(65_516)}`,
  `data:image/png;base64,${'A'.repeat(65_514)}`,
  `data:text/html,${'A'.repeat(LONG)}`,
  `${'A'.repeat(LONG)} `,
  `${'A'.repeat(LONG)}\\`,
  `"${'A'.repeat(LONG)}"`,
  `\\"${'A'.repeat(LONG)}`,
  'ä'.repeat(LONG),
)
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), picture, longText)
const document = fc.dictionary(
  fc.string(),
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(fc.string(), leaf, { maxKeys: 3 })),
  { maxKeys: 5 },
)

describe('a body', () => {
  it('is read correctly, whatever is long in it', () => {
    fc.assert(
      fc.property(document, fc.boolean(), (made, spaced) => {
        const text = JSON.stringify(made, undefined, spaced ? 1 : 0)
        // As any reader has it: in an object literal, `__proto__` is no member.
        const value = JSON.parse(text) as Json
        const body = readBody(bytesOf(text))
        expect(JSON.stringify(body.restored(body.value)) === JSON.stringify(value)).toBe(true)
        expect(textOf(body.written(false)) === text).toBe(true)
        expect(textOf(body.written(true)) === JSON.stringify(value)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('that is changed is forwarded with the change and its images', () => {
    const image = 'A'.repeat(LONG)
    const body = readBody(bytesOf(JSON.stringify({ a: image, b: 'old', c: [image] })))
    // Sound: the body may be changed.
    const own = body.value as Record<string, Json>
    own.b = 'new'
    expect(own.a).not.toBe(image)
    expect(JSON.parse(textOf(body.written(true)))).toEqual({ a: image, b: 'new', c: [image] })
  })

  it.each([
    ['cut', `{"a":"${'A'.repeat(LONG)}`],
    ['cut behind a picture', `{"a":"${'A'.repeat(LONG)}"`],
    ['with a name twice', `{"a":"${'A'.repeat(LONG)}","b":1,"b":2}`],
    ['with a control character', `{"a":"${'A'.repeat(LONG)}","b":"\u0001"}`],
    ['with a long name twice', `{"${'A'.repeat(LONG)}":1,"b":2,"b":3}`],
    ['that is a list', `["${'A'.repeat(LONG)}"]`],
    ['with two documents', `{"a":"${'A'.repeat(LONG)}"}{}`],
    ['with a comment', `{/*"${'A'.repeat(LONG)}"*/}`],
  ])('%s is refused', (_, text) => {
    expect(() => readBody(bytesOf(text))).toThrow(Refused)
  })

  it('that is not UTF-8 is refused, also beside an image', () => {
    const text = bytesOf(`{"a":"${'A'.repeat(LONG)}","b":"x"}`)
    text[text.length - 3] = 0xff
    expect(() => readBody(text)).toThrow('not UTF-8')
    expect(() => readBody(Uint8Array.of(0x7b, 0xff, 0x7d))).toThrow(Refused)
  })

  it('cannot contain a mark', () => {
    const image = 'A'.repeat(LONG)
    const marks = ['tollgate-cut-0', 'tollgate-cut-000000000000000000000000-0']
    const body = readBody(bytesOf(JSON.stringify({ marks, image })))
    expect(body.restored(body.value)).toEqual({ marks, image } satisfies JsonObject)
  })
})
