import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex, utf8 } from '../src/bytes.ts'
import { canonicalBytes, canonicalize, formatNumber, parseCanonical } from '../src/canonical.ts'
import { EvidenceError } from '../src/error.ts'
import { isJsonNumber } from '../src/json-number.ts'
import { parseJson } from '../src/json.ts'
import { hashNumberLines, PUBLISHED } from './canonical-numbers.ts'
import { readVectors } from './json-vectors.ts'
import { outcomeOf } from './samples.ts'
import { runs } from './runs.ts'

const LIMIT = 1 << 20

// Another implementation of RFC 8785. Its types and its module disagree, hence `require`.
const oracle = createRequire(import.meta.url)('canonicalize') as (value: unknown) => string | undefined

/** Expects the value to be written as this text, and only this text to be read as canonical. */
function check(value: unknown, text: string): void {
  expect(canonicalize(value)).toBe(text)
  expect(toHex(canonicalBytes(value))).toBe(toHex(utf8(text)))
  expect(canonicalize(parseCanonical(text, LIMIT))).toBe(text)
}

/** Expects the value to be refused with this code, alone and inside others. */
function refuses(code: string, value: unknown): void {
  for (const holder of [value, [value], { a: [1, value] }]) {
    expect(outcomeOf(() => canonicalize(holder))).toBe(code)
    expect(outcomeOf(() => canonicalBytes(holder))).toBe(code)
  }
}

function doubleOf(bits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${bits}`))
  return view.getFloat64(0)
}

describe('RFC 8785', () => {
  it('writes the sample of section 3.2.2 to the bytes of section 3.2.4', () => {
    const sample = parseJson(
      String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    )
    const published = `
      7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72
      73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32
      2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c
      5c 5c 5c 22 2f 22 7d`
    expect(toHex(canonicalBytes(sample))).toBe(published.replaceAll(/\s/g, ''))
  })

  it('sorts the keys of section 3.2.3 by UTF-16 units', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const text = canonicalize(Object.fromEntries(keys.map((key) => [key, ''])))
    expect(text).toBe('{"\\r":"","1":"","\u0080":"","\u00f6":"","\u20ac":"","\ud83d\ude00":"","\ufb33":""}')
  })

  // Appendix B.
  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the number %s as %s', (bits, text) => {
    const number = doubleOf(bits)
    expect(formatNumber(number)).toBe(text)
    expect(outcomeOf(() => canonicalize(number))).toBe(
      isJsonNumber(number) ? 'accepted' : 'JSON_NUMBER_REFUSED',
    )
  })

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('refuses the number %s', (bits) => {
    refuses('JSON_NUMBER_REFUSED', doubleOf(bits))
  })

  it('writes the first 100,000 numbers of the published sequence', () => {
    const expected = Object.entries(PUBLISHED).filter(([lines]) => Number(lines) <= 100_000)
    expect(expected.length).toBeGreaterThan(1)
    expect(Object.entries(hashNumberLines(100_000))).toEqual(expected)
  })

  it.each(readVectors('canonical'))('$name', ({ header, document }) => {
    expect(Object.keys(header)).toEqual(['about', 'source', 'canonical'])
    const text = header.canonical ?? ''
    check(parseJson(document), text)
    expect(outcomeOf(() => parseCanonical(document, LIMIT))).toBe('JSON_NOT_CANONICAL')
  })
})

describe('values', () => {
  it('writes literals, numbers, strings, arrays and objects', () => {
    check(null, 'null')
    check([true, false, null, 0, -1, 1.5, 1e21, 1e-7], '[true,false,null,0,-1,1.5,1e+21,1e-7]')
    check({ b: [], a: {}, '': [{}] }, '{"":[{}],"a":{},"b":[]}')
    check('', '""')
  })

  it('escapes what RFC 8785 escapes and nothing else', () => {
    check('\b\t\n\f\r"\\', '"\\b\\t\\n\\f\\r\\"\\\\"')
    check('\u0000\u000b\u001f', '"\\u0000\\u000b\\u001f"')
    check('/\u007f\u0080\u2028\u2029\ufeff\uffff<>&é😂', '"/\u007f\u0080\u2028\u2029\ufeff\uffff<>&é😂"')
    check({ 'a"\n': 1 }, '{"a\\"\\n":1}')
  })

  it('sorts keys by UTF-16 units, at every level', () => {
    check({ b: { z: 1, a: 2 }, a: 1, B: 2, 10: 3, 9: 4 }, '{"10":3,"9":4,"B":2,"a":1,"b":{"a":2,"z":1}}')
    check({ '\u{10000}': 1, '\uffff': 2, aa: 3, a: 4 }, '{"a":4,"aa":3,"\u{10000}":1,"\uffff":2}')
  })

  it('treats keys of any name as data and never calls toJSON', () => {
    check(
      JSON.parse('{"toJSON":"x","constructor":1,"__proto__":{"a":1}}'),
      '{"__proto__":{"a":1},"constructor":1,"toJSON":"x"}',
    )
    refuses('VALUE_NOT_JSON', { toJSON: () => 'other' })
  })

  it('accepts objects without a prototype', () => {
    check(Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}')
  })

  it('writes a shared part each time', () => {
    const shared = { x: [1] }
    check([shared, shared], '[{"x":[1]},{"x":[1]}]')
  })

  it('writes an empty object and one with an empty key correctly, in either order', () => {
    check([{}, { '': 1 }, {}, { '': {} }], '[{},{"":1},{},{"":{}}]')
    check([{ '': 1 }, {}, { '': 1 }], '[{"":1},{},{"":1}]')
  })

  it('writes keys with a tab correctly, beside similar keys', () => {
    check([{ p: 1, q: 2 }, { 'p\tq': 3 }, { q: 1, 'p\t': 2 }], '[{"p":1,"q":2},{"p\\tq":3},{"p\\t":2,"q":1}]')
    check([{ 'r\ts': 3 }, { r: 1, s: 2 }], '[{"r\\ts":3},{"r":1,"s":2}]')
    check(
      [
        { 't\tu': 1, v: 2 },
        { t: 1, 'u\tv': 2 },
      ],
      '[{"t\\tu":1,"v":2},{"t":1,"u\\tv":2}]',
    )
  })

  it('writes any number of shapes, and objects of many keys', () => {
    for (let i = 0; i < 1200; i++) expect(canonicalize({ [`k${i}`]: i, a: 1 })).toBe(`{"a":1,"k${i}":${i}}`)
    for (const count of [63, 64, 65, 1000]) {
      const object = Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`k${(i * 7919) % count}`, i]),
      )
      expect(canonicalize(object)).toBe(oracle(object))
      expect(canonicalize(object)).toBe(oracle(object))
    }
  })

  it('reads each member once', () => {
    let reads = 0
    const value = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++reads })
    expect(canonicalize([value])).toBe('[{"a":1}]')
    expect(reads).toBe(1)
  })
})

describe('refusals', () => {
  it('refuses what JSON cannot express', () => {
    for (const value of [undefined, 1n, Symbol('s'), () => 1, Date]) refuses('VALUE_NOT_JSON', value)
  })

  it('refuses instances of a class', () => {
    class Point {
      x = 1
    }
    const strange = [
      new Date(0),
      new Map(),
      new Set(),
      /x/,
      new Point(),
      new Error('x'),
      new Uint8Array(1),
      new Number(1),
    ]
    for (const value of [...strange, new String('x'), Object.create({}), Promise.resolve(), new URL('a:b')])
      refuses('VALUE_NOT_JSON', value)
  })

  it('refuses a symbol key', () => {
    refuses('VALUE_NOT_JSON', { a: 1, [Symbol('s')]: 2 })
  })

  it('refuses a sparse array', () => {
    refuses('VALUE_NOT_JSON', Object.assign([1, 2, 3], { length: 4 }))
    refuses('VALUE_NOT_JSON', new Array(1_000_000_000))
  })

  it('refuses an array with further properties', () => {
    refuses('VALUE_NOT_JSON', Object.assign([1, 2], { extra: 3 }))
    refuses('VALUE_NOT_JSON', Object.assign([1, 2], { '-1': 3 }))
  })

  it('refuses a key without a value', () => {
    refuses('VALUE_NOT_JSON', { a: undefined })
  })

  it('refuses numbers that the parser refuses', () => {
    for (const number of [NaN, Infinity, -Infinity, -0, 2 ** 53, -(2 ** 53), 1e20])
      refuses('JSON_NUMBER_REFUSED', number)
  })

  it('refuses half of a surrogate pair, in keys and in values', () => {
    for (const half of ['\ud800', 'a\udc00', '\ude02\ud83d', '\n\ud800'])
      for (const value of [half, { [half]: 1 }]) refuses('JSON_LONE_SURROGATE', value)
  })

  it('refuses a cycle', () => {
    const array: unknown[] = []
    array.push([array])
    refuses('JSON_TOO_DEEP', array)
    const object: Record<string, unknown> = {}
    object.self = { object }
    refuses('JSON_TOO_DEEP', object)
  })

  it('writes 64 levels and refuses 65', () => {
    const nest = (levels: number): unknown => (levels === 0 ? 1 : [nest(levels - 1)])
    check(nest(64), `${'['.repeat(64)}1${']'.repeat(64)}`)
    refuses('JSON_TOO_DEEP', nest(65))
  })

  it('refuses a value whose shared parts become too long', () => {
    let value: unknown = 'x'.repeat(1 << 16)
    for (let level = 0; level < 60; level++) value = level % 2 === 0 ? [value, value] : { a: value, b: value }
    expect(outcomeOf(() => canonicalize(value))).toBe('JSON_TOO_LARGE')
  })

  it('refuses a value whose small shared parts become too long, within a million reads', () => {
    let reads = 0
    const read = (): number => {
      if (++reads > 1_000_000) throw new RangeError('more than a million reads')
      return 0
    }
    let value: unknown = Object.defineProperty({}, 'a', { enumerable: true, get: read })
    for (let level = 0; level < 60; level++) value = [value, value]
    expect(outcomeOf(() => canonicalize(value))).toBe('JSON_TOO_LARGE')
  })
})

describe('the limit of length', () => {
  const outcome = (value: unknown, maxLength: number): string =>
    outcomeOf(() => canonicalize(value, { maxLength }))

  it('applies to arrays and objects', () => {
    expect(outcome(['12345', '12345'], 100)).toBe('accepted')
    expect(outcome(['12345', '12345'], 10)).toBe('JSON_TOO_LARGE')
    expect(outcome({ a: '12345', b: 12345 }, 10)).toBe('JSON_TOO_LARGE')
    expect(outcome({ a: { b: [1, 2, 3, 4, 5, 6] } }, 10)).toBe('JSON_TOO_LARGE')
    expect(outcomeOf(() => canonicalBytes(['12345', '12345'], { maxLength: 10 }))).toBe('JSON_TOO_LARGE')
  })

  it('is 4 Mi characters by default', () => {
    const half = 'x'.repeat(2 << 20)
    expect(outcomeOf(() => canonicalize([half, half.slice(100)]))).toBe('accepted')
    expect(outcomeOf(() => canonicalize([half, half]))).toBe('JSON_TOO_LARGE')
    expect(outcome([half, half], 5 << 20)).toBe('accepted')
  })

  it('applies to a bare string, and to the last bracket', () => {
    expect(outcome('x'.repeat(100), 10)).toBe('JSON_TOO_LARGE')
    expect(outcome([[[[1]]]], 5)).toBe('JSON_TOO_LARGE')
  })
})

describe('parseCanonical', () => {
  it('refuses JSON in any other form', () => {
    const spellings = [
      '{ "a":1}',
      '{"a":1}\n',
      '{"b":1,"a":2}',
      '1.0',
      '1e0',
      '10e-1',
      '1E21',
      '1e21',
      '"\\/"',
      '"\\u0061"',
    ]
    for (const text of [
      ...spellings,
      '"\\u000A"',
      '"\\u000F"',
      '"\\u007f"',
      '[1, 2]',
      '[ ]',
      '0.10',
      '100e0',
      '1e-7 ',
    ])
      expect(
        outcomeOf(() => parseCanonical(text, LIMIT)),
        text,
      ).toBe('JSON_NOT_CANONICAL')
  })

  it('gives the error for text that is not strict JSON', () => {
    const codeOf = (text: string): string => outcomeOf(() => parseCanonical(text, LIMIT))
    expect(codeOf('{"a":1,"a":1}')).toBe('JSON_DUPLICATE_KEY')
    expect(codeOf('-0')).toBe('JSON_NUMBER_REFUSED')
    expect(codeOf('9007199254740992')).toBe('JSON_NUMBER_REFUSED')
    expect(codeOf('"\\ud800"')).toBe('JSON_LONE_SURROGATE')
    expect(codeOf('"\ud800"')).toBe('JSON_LONE_SURROGATE')
    expect(codeOf('['.repeat(65) + ']'.repeat(65))).toBe('JSON_TOO_DEEP')
    expect(codeOf('\ufeff{}')).toBe('JSON_MALFORMED')
    expect(codeOf('')).toBe('JSON_MALFORMED')
  })

  it('refuses bytes that are not UTF-8', () => {
    expect(outcomeOf(() => parseCanonical(Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), LIMIT))).toBe(
      'JSON_NOT_UTF8',
    )
  })

  it('checks the size before anything else', () => {
    expect(parseCanonical('"1234"', 6)).toBe('1234')
    expect(outcomeOf(() => parseCanonical('"12345"', 6))).toBe('JSON_TOO_LARGE')
    expect(outcomeOf(() => parseCanonical(new Uint8Array(7).fill(0xff), 6))).toBe('JSON_TOO_LARGE')
  })

  it('accepts 64 levels', () => {
    const text = '['.repeat(64) + ']'.repeat(64)
    expect(canonicalize(parseCanonical(text, LIMIT))).toBe(text)
  })

  it('treats the key __proto__ as data', () => {
    const text = '{"__proto__":{"admin":true}}'
    const value = parseCanonical(utf8(text), LIMIT) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(value.admin).toBeUndefined()
    expect(canonicalize(value)).toBe(text)
  })

  it('has a limit that is separate from writing', () => {
    const text = `"${'x'.repeat(5 << 20)}"`
    expect(parseCanonical(text, 6 << 20)).toBe(text.slice(1, -1))
    expect(canonicalize(parseCanonical(`[${text}]`, 6 << 20), { maxLength: 6 << 20 })).toBe(`[${text}]`)
  })
})

describe('properties', () => {
  // Only values that parseJson can return.
  const acceptable = fc
    .jsonValue({ stringUnit: 'binary' })
    .filter((value) => outcomeOf(() => canonicalize(value)) === 'accepted')

  it('is idempotent, and reads back as the same value', () => {
    const law = (value: unknown): void => {
      const text = canonicalize(value)
      expect(canonicalize(parseJson(text))).toBe(text)
      expect(canonicalize(parseCanonical(text, LIMIT))).toBe(text)
      expect(parseJson(text)).toEqual(value)
    }
    fc.assert(fc.property(acceptable, law), { seed: 11, numRuns: runs(3000) })
  })

  it('does not depend on the order of keys', () => {
    const members = fc.dictionary(fc.string({ unit: 'binary' }), acceptable).map(Object.entries<unknown>)
    const orders = members.chain((list) =>
      fc.record({ one: fc.constant(list), other: fc.shuffledSubarray(list, { minLength: list.length }) }),
    )
    const law = ({ one, other }: Readonly<Record<'one' | 'other', [string, unknown][]>>): void => {
      expect(canonicalize(Object.fromEntries(other))).toBe(canonicalize(Object.fromEntries(one)))
    }
    fc.assert(fc.property(orders, law), { seed: 12, numRuns: runs(1500) })
  })

  it('agrees with another implementation', () => {
    const law = (value: unknown): void => {
      expect(canonicalize(value)).toBe(oracle(value))
    }
    fc.assert(fc.property(acceptable, law), { seed: 13, numRuns: runs(3000) })
  })

  it('writes any finite number so that it reads back', () => {
    const law = (number: number): void => {
      expect(Number(formatNumber(number))).toBe(number + 0) // -0 is written 0
    }
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), law), {
      seed: 14,
      numRuns: runs(5000),
    })
  })

  it('accepts exactly the texts that are canonical', () => {
    const seen = { canonical: 0, other: 0 }
    const law = (text: string): void => {
      const says = outcomeOf(() => {
        if (canonicalize(parseJson(text)) !== text)
          throw new EvidenceError('JSON_NOT_CANONICAL', 'other spelling')
      })
      seen[says === 'accepted' ? 'canonical' : 'other']++
      expect(outcomeOf(() => parseCanonical(text, LIMIT))).toBe(says)
      if (text.isWellFormed()) expect(outcomeOf(() => parseCanonical(utf8(text), LIMIT))).toBe(says)
    }
    fc.assert(fc.property(nearlyCanonical(acceptable), law), { seed: 15, numRuns: runs(10_000) })
    expect(seen.canonical).toBeGreaterThan(0.4 * runs(10_000))
    expect(seen.other).toBeGreaterThan(0.3 * runs(10_000))
  })
})

/** Canonical texts, texts that differ only in form, and texts with one edit. */
function nearlyCanonical(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const canonical = values.map(canonicalize)
  const native = values.map((value) => JSON.stringify(value))
  const spelled = fc
    .tuple(canonical, fc.constantFrom(...SPELLINGS))
    .map(([text, [from, to]]) => text.replace(from, to))
  const edited = fc
    .tuple(
      canonical,
      fc.nat(),
      fc.constantFrom('', ' ', '0', '"', ',', '\\', 'e', '-', '.', '\n'),
      fc.boolean(),
    )
    .map(([text, at, insert, remove]) => {
      const start = at % (text.length + 1)
      return text.slice(0, start) + insert + text.slice(start + (remove ? 1 : 0))
    })
  return fc.oneof(canonical, native, spelled, edited)
}

const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/,/, ', '],
  [/^/, ' '],
  [/$/, '\n'],
  [/([0-9])([,\]}]|$)/, '$1.0$2'],
  [/([0-9])([,\]}]|$)/, '$1e0$2'],
  [/e\+/, 'E+'],
  [/e\+/, 'e'],
  [/\\n/, '\\u000a'],
  [/\\u00([01])([a-f])/, '\\u00$1F'],
  [/[a-z]"/, '\\u0061"'],
  [/\//, '\\/'],
]
