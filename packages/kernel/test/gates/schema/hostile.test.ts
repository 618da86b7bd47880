import { parseJson, type Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { compileSchema, problemsInSchema } from '../../../src/gates/schema/schema.ts'

/** Expects that the review and the compiler refuse the schema for exactly these problems. */
function refuses(schema: Json, ...problems: string[]): void {
  expect(problemsInSchema(schema)).toEqual(problems)
  const message = `the schema cannot be used: ${problems.join('; ')}`
  expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: 'SCHEMA_REFUSED', message }))
}

/** Returns the result of a check, and expects that it was fast enough. */
function checkQuickly(schema: Json, args: Json): string {
  const compiled = compileSchema(schema)
  const start = performance.now()
  const problem = compiled.check(args)
  expect(performance.now() - start).toBeLessThan(40_000)
  return problem === undefined ? 'fits' : `${problem.at} ${problem.problem}`.trim()
}

const TOO_MUCH = 'takes too much work to check'
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
      'that is nested too deep',
      nest(17, (items) => ({ items: [items] }), {}),
      'the schema is nested deeper than 32 levels',
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
      '`/$schema` names an unsupported dialect; supported are draft-06, draft-07, 2019-09 and 2020-12',
    ],
    [
      'with keywords of a later dialect',
      { $schema: 'http://json-schema.org/draft-07/schema#', unevaluatedProperties: false },
      '`/unevaluatedProperties` is not a keyword of the dialect in `$schema`',
    ],
    [
      'that refers to a URL',
      { properties: { a: { $ref: 'https://evil.test/s.json' } } },
      '`/properties/a/$ref` refers outside of the schema: `https://evil.test/s.json`; only `#` and `#/…` are supported',
    ],
    [
      'that refers to a file',
      { $ref: 'other.json#/a' },
      '`/$ref` refers outside of the schema: `other.json#/a`; only `#` and `#/…` are supported',
    ],
    [
      'that refers to an anchor',
      { $ref: '#a', $defs: { a: { $anchor: 'a' } } },
      '`/$ref` refers outside of the schema: `#a`; only `#` and `#/…` are supported',
    ],
    [
      'that refers to nothing',
      { $ref: '#/$defs/a' },
      '`/$ref` has no target: `#/$defs/a`; only `#` and `#/…` are supported',
    ],
    [
      'that refers to a member of a prototype',
      { $ref: '#/constructor' },
      '`/$ref` has no target: `#/constructor`; only `#` and `#/…` are supported',
    ],
    ['that refers to a text', { title: 'x', $ref: '#/title' }, '`/title` is not a schema'],
    [
      'with a dynamic reference',
      { $dynamicRef: '#a' },
      '`/$dynamicRef` is not supported; use a `$ref` within the schema',
    ],
    [
      'with a recursive reference',
      { items: { $recursiveRef: '#' } },
      '`/items/$recursiveRef` is not supported; use a `$ref` within the schema',
    ],
    ['with a name inside', { items: { $id: 'b' } }, '`/items` has an `$id`; only the root may have one'],
    ['that refers to itself', { $ref: '#' }, 'the root of the schema refers to itself for the same value'],
    [
      'that contains itself',
      { allOf: [{ $ref: '#' }] },
      'the root of the schema refers to itself for the same value',
    ],
    [
      'that refers to itself over two references',
      {
        properties: { a: { $ref: '#/$defs/x' } },
        $defs: { x: { not: { $ref: '#/$defs/y' } }, y: { if: { $ref: '#/$defs/x' } } },
      },
      '`/$defs/x` refers to itself for the same value',
    ],
    [
      'that doubles with each reference',
      { $ref: '#/$defs/d0', $defs: chain(16, ($ref) => ({ allOf: [{ $ref }, { $ref }] })) },
      'the root of the schema expands to more than 10000 subschemas for one value',
    ],
    ['with an unknown format', { format: 'x-secret' }, '`/format` names an unknown format, `x-secret`'],
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

  test('for all of its problems', () => {
    refuses(
      { type: 'any', properties: { a: { pattern: '(?=a)' }, b: { $ref: 'x' } } },
      '`/type` must be one of the seven types, or a list of them',
      '`/properties/a/pattern` uses lookaround, which needs more than linear time',
      '`/properties/b/$ref` refers outside of the schema: `x`; only `#` and `#/…` are supported',
    )
  })

  test('for at most twenty listed problems', () => {
    const problems = problemsInSchema({ allOf: Array.from({ length: 30 }, () => ({ type: 'x' })) })
    expect(problems).toHaveLength(21)
    expect(problems[20]).toBe('and 10 more problems')
  })

  test('with printable messages', () => {
    const [problem] = problemsInSchema({ properties: { ['\u001b[2J\u202e' + 'x'.repeat(100)]: { type: 1 } } })
    expect(problem).toMatch(/^`\/properties\/\ufffd\[2J\ufffdx{59}…\/type` must be/)
  })

  test('only for parts that are used, not for unused definitions and vendor keywords', () => {
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
      return new RegExp(pattern) // The flag forbids the pattern.
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
  const BROKEN = 'is not a regular expression that can be matched in linear time'
  test.each([
    ['(?=a)', `uses lookaround, ${LINEAR}`],
    ['(?<!a)b', `uses lookaround, ${LINEAR}`],
    ['(a)\\1', `uses a back reference, ${LINEAR}`],
    ['(?<n>a)\\k<n>', `uses a back reference, ${LINEAR}`],
    ['(?i)a', 'has a group that ECMAScript does not support'],
    ['\\Aa\\Z', 'has an escape that ECMAScript does not support'],
    ['\\ud83d', 'has an escape that is not a character'],
    ['a\\', 'has an escape that ECMAScript does not support'],
    ['[a', 'has an unclosed class'],
    ['(', BROKEN],
    [')', BROKEN],
    ['[z-a]', BROKEN],
    ['a{1001}', BROKEN],
    ['a++', BROKEN],
    ['a'.repeat(1001), 'is longer than 1000 characters'],
    [`(${'a'.repeat(900)}){1000}`, 'repeats too much (more than 2500 steps when expanded)'],
    ['((a{20}){20}){20}', 'repeats too much (more than 2500 steps when expanded)'],
  ])('%s is refused', (pattern, problem) => {
    refuses({ pattern }, `\`/pattern\` ${problem}`)
  })

  test('are limited in total', () => {
    const anyOf = Array.from({ length: 40 }, (_, i) => ({ pattern: `${i}[a-z]{1,900}` }))
    const start = performance.now()
    refuses({ anyOf }, 'the patterns of the schema are too large in total')
    const classes = Array.from({ length: 1000 }, (_, i) => ({ pattern: `${i}\\p{L}` }))
    refuses({ anyOf: classes }, 'the patterns of the schema are too large in total')
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

  test('that are large are not run on long texts', () => {
    const schema = { properties: { v: { pattern: '(a?){500}a{500}' } } }
    expect(checkQuickly(schema, { v: 'a'.repeat(499) })).toBe('/v does not match the pattern of the schema')
    expect(checkQuickly(schema, { v: 'a'.repeat(100_000) })).toBe(TOO_MUCH)
  })
})

describe('work is bounded', () => {
  const list = (length: number, item: (i: number) => Json): Json => Array.from({ length }, (_, i) => item(i))

  test('if a recursive schema doubles with each level of the value', () => {
    const both = { properties: { a: { $ref: '#' } } }
    const deep = (levels: number): Json => nest(levels, (a) => ({ a }), {})
    expect(checkQuickly({ allOf: [both, both] }, deep(8))).toBe('fits')
    expect(checkQuickly({ allOf: [both, { ...both }] }, deep(60))).toBe(TOO_MUCH)
  })

  test('if all items must be different', () => {
    const schema = { properties: { v: { uniqueItems: true } } }
    expect(checkQuickly(schema, { v: list(100_000, (i) => ({ i })) })).toBe('fits')
    expect(checkQuickly(schema, { v: [...(list(50_000, (i) => [i]) as Json[]), [7]] })).toBe(
      '/v has the same item twice',
    )
  })

  test('if many subschemas check many values', () => {
    const schema = {
      properties: { v: { items: { allOf: list(900, (i) => ({ not: { const: `x${i}` } })) } } },
    }
    expect(checkQuickly(schema, { v: list(500, () => 1) })).toBe('fits')
    expect(checkQuickly(schema, { v: list(100_000, () => 1) })).toBe(TOO_MUCH)
  })

  test('if many subschemas check one long text or many names', () => {
    const all = (node: Json): Json => ({
      properties: { v: { allOf: list(1500, () => ({ ...(node as object) })) } },
    })
    expect(checkQuickly(all({ maxLength: 2_000_000 }), { v: 'a'.repeat(1_000_000) })).toBe(TOO_MUCH)
    const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`n${i}`, 1]))
    expect(checkQuickly(all({ additionalProperties: { type: 'number' } }), { v: names })).toBe(TOO_MUCH)
  })

  test('if one value has many problems in many alternatives', () => {
    const item = {
      anyOf: list(200, (i) => ({ properties: { [`k${i}`]: { type: 'string' } }, required: [`k${i}`] })),
    }
    expect(checkQuickly({ properties: { v: { items: item } } }, { v: list(50_000, () => ({})) })).toBe(
      '/v/0 matches none of the alternatives',
    )
  })

  test('but large valid arguments are accepted', () => {
    const row = {
      properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 40 } },
      required: ['id'],
    }
    const args = { rows: list(25_000, (i) => ({ id: i, name: `a row with the number ${i}` })) }
    expect(checkQuickly({ properties: { rows: { items: row } } }, args)).toBe('fits')
    const text = { properties: { content: { type: 'string', pattern: '^[\\s\\S]*$', minLength: 1 } } }
    expect(checkQuickly(text, { content: 'x'.repeat(1_000_000) })).toBe('fits')
  })

  test('for long chains of references, without a stack overflow', () => {
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

  test('for recursive data up to the depth limit of the parser', () => {
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

describe('text of the schema is data', () => {
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

  test.each(NAMES)('%j is an ordinary name, value and pattern', (text) => {
    const object = (value: Json): Json => parseJson(JSON.stringify({ [text]: value }))
    const schema = compileSchema({
      properties: { [text]: { enum: [text, { [text]: text }] } },
      required: [text],
    })
    expect(schema.check(object(text))).toBeUndefined()
    expect(schema.check(object({ [text]: text }))).toBeUndefined()
    expect(schema.check(object(`${text}!`))?.problem).toBe('is not one of the values that the schema allows')
    expect(schema.check({})?.problem).toMatch(/^lacks/)
    expect(schema.check({ [`${text}!`]: 1, [text]: text })?.problem).toMatch(/does not name$/)
  })

  test('the same `$id` in two schemas has no effect', () => {
    const $id = 'https://example.com/tool'
    const first = compileSchema({ $id, properties: { a: { type: 'string' } } })
    const second = compileSchema({ $id, properties: { a: { type: 'number' } } })
    expect([first.check({ a: 's' }), second.check({ a: 1 })]).toEqual([undefined, undefined])
  })
})

test('a problem contains no text of the caller', () => {
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
