import { parseJson, type Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { compileSchema, problemsInSchema } from '../../../src/gates/schema/schema.ts'

/** Refused for exactly these problems, in a review and when compiled. */
function refuses(schema: Json, ...problems: string[]): void {
  expect(problemsInSchema(schema)).toEqual(problems)
  const message = `the schema cannot be used: ${problems.join('; ')}`
  expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: 'SCHEMA_REFUSED', message }))
}

/** What is said of arguments, and that it took no longer than a call may wait. */
function checkQuickly(schema: Json, args: Json): string {
  const compiled = compileSchema(schema)
  const start = performance.now()
  const problem = compiled.check(args)
  expect(performance.now() - start).toBeLessThan(40_000)
  return problem === undefined ? 'fits' : `${problem.at} ${problem.problem}`.trim()
}

const TOO_MUCH = 'cannot be checked with a reasonable amount of work'
const nest = (levels: number, wrap: (inner: Json) => Json, inner: Json): Json =>
  levels === 0 ? inner : wrap(nest(levels - 1, wrap, inner))
const chain = (length: number, link: (next: string) => Json): Json =>
  Object.fromEntries(
    Array.from({ length }, (_, i) => [`d${i}`, i + 1 < length ? link(`#/$defs/d${i + 1}`) : true]),
  )

describe('a schema is refused', () => {
  test.each<[string, Json, string]>([
    [
      'that is not an object',
      true,
      'the schema is not an object; a tool describes its arguments with an object',
    ],
    [
      'that nests too deep',
      nest(17, (items) => ({ items: [items] }), {}),
      'the schema nests deeper than 32 levels',
    ],
    [
      'that is too long',
      { description: 'x'.repeat(70_000) },
      'the schema is longer than 65536 characters, or has no canonical form',
    ],
    [
      'with too many subschemas',
      { properties: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`p${i}`, {}])) },
      'the schema has more than 2000 subschemas',
    ],
    [
      'of draft-04',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      '`/$schema` names a dialect that is not known here; accepted are draft-06, draft-07, 2019-09 and 2020-12',
    ],
    [
      'with words of a later dialect',
      { $schema: 'http://json-schema.org/draft-07/schema#', unevaluatedProperties: false },
      '`/unevaluatedProperties` is not a keyword of the dialect that `$schema` names',
    ],
    [
      'that loads another',
      { properties: { a: { $ref: 'https://evil.test/s.json' } } },
      '`/properties/a/$ref` leads out of the schema: `https://evil.test/s.json`; only `#` and `#/…` are followed',
    ],
    [
      'that refers to a file',
      { $ref: 'other.json#/a' },
      '`/$ref` leads out of the schema: `other.json#/a`; only `#` and `#/…` are followed',
    ],
    [
      'that refers to an anchor',
      { $ref: '#a', $defs: { a: { $anchor: 'a' } } },
      '`/$ref` leads out of the schema: `#a`; only `#` and `#/…` are followed',
    ],
    [
      'that refers to nothing',
      { $ref: '#/$defs/a' },
      '`/$ref` leads nowhere: `#/$defs/a`; only `#` and `#/…` are followed',
    ],
    [
      'that refers to what a prototype holds',
      { $ref: '#/constructor' },
      '`/$ref` leads nowhere: `#/constructor`; only `#` and `#/…` are followed',
    ],
    ['that refers to a text', { title: 'x', $ref: '#/title' }, '`/title` is not a schema'],
    [
      'with a dynamic reference',
      { $dynamicRef: '#a' },
      '`/$dynamicRef` is not supported; a `$ref` within the schema is',
    ],
    [
      'with a recursive reference',
      { items: { $recursiveRef: '#' } },
      '`/items/$recursiveRef` is not supported; a `$ref` within the schema is',
    ],
    ['with a name inside', { items: { $id: 'b' } }, '`/items` has an `$id`; only the root may have one'],
    [
      'that is itself',
      { $ref: '#' },
      'the root of the schema comes back to itself without going into the value',
    ],
    [
      'that is part of itself',
      { allOf: [{ $ref: '#' }] },
      'the root of the schema comes back to itself without going into the value',
    ],
    [
      'that comes back over two steps',
      {
        properties: { a: { $ref: '#/$defs/x' } },
        $defs: { x: { not: { $ref: '#/$defs/y' } }, y: { if: { $ref: '#/$defs/x' } } },
      },
      '`/$defs/x` comes back to itself without going into the value',
    ],
    [
      'that doubles on the way',
      { $ref: '#/$defs/d0', $defs: chain(16, ($ref) => ({ allOf: [{ $ref }, { $ref }] })) },
      'the root of the schema unfolds to more than 10000 subschemas for one value',
    ],
    [
      'with an unknown format',
      { format: 'x-secret' },
      '`/format` names a format that is not known here, `x-secret`',
    ],
    ['with data for a number', { maximum: { $data: '1/a' } }, '`/maximum` must be a number'],
    ['with the flags of draft-04', { exclusiveMinimum: true }, '`/exclusiveMinimum` must be a number'],
    [
      'with the flags of draft-03',
      { properties: { a: { required: true } } },
      '`/properties/a/required` must be a list of names',
    ],
    ['with an unknown type', { type: 'any' }, '`/type` must be one of the seven types, or a list of them'],
    ['with a step of zero', { multipleOf: 0 }, '`/multipleOf` must be a number above zero'],
    ['with a negative count', { minLength: -1 }, '`/minLength` must be a whole number from zero'],
    ['with no alternative', { anyOf: [] }, '`/anyOf` must be a list of schemas'],
    ['with a text for a schema', { properties: { a: 'string' } }, '`/properties/a` is not a schema'],
    [
      'with two tuples',
      { prefixItems: [true], items: [true] },
      'the root of the schema has two lists of items, `prefixItems` and `items`',
    ],
  ])('%s', (_name, schema, problem) => {
    refuses(schema, problem)
  })

  test('for all its problems at once', () => {
    refuses(
      { type: 'any', properties: { a: { pattern: '(?=a)' }, b: { $ref: 'x' } } },
      '`/type` must be one of the seven types, or a list of them',
      '`/properties/a/pattern` looks ahead or behind, which needs more than linear time',
      '`/properties/b/$ref` leads out of the schema: `x`; only `#` and `#/…` are followed',
    )
  })

  test('for twenty problems at most', () => {
    const problems = problemsInSchema({ allOf: Array.from({ length: 30 }, () => ({ type: 'x' })) })
    expect(problems).toHaveLength(21)
    expect(problems[20]).toBe('and 10 more problems')
  })

  test('in words that disturb no screen', () => {
    const [problem] = problemsInSchema({ properties: { ['\u001b[2J\u202e' + 'x'.repeat(100)]: { type: 1 } } })
    expect(problem).toMatch(/^`\/properties\/\ufffd\[2J\ufffdx{59}…\/type` must be/)
  })

  test('only for what is used: unused definitions and vendor keywords do not matter', () => {
    const schema = {
      $defs: { unused: { $ref: 'http://x' } },
      'x-a': { type: 'x' },
      $async: true,
      nullable: 5,
      $anchor: 'a',
    }
    expect(problemsInSchema(schema)).toEqual([])
  })
})

describe('patterns', () => {
  const ecmascript = (pattern: string): RegExp => {
    try {
      return new RegExp(pattern, 'u')
    } catch {
      return new RegExp(pattern) // what the flag forbids is read the old way
    }
  }

  test.each<[string, string, boolean]>([
    ['^\\d+$', '12', true],
    ['^\\d+$', '١٢', false],
    ['^a$', 'a\n', false],
    ['^.$', '😀', true],
    ['^.$', '\u2028', false],
    ['^\\p{L}+$', 'éλ', true],
    ['^\\p{Letter}$', 'é', true],
    ['^\\p{Script=Greek}$', 'λ', true],
    ['^\\/a\\-b$', '/a-b', true],
    ['^\\u0041\\x42\\u{43}\\cJ$', 'ABC\n', true],
    ['^\\ud83d\\ude00$', '😀', true],
    ['^[\\s]\\s$', '\u00a0\ufeff', true],
    ['^[^\\s]\\S$', 'a\u00a0', false],
    ['^[\\S]$', '\u00a0', false],
    ['^[^]$', '\n', true],
    ['[]', 'a', false],
    ['^[[:a]$', '[', true],
    ['^[\\w.-]+$', 'a.b-c', true],
    ['^[\\b]$', '\b', true],
    ['^(?<year>\\d{4})-(?:\\d\\d)$', '2024-01', true],
    ['^{a}$', '{a}', true],
    ['b', 'abc', true],
  ])('%s on %j: %s', (pattern, text, expected) => {
    const schema = compileSchema({ properties: { v: { pattern } } })
    expect(schema.check({ v: text }) === undefined).toBe(expected)
    expect(ecmascript(pattern).test(text)).toBe(expected)
  })

  const LINEAR = 'which needs more than linear time'
  const BROKEN = 'is not a regular expression, or one that cannot be matched in linear time'
  test.each([
    ['(?=a)', `looks ahead or behind, ${LINEAR}`],
    ['(?<!a)b', `looks ahead or behind, ${LINEAR}`],
    ['(a)\\1', `refers back to a group, ${LINEAR}`],
    ['(?<n>a)\\k<n>', `refers back to a group, ${LINEAR}`],
    ['(?i)a', 'has a kind of group that ECMAScript does not know'],
    ['\\Aa\\Z', 'has an escape that ECMAScript does not know'],
    ['\\ud83d', 'escapes what is not a character'],
    ['a\\', 'has an escape that ECMAScript does not know'],
    ['[a', 'has a class that does not end'],
    ['(', BROKEN],
    [')', BROKEN],
    ['[z-a]', BROKEN],
    ['a{1001}', BROKEN],
    ['a++', BROKEN],
    ['a'.repeat(1001), 'is longer than 1000 characters'],
    [`(${'a'.repeat(900)}){1000}`, 'repeats too much (more than 2500 steps when written out)'],
    ['((a{20}){20}){20}', 'repeats too much (more than 2500 steps when written out)'],
  ])('%s is refused', (pattern, problem) => {
    refuses({ pattern }, `\`/pattern\` ${problem}`)
  })

  test('are limited together', () => {
    const anyOf = Array.from({ length: 40 }, (_, i) => ({ pattern: `${i}[a-z]{1,900}` }))
    const start = performance.now()
    refuses({ anyOf }, 'the patterns of the schema are too large together')
    const classes = Array.from({ length: 1000 }, (_, i) => ({ pattern: `${i}\\p{L}` }))
    refuses({ anyOf: classes }, 'the patterns of the schema are too large together')
    expect(performance.now() - start).toBeLessThan(40_000)
  })

  test('take linear time', () => {
    const text = 'a'.repeat(50_000) + 'b'
    const problem = 'does not match the pattern of the schema'
    expect(checkQuickly({ properties: { v: { pattern: '^(a+)+$' } } }, { v: text })).toBe(`/v ${problem}`)
    expect(
      checkQuickly({ patternProperties: { '^(a+)+$': true }, additionalProperties: false }, { [text]: 1 }),
    ).toBe('has a property that the schema does not name')
  })

  test('that are large are not tried on long texts', () => {
    const schema = { properties: { v: { pattern: '(a?){500}a{500}' } } }
    expect(checkQuickly(schema, { v: 'a'.repeat(499) })).toBe('/v does not match the pattern of the schema')
    expect(checkQuickly(schema, { v: 'a'.repeat(100_000) })).toBe(TOO_MUCH)
  })
})

describe('work is bounded', () => {
  const list = (length: number, item: (i: number) => Json): Json => Array.from({ length }, (_, i) => item(i))

  test('where a recursive schema doubles with each level of the value', () => {
    const both = { properties: { a: { $ref: '#' } } }
    const deep = (levels: number): Json => nest(levels, (a) => ({ a }), {})
    expect(checkQuickly({ allOf: [both, both] }, deep(8))).toBe('fits')
    expect(checkQuickly({ allOf: [both, { ...both }] }, deep(60))).toBe(TOO_MUCH)
  })

  test('where every item must be unlike all others', () => {
    const schema = { properties: { v: { uniqueItems: true } } }
    expect(checkQuickly(schema, { v: list(100_000, (i) => ({ i })) })).toBe('fits')
    expect(checkQuickly(schema, { v: [...(list(50_000, (i) => [i]) as Json[]), [7]] })).toBe(
      '/v has the same item twice',
    )
  })

  test('where many subschemas look at many values', () => {
    const schema = {
      properties: { v: { items: { allOf: list(900, (i) => ({ not: { const: `x${i}` } })) } } },
    }
    expect(checkQuickly(schema, { v: list(500, () => 1) })).toBe('fits')
    expect(checkQuickly(schema, { v: list(100_000, () => 1) })).toBe(TOO_MUCH)
  })

  test('where many subschemas look at one long text or at many names', () => {
    const all = (node: Json): Json => ({
      properties: { v: { allOf: list(1500, () => ({ ...(node as object) })) } },
    })
    expect(checkQuickly(all({ maxLength: 2_000_000 }), { v: 'a'.repeat(1_000_000) })).toBe(TOO_MUCH)
    const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`n${i}`, 1]))
    expect(checkQuickly(all({ additionalProperties: { type: 'number' } }), { v: names })).toBe(TOO_MUCH)
  })

  test('where one value has many errors in many alternatives', () => {
    const item = {
      anyOf: list(200, (i) => ({ properties: { [`k${i}`]: { type: 'string' } }, required: [`k${i}`] })),
    }
    expect(checkQuickly({ properties: { v: { items: item } } }, { v: list(50_000, () => ({})) })).toBe(
      '/v/0 fits none of the alternatives',
    )
  })

  test('but not so that large honest arguments are refused', () => {
    const row = {
      properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 40 } },
      required: ['id'],
    }
    const args = { rows: list(25_000, (i) => ({ id: i, name: `a row with the number ${i}` })) }
    expect(checkQuickly({ properties: { rows: { items: row } } }, args)).toBe('fits')
    const text = { properties: { content: { type: 'string', pattern: '^[\\s\\S]*$', minLength: 1 } } }
    expect(checkQuickly(text, { content: 'x'.repeat(1_000_000) })).toBe('fits')
  })

  test('and long chains of references do not exhaust the stack', () => {
    const inPlace = { $ref: '#/$defs/d0', $defs: chain(900, ($ref) => ({ $ref })) }
    expect(problemsInSchema(inPlace)).toHaveLength(1)
    const down = { $ref: '#/$defs/d0', $defs: chain(900, ($ref) => ({ properties: { a: { $ref } } })) }
    expect(
      checkQuickly(
        down,
        nest(60, (a) => ({ a }), {}),
      ),
    ).toBe('fits')
  })

  test('recursive data fits as deep as the parser goes', () => {
    const tree = { properties: { value: { type: 'number' }, next: { $ref: '#' } } }
    expect(
      checkQuickly(
        tree,
        nest(63, (next) => ({ value: 1, next }), { value: 1 }),
      ),
    ).toBe('fits')
    expect(
      checkQuickly(
        tree,
        nest(63, (next) => ({ value: 1, next }), { value: 's' }),
      ),
    ).toBe(`${'/next'.repeat(63)}/value must be a number`)
  })
})

describe('texts of the schema are data', () => {
  const NAMES = [
    '"',
    "'",
    '`',
    '\\',
    '\n',
    '${x}',
    '\u2028',
    '*/',
    '//',
    '</script>',
    "');throw 1;('",
    '~',
    '',
    'é😀',
  ]

  test.each(NAMES)('%j is a name, a value and a pattern like any other', (text) => {
    const object = (value: Json): Json => parseJson(JSON.stringify({ [text]: value }))
    const schema = compileSchema({
      properties: { [text]: { enum: [text, { [text]: text }] } },
      required: [text],
    })
    expect(schema.check(object(text))).toBeUndefined()
    expect(schema.check(object({ [text]: text }))).toBeUndefined()
    expect(schema.check(object(`${text}!`))?.problem).toBe('is not one of the values the schema lists')
    expect(schema.check({})?.problem).toMatch(/^lacks/)
    expect(schema.check({ [`${text}!`]: 1, [text]: text })?.problem).toMatch(/does not name$/)
  })

  test('the same `$id` in two schemas connects nothing', () => {
    const $id = 'https://example.com/tool'
    const first = compileSchema({ $id, properties: { a: { type: 'string' } } })
    const second = compileSchema({ $id, properties: { a: { type: 'number' } } })
    expect([first.check({ a: 's' }), second.check({ a: 1 })]).toEqual([undefined, undefined])
  })
})

test('no text of the caller is in a problem', () => {
  const secret = 'hunter2'
  const schema = compileSchema({
    properties: {
      n: { type: 'number', enum: [1] },
      m: { additionalProperties: { type: 'number' } },
      p: { patternProperties: { '^h': { items: { const: 1 } } } },
      k: { propertyNames: { maxLength: 1 } },
      u: { anyOf: [{ properties: { a: { type: 'string' } } }], unevaluatedProperties: { maxLength: 1 } },
    },
  })
  const cases: Json[] = [
    { n: secret },
    { m: { [secret]: secret } },
    { p: { [secret]: [secret] } },
    { k: { [secret]: 1 } },
    { u: { [secret]: secret } },
    { [secret]: 1 },
  ]
  for (const args of cases) {
    const problem = schema.check(args)
    expect(problem).toBeDefined()
    expect(JSON.stringify(problem)).not.toContain(secret)
  }
})
