import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../src/bytes.ts'
import { canonicalize } from '../src/canonical.ts'
import { isJsonNumber } from '../src/json-number.ts'
import { copyJson, DATA_PROTOTYPE, MAX_DEPTH, MAX_VALUES, parseJson, type JsonObject } from '../src/json.ts'
import { readVectors } from './json-vectors.ts'
import { outcomeOf } from './samples.ts'
import { runs } from './runs.ts'

/** Expects the document to be read like `JSON.parse`, as text and as bytes. */
function accepts(...documents: readonly string[]): void {
  for (const document of documents) {
    const expected: unknown = JSON.parse(document)
    expect(parseJson(document), document).toEqual(expected)
    expect(parseJson(utf8(document)), document).toEqual(expected)
  }
}

/** Expects the document to be refused with this code, as text and as bytes. */
function refuses(code: string, ...documents: readonly string[]): void {
  for (const document of documents) {
    expect(
      outcomeOf(() => parseJson(document)),
      document,
    ).toBe(code)
    if (!document.isWellFormed()) continue
    expect(
      outcomeOf(() => parseJson(utf8(document))),
      document,
    ).toBe(code)
  }
}

/** Expects the bytes inside a string to be refused with this code. */
function refusesBytes(code: string, ...bytes: readonly number[]): void {
  const document = Uint8Array.of(0x22, ...bytes, 0x22)
  expect(
    outcomeOf(() => parseJson(document)),
    bytes.join(' '),
  ).toBe(code)
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

describe('documents', () => {
  it('reads every kind of value', () => {
    accepts('null', 'true', 'false', '0', '"text"', '[]', '{}')
    accepts('[1,[2,[3]],{"a":{"b":[]}}]', '{"a":1,"b":[true,false,null],"c":{"d":"e"}}')
  })

  it('reads the four kinds of white space between tokens, and no others', () => {
    accepts(' \t\r\n[ 1 ,\n2\t]\r\n', '{ "a" : 1 , "b" : 2 }', '[ ]', '{ }')
    for (const space of ['\u00a0', '\u2028', '\u3000', '\f', '\v', '\u200b', '\0'])
      refuses('JSON_MALFORMED', `[1,${space}2]`, `${space}[]`, `[]${space}`)
  })

  it('refuses an empty document', () => {
    refuses('JSON_MALFORMED', '', ' ', '\n\t\r ')
  })

  it('refuses trailing data', () => {
    refuses('JSON_MALFORMED', '{}{}', '1 2', '[] ,', 'null\0', '"a""b"', '[]]', '{}}', 'truefalse', '1,')
  })

  it('refuses structure that JSON does not have', () => {
    refuses(
      'JSON_MALFORMED',
      '[1,]',
      '{"a":1,}',
      '[,1]',
      '[1,,2]',
      '[1 2]',
      '{"a" 1}',
      '{"a":}',
      '{:1}',
      '[1}',
    )
    refuses(
      'JSON_MALFORMED',
      '{a:1}',
      "{'a':1}",
      '{1:1}',
      '{null:1}',
      '{"a":1 "b":2}',
      '{,}',
      '[}',
      '{]',
      ':',
      ',',
    )
    refuses('JSON_MALFORMED', '/* */1', '1 // one', '# one\n1', '[1,/**/2]', '(1)', '<1>', '`a`')
  })

  it('refuses words that JSON does not have', () => {
    refuses(
      'JSON_MALFORMED',
      'True',
      'TRUE',
      'nul',
      'nulll',
      'tru',
      'fals',
      'undefined',
      'NaN',
      'Infinity',
      'x',
    )
  })

  it('refuses every truncation of a document', () => {
    const document = ' {"a":[1,-2.5e+3,true,null,"x\\n\\u00e9é😂"],"b":{"c":false,"":[{}]}}'
    accepts(document)
    const bytes = utf8(document)
    for (let length = 0; length < bytes.length; length++) {
      const outcome = outcomeOf(() => parseJson(bytes.subarray(0, length)))
      expect(['JSON_MALFORMED', 'JSON_NOT_UTF8'], `first ${length} bytes`).toContain(outcome)
    }
    for (let length = 0; length < document.length; length++) {
      const outcome = outcomeOf(() => parseJson(document.slice(0, length)))
      expect(['JSON_MALFORMED', 'JSON_LONE_SURROGATE'], `first ${length} units`).toContain(outcome)
    }
  })

  it('refuses every truncation at the front', () => {
    const document = '{"a":[1,2],"b":{"c":false}}'
    for (let from = 1; from < document.length; from++) refuses('JSON_MALFORMED', document.slice(from))
  })

  it.each([
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[1,x]', 3],
    ['[1,tru]', 3],
    ['[] x', 3],
    ['["a\\q"]', 4],
    ['["a\nb"]', 3],
    ['["a', 3],
    ['"\\u12g4"', 3],
    ['{"a":1,"a":2}', 7],
    ['[1,-0]', 3],
    ['['.repeat(65), 64],
    ['x\ud800', 0],
  ])('names the place of the fault in %j', (document, offset) => {
    expect(() => parseJson(document)).toThrow(new RegExp(`at offset ${offset}$`))
  })

  it('names the position of a fault and never the content', () => {
    const secret = 'correct-horse'
    for (const document of [
      `{"${secret}":1,"${secret}":2}`,
      `["${secret}",x]`,
      `["${secret}\\q"]`,
      `"${secret}`,
    ]) {
      expect(() => parseJson(document)).toThrow(/at offset [0-9]+$/)
      expect(() => parseJson(document)).not.toThrow(secret)
    }
  })
})

describe('limits', () => {
  it('checks the size before anything else', () => {
    const notUtf8 = new Uint8Array(11).fill(0xff)
    expect(outcomeOf(() => parseJson(notUtf8, { maxBytes: 10 }))).toBe('JSON_TOO_LARGE')
    expect(outcomeOf(() => parseJson(notUtf8, { maxBytes: 11 }))).toBe('JSON_NOT_UTF8')
    expect(outcomeOf(() => parseJson('x'.repeat(11), { maxBytes: 10 }))).toBe('JSON_TOO_LARGE')
  })

  it('accepts a document of exactly the limit', () => {
    expect(parseJson('"12345678"', { maxBytes: 10 })).toBe('12345678')
    expect(outcomeOf(() => parseJson('"123456789"', { maxBytes: 10 }))).toBe('JSON_TOO_LARGE')
  })

  it('has a default limit of 1 MiB', () => {
    const content = 'a'.repeat((1 << 20) - 2)
    expect(parseJson(`"${content}"`)).toBe(content)
    expect(outcomeOf(() => parseJson(`"${content}a"`))).toBe('JSON_TOO_LARGE')
    expect(outcomeOf(() => parseJson(utf8(`"${content}a"`)))).toBe('JSON_TOO_LARGE')
  })

  it('accepts 64 levels and refuses 65', () => {
    expect(MAX_DEPTH).toBe(64)
    accepts(
      nested(64),
      '{"a":'.repeat(64) + '1' + '}'.repeat(64),
      `[${'[{"a":'.repeat(31)}[1]${'}]'.repeat(31)}]`,
    )
    refuses('JSON_TOO_DEEP', nested(65), '{"a":'.repeat(65) + '1' + '}'.repeat(65))
    refuses('JSON_TOO_DEEP', `[[${'[{"a":'.repeat(31)}[1]${'}]'.repeat(31)}]]`)
  })

  it('counts levels, not brackets', () => {
    accepts(`[${Array.from({ length: 100 }, () => nested(63)).join(',')}]`)
  })

  it('counts every value, of any kind and at any depth', () => {
    for (const [document, values] of [
      ['1', 1],
      ['[]', 1],
      ['[1,"a",null,true]', 5],
      ['{"a":1,"b":{"c":[]}}', 4],
      ['[[[]],{}]', 4],
    ] as const) {
      expect(outcomeOf(() => parseJson(document, { maxValues: values }))).toBe('accepted')
      expect(outcomeOf(() => parseJson(document, { maxValues: values - 1 }))).toBe('JSON_TOO_MANY_VALUES')
    }
  })

  it('has a default limit of 250,000 values for any document length', () => {
    const list = (values: number): string => `[${'1,'.repeat(values - 2)}1]`
    expect(MAX_VALUES).toBe(250_000)
    expect(parseJson(list(MAX_VALUES))).toHaveLength(MAX_VALUES - 1)
    refuses('JSON_TOO_MANY_VALUES', list(MAX_VALUES + 1))
    expect(parseJson(list(MAX_VALUES + 1), { maxValues: MAX_VALUES + 1 })).toHaveLength(MAX_VALUES)
  })

  it('stops at the first value beyond the limit', () => {
    const bomb = `[${'[],'.repeat(2 << 20)}`
    expect(() => parseJson(bomb, { maxBytes: 8 << 20, maxValues: 9 })).toThrow(
      'the document contains more than 9 values at offset 25',
    )
  })

  it('refuses many brackets because of their depth', () => {
    refuses('JSON_TOO_DEEP', '['.repeat(500_000), '{"a":'.repeat(100_000))
  })
})

describe('encoding', () => {
  it('refuses a byte-order mark before the document, as bytes and as text', () => {
    refuses('JSON_MALFORMED', '\ufeff{}')
    expect(outcomeOf(() => parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)))).toBe('JSON_MALFORMED')
  })

  it('keeps a byte-order mark inside a string', () => {
    expect(parseJson(utf8('"\ufeffa"'))).toBe('\ufeffa')
  })

  it('reads characters of one to four bytes', () => {
    accepts('"aé€😂"', '{"é€😂":"\u07ff\u0800\uffff"}')
  })

  it('refuses overlong encodings', () => {
    refusesBytes('JSON_NOT_UTF8', 0xc0, 0x80)
    refusesBytes('JSON_NOT_UTF8', 0xc0, 0xaf)
    refusesBytes('JSON_NOT_UTF8', 0xc1, 0x81)
    refusesBytes('JSON_NOT_UTF8', 0xe0, 0x80, 0xaf)
    refusesBytes('JSON_NOT_UTF8', 0xe0, 0x9f, 0xbf)
    refusesBytes('JSON_NOT_UTF8', 0xf0, 0x80, 0x80, 0xaf)
    refusesBytes('JSON_NOT_UTF8', 0xf0, 0x8f, 0xbf, 0xbf)
  })

  it('refuses surrogates in UTF-8', () => {
    refusesBytes('JSON_NOT_UTF8', 0xed, 0xa0, 0x80)
    refusesBytes('JSON_NOT_UTF8', 0xed, 0xbf, 0xbf)
    refusesBytes('JSON_NOT_UTF8', 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x82)
  })

  it('refuses code points beyond Unicode and bytes that UTF-8 never has', () => {
    refusesBytes('JSON_NOT_UTF8', 0xf4, 0x90, 0x80, 0x80)
    for (const byte of [0xf5, 0xf8, 0xfc, 0xfe, 0xff]) refusesBytes('JSON_NOT_UTF8', byte, 0x80, 0x80, 0x80)
  })

  it('refuses continuation bytes out of place', () => {
    refusesBytes('JSON_NOT_UTF8', 0x80)
    refusesBytes('JSON_NOT_UTF8', 0xbf, 0xbf)
    refusesBytes('JSON_NOT_UTF8', 0xe2, 0x82)
    refusesBytes('JSON_NOT_UTF8', 0xe2, 0x28, 0xa1)
    refusesBytes('JSON_NOT_UTF8', 0xf0, 0x9f, 0x98)
  })
})

describe('strings', () => {
  it('reads every escape', () => {
    expect(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u00E9\\ud83d\\ude02"')).toBe(
      '"\\/\b\f\n\r\tAéé😂',
    )
    accepts('"\\u0000\\u001f"', '{"\\u0061\\n":"\\/"}')
  })

  it('reads long runs of escapes like `JSON.parse`, at any position', () => {
    for (const run of ['\\n', '\\u0041', '\\ud83d\\ude02', 'a\\"', '\\\\', 'é\\/b']) {
      accepts(`"${run.repeat(5000)}"`, `"x${run.repeat(999)}y"`, `{"${run.repeat(99)}":"${run}"}`)
      refuses('JSON_MALFORMED', `"${run.repeat(999)}`, `"${run.repeat(999)}\\q"`, `"${run.repeat(999)}\n"`)
    }
  })

  it('refuses escapes that JSON does not have', () => {
    refuses('JSON_MALFORMED', '"\\x41"', '"\\\'"', '"\\0"', '"\\a"', '"\\U0041"', '"\\ "', '"\\\n"', '"\\é"')
    refuses('JSON_MALFORMED', '"\\u"', '"\\u1"', '"\\u12"', '"\\u123"', '"\\u123g"', '"\\u+123"', '"\\u 123"')
    refuses('JSON_MALFORMED', '"\\u12', '"\\u', '"\\', '"\\u00\\u0041"', '"\\u{41}"', '"\\u００４１"')
  })

  it('refuses each raw control character, in keys and in values', () => {
    for (let code = 0; code < 0x20; code++) {
      const character = String.fromCharCode(code)
      refuses('JSON_MALFORMED', `"a${character}b"`, `{"${character}":1}`)
      expect(parseJson(`"\\u${code.toString(16).padStart(4, '0')}"`)).toBe(character)
    }
  })

  it('keeps DEL, C1 controls, line separators and noncharacters as they are', () => {
    accepts('"\u007f\u0080\u009f\u2028\u2029\ufffe\uffff"')
  })

  it('refuses half of a surrogate pair, raw or escaped, in keys and in values', () => {
    for (const half of ['\ud800', '\udbff', '\udc00', '\udfff', '\ude02\ud83d', '\ud83d\ud83d', '\ud83d😂'])
      refuses('JSON_LONE_SURROGATE', `"${half}"`, `{"${half}":1}`, `["x${half}y"]`)
    for (const half of [
      '\\ud800',
      '\\uDBFF',
      '\\udc00',
      '\\ude02\\ud83d',
      '\\ud83d\\ud83d',
      '\\ud83dx\\ude02',
    ])
      refuses('JSON_LONE_SURROGATE', `"${half}"`, `{"${half}":1}`)
  })

  it('refuses a surrogate pair with one raw and one escaped half', () => {
    refuses('JSON_LONE_SURROGATE', '"\ud83d\\ude02"', '"\\ud83d\ude02"')
  })
})

describe('keys', () => {
  it('refuses a duplicate key with any value at any depth', () => {
    refuses(
      'JSON_DUPLICATE_KEY',
      '{"a":1,"a":2}',
      '{"a":1,"b":2,"a":1}',
      '[[{"x":{"a":null,"a":null}}]]',
      '{"":1,"":2}',
    )
  })

  it('refuses a duplicate key written with an escape', () => {
    refuses('JSON_DUPLICATE_KEY', '{"a":1,"\\u0061":2}', '{"a/b":1,"a\\/b":2}', '{"\\n":1,"\\u000a":2}')
    refuses('JSON_DUPLICATE_KEY', '{"😂":1,"\\ud83d\\ude02":2}', '{"\\u00e9":1,"\\u00E9":2}')
  })

  it('refuses duplicates of keys that objects usually inherit', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'toJSON', 'hasOwnProperty'])
      refuses('JSON_DUPLICATE_KEY', `{"${key}":1,"${key}":2}`)
  })

  it('refuses a duplicate key before it reads the value', () => {
    refuses('JSON_DUPLICATE_KEY', '{"a":1,"a":oops')
  })

  it('treats look-alike keys as different', () => {
    accepts(
      '{"a":1,"A":2}',
      '{"é":1,"e\u0301":2}',
      '{"a":{"a":{"a":1}}}',
      '[{"a":1},{"a":1}]',
      '{"1":1,"1.0":2,"01":3}',
    )
  })

  it('treats keys of any name as plain data', () => {
    for (const key of [
      '__proto__',
      'constructor',
      'toJSON',
      'toString',
      'valueOf',
      'hasOwnProperty',
      'then',
      '',
    ]) {
      const value = parseJson(`{"${key}":{"admin":true}}`) as JsonObject
      expect(Object.keys(value)).toEqual([key])
      expect(Object.getPrototypeOf(value)).toBe(DATA_PROTOTYPE)
      expect(canonicalize(value)).toBe(`{"${key}":{"admin":true}}`)
    }
  })

  it('lets no key reach a prototype', () => {
    const value = parseJson(
      '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
    ) as JsonObject
    expect(value.admin).toBeUndefined()
    expect('toString' in value).toBe(false)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
    expect(Reflect.ownKeys(DATA_PROTOTYPE)).toEqual([])
    expect(Object.getPrototypeOf(DATA_PROTOTYPE)).toBeNull()
    expect(Object.isFrozen(DATA_PROTOTYPE)).toBe(true)
  })
})

describe('numbers', () => {
  it('reads whole numbers, fractions and exponents', () => {
    accepts(
      '0',
      '1',
      '-1',
      '1234567890',
      '0.5',
      '-0.5',
      '1.25',
      '1e3',
      '1E3',
      '1e+3',
      '1e-3',
      '-1.5E-10',
      '10e0',
    )
    accepts('1e1', '123.456e2', '0e0', '0.0', '0e+5', '1.10', '100e-2')
  })

  it('refuses forms that JSON does not have', () => {
    refuses(
      'JSON_MALFORMED',
      '01',
      '00',
      '+1',
      '-',
      '--1',
      '.5',
      '-.5',
      '1.',
      '1.e3',
      '1e',
      '1e+',
      '1e-',
      'e3',
    )
    refuses(
      'JSON_MALFORMED',
      '0x10',
      '0b1',
      '0o7',
      '1_000',
      '1,5',
      '1n',
      '1.2.3',
      '1e2e3',
      '1e2.5',
      '-Infinity',
      '１',
      '²',
    )
  })

  it('accepts whole numbers up to 2^53-1 and refuses those beyond', () => {
    accepts('9007199254740991', '-9007199254740991', '9007199254740991.0', '9007199254740991e0')
    refuses(
      'JSON_NUMBER_REFUSED',
      '9007199254740992',
      '-9007199254740992',
      '9007199254740993',
      '18446744073709551615',
    )
    refuses('JSON_NUMBER_REFUSED', '1e-400', '0.1e-400', '-1e-400')
    refuses('JSON_NUMBER_REFUSED', '9007199254740992.0', '9007199254740992.5', '9.007199254740992e15', '1e20')
    refuses('JSON_NUMBER_REFUSED', '900719925474099.3e1', '90071992547409930e-1')
    refuses('JSON_NUMBER_REFUSED', '100000000000000000000', '999999999999999900000', '-1e20', '0.1e17')
  })

  it('accepts numbers from 1e21 on that have an exponent and lose no digit', () => {
    accepts('1e21', '-1e21', '1E+21', '1e30', '1e23', '1.0E21', '10e20', '0.1e22', '0.01e23')
    accepts('1.7976931348623157e308', '-1.7976931348623157e308', '17976931348623157e292', '1234567e20')
  })

  it('refuses every whole number from 1e21 on without an exponent', () => {
    refuses('JSON_NUMBER_REFUSED', '1000000000000000000000', '-1000000000000000000000')
    refuses('JSON_NUMBER_REFUSED', '1000000000000000000000001', '10000000000000000000000.0')
    refuses('JSON_NUMBER_REFUSED', '{"id":123456789012345678901234567890}', `9${'0'.repeat(307)}`)
    for (let power = 53; power < 1024; power += 7) refuses('JSON_NUMBER_REFUSED', String(2n ** BigInt(power)))
  })

  it('refuses a number with an exponent that binary64 rounds', () => {
    refuses('JSON_NUMBER_REFUSED', '1000000000000000000000001e0', '1.000000000000000000000001e24')
    refuses(
      'JSON_NUMBER_REFUSED',
      '1234567890123456789e5',
      '1.7976931348623158e308',
      '99999999999999991611392e0',
    )
    refuses(
      'JSON_NUMBER_REFUSED',
      `1${'0'.repeat(64)}e0`,
      `1.${'0'.repeat(64)}e30`,
      `0.${'0'.repeat(99)}1e200`,
    )
  })

  it('reads every number from 1e21 on in the form that ECMAScript writes', () => {
    const large = fc.double({ min: 1e21, max: Number.MAX_VALUE, noNaN: true })
    fc.assert(
      fc.property(large, fc.boolean(), (size, negative) => {
        const text = String(negative ? -size : size)
        for (const spelled of [text, text.toUpperCase(), text.replace('e+', 'e')]) accepts(spelled)
      }),
      { seed: 3, numRuns: runs(500) },
    )
  })

  it('reads a fraction of any length as the nearest binary64', () => {
    accepts(
      '0.1000000000000000055511151231257827',
      '0.30000000000000004',
      '4503599627370497.5',
      '1.00000000000000000001',
    )
    accepts(`0.${'123456789'.repeat(1000)}`, '9007199254740990.9')
  })

  it('refuses numbers beyond binary64', () => {
    refuses(
      'JSON_NUMBER_REFUSED',
      '1e309',
      '1e400',
      '-1e400',
      '1.8e308',
      `1${'0'.repeat(400)}`,
      '1e99999999999999999999',
    )
  })

  it('refuses minus zero in every form', () => {
    refuses('JSON_NUMBER_REFUSED', '-0', '-0.0', '-0e0', '-0.000e-5', '-0E+9', '[-0]', '-1e-400', '-0.0e400')
  })

  it('reads the smallest numbers', () => {
    accepts('5e-324', '-5e-324', '2.2250738585072014e-308', '1e-7', '0.000001')
  })

  it('recognises the numbers that it can return', () => {
    for (const number of [0, 1, -1, 0.5, 2 ** 53 - 1, 1 - 2 ** 53, 1e21, 1e30, 1e300, 5e-324, -1e21])
      expect(isJsonNumber(number), String(number)).toBe(true)
    for (const number of [
      -0,
      NaN,
      Infinity,
      -Infinity,
      2 ** 53,
      -(2 ** 53),
      2 ** 53 + 2,
      1e20,
      999999999999999900000,
    ])
      expect(isJsonNumber(number), String(number)).toBe(false)
  })
})

describe('properties', () => {
  it('reads what `JSON.stringify` writes', () => {
    let accepted = 0
    const check = (value: unknown): void => {
      const text = JSON.stringify(value)
      const outcome = outcomeOf(() => parseJson(text))
      if (outcome === 'accepted') {
        accepted++
        // `JSON.stringify` writes -0 as 0.
        expect(parseJson(text)).toEqual(JSON.parse(text))
      } else expect(outcome).toBe('JSON_NUMBER_REFUSED')
    }
    fc.assert(fc.property(fc.jsonValue({ stringUnit: 'binary' }), check), { seed: 1, numRuns: runs(3000) })
    expect(accepted).toBeGreaterThan(runs(1000))
  })

  it('accepts nothing that `JSON.parse` refuses, and reads the same values', () => {
    const seen = { accepted: 0, refused: 0 }
    const check = (text: string): void => {
      if (outcomeOf(() => parseJson(text)) !== 'accepted') {
        seen.refused++
        return
      }
      seen.accepted++
      expect(canonicalize(parseJson(text))).toBe(canonicalize(JSON.parse(text)))
    }
    fc.assert(fc.property(mutatedJson(), check), { seed: 2, numRuns: runs(20_000) })
    expect(seen.accepted).toBeGreaterThan(runs(2000))
    expect(seen.refused).toBeGreaterThan(runs(2000))
  })
})

/** JSON texts with a few characters inserted, removed or replaced: many still JSON, many nearly. */
function mutatedJson(): fc.Arbitrary<string> {
  const snippet = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n', '0', '1', '-', '.', 'e', 'E', '+', 'u', 'null'],
    ...[
      '"a":1,',
      '\\u0061',
      '\\ud83d',
      '\\"',
      '\t',
      '\u0000',
      '\u00a0',
      '-0',
      '1e400',
      '9007199254740993',
      'true',
    ],
  )
  const edit = fc.record({ at: fc.nat(), remove: fc.integer({ min: 0, max: 2 }), insert: snippet })
  const layout = fc.constantFrom(undefined, 1, '\t')
  return fc.tuple(fc.jsonValue(), layout, fc.array(edit, { maxLength: 3 })).map(([value, space, edits]) =>
    edits.reduce(
      (text, { at, remove, insert }) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + insert + text.slice(start + remove)
      },
      JSON.stringify(value, undefined, space),
    ),
  )
}

describe('vectors', () => {
  const vectors = readVectors('json')

  it('has its vectors', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(60)
  })

  it.each(vectors)('$name', ({ header, document }) => {
    expect(Object.keys(header)).toEqual(['about', 'expect'])
    if (header.expect !== 'accept') {
      expect(outcomeOf(() => parseJson(document))).toBe(header.expect)
    } else {
      const engine: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(document))
      expect(canonicalize(parseJson(document))).toBe(canonicalize(engine))
    }
  })
})

describe('copying a value', () => {
  const codeOf = (value: unknown): string => outcomeOf(() => copyJson(value))

  it('returns the same as the parser and shares no part', () => {
    const value = { b: [1, { c: 'x' }], a: null, __proto__: undefined as unknown }
    Object.defineProperty(value, '__proto__', { value: 'data', enumerable: true })
    const copied = copyJson(value)
    expect(canonicalize(copied)).toBe('{"__proto__":"data","a":null,"b":[1,{"c":"x"}]}')
    expect(Object.getPrototypeOf(copied)).toBe(Object.getPrototypeOf(parseJson('{}')))
    value.b.push(2)
    expect(canonicalize(copied)).toBe('{"__proto__":"data","a":null,"b":[1,{"c":"x"}]}')
  })

  it('reads each member once', () => {
    let reads = 0
    const shifty = Object.defineProperty({}, 'a', { enumerable: true, get: () => reads++ })
    expect([canonicalize(copyJson(shifty)), reads]).toEqual(['{"a":0}', 1])
  })

  it('refuses anything but plain data', () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    const named = Object.assign([1], { extra: 1 })
    for (const value of [undefined, 1n, () => 1, Symbol('s'), new Date(0), new Map(), named, [undefined]]) {
      expect(codeOf(value)).toBe('VALUE_NOT_JSON')
    }
    expect(codeOf({ [Symbol('s')]: 1 })).toBe('VALUE_NOT_JSON')
    expect(codeOf([1, , 2])).toBe('VALUE_NOT_JSON')
    expect(codeOf(cyclic)).toBe('JSON_TOO_DEEP')
    const shared = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, inner], [])
    expect(codeOf(shared)).toBe('JSON_TOO_MANY_VALUES')
    expect(codeOf(Array.from({ length: MAX_VALUES - 1 }, () => 1))).toBe('accepted')
    expect(codeOf(Array.from({ length: MAX_VALUES }, () => 1))).toBe('JSON_TOO_MANY_VALUES')
    expect(codeOf(new (class extends Array<number> {})())).toBe('VALUE_NOT_JSON')
  })

  it('gives a copy with the same canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const code = outcomeOf(() => canonicalize(value))
        expect(outcomeOf(() => canonicalize(copyJson(value)))).toBe(code)
        if (code === 'accepted') expect(canonicalize(copyJson(value))).toBe(canonicalize(value))
      }),
    )
  })
})
