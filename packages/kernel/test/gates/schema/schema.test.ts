import { parseJson, type Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../../src/gates/schema/schema.ts'

/** Returns `fits`, or `<pointer> <problem>`. Parses both with the strict parser, as in production. */
function check(schema: Json, args: Json): string {
  const problem = compileSchema(strict(schema)).check(strict(args))
  return problem === undefined ? 'fits' : `${problem.at} ${problem.problem}`.trim()
}

function strict(value: Json): Json {
  return parseJson(JSON.stringify(value))
}

/** Like `check`, for a single argument `v`. */
function checkValue(schema: Json, value: Json, root: Record<string, Json> = {}): string {
  return check({ type: 'object', properties: { v: schema }, ...root }, { v: value }).replace(/^\/v /, '')
}

const UNNAMED = 'has a property that the schema does not name'
const NONE = 'matches none of the alternatives'

describe('keywords', () => {
  test.each<[Json, Json, string]>([
    [{ type: 'string' }, 'a', 'fits'],
    [{ type: 'string' }, 1, 'must be a string'],
    [{ type: 'integer' }, 1.0, 'fits'],
    [{ type: 'integer' }, '1', 'must be a whole number'],
    [{ type: 'integer' }, 1.5, 'must be a whole number'],
    [{ type: ['string', 'null'] }, null, 'fits'],
    [{ type: ['string', 'null'] }, 0, 'must be a string or null'],
    [{ type: 'array' }, {}, 'must be an array'],
    [{ type: 'object' }, [], 'must be an object'],
    [{ enum: ['a', 1, null, { b: [1] }] }, { b: [1] }, 'fits'],
    [{ enum: ['a', 1] }, '1', 'is not one of the values that the schema allows'],
    [{ enum: ['{"b":1}'] }, { b: 1 }, 'is not one of the values that the schema allows'],
    [{ const: { x: 1, y: 2 } }, { y: 2, x: 1 }, 'fits'],
    [{ const: false }, 0, 'is not the value that the schema requires'],
    [{ minimum: 1 }, 0, 'must be at least 1'],
    [{ exclusiveMaximum: 1 }, 1, 'must be less than 1'],
    [{ multipleOf: 0.01 }, 19.99, 'fits'],
    [{ multipleOf: 0.01 }, 19.995, 'must be a multiple of 0.01'],
    [{ multipleOf: 1e-300 }, 1e300, 'must be a multiple of 1e-300'],
    [{ maxLength: 2 }, '😀😀', 'fits'],
    [{ minLength: 3 }, '😀😀', 'must have at least 3 characters'],
    [{ pattern: '^\\d+$' }, '12', 'fits'],
    [{ pattern: '^\\d+$' }, '12a', 'does not match the pattern of the schema'],
    [{ minItems: 1 }, [], 'must have at least 1 items'],
    [{ uniqueItems: true }, [1, '1', { a: 1 }, '{"a":1}', [1]], 'fits'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'has the same item twice',
    ],
    [{ contains: { type: 'string' }, maxContains: 1 }, [1, 'a'], 'fits'],
    [{ contains: { const: 1 } }, [2], 'must have at least 1 items that match `contains`'],
    [{ contains: { const: 1 }, minContains: 0 }, [2], 'fits'],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], '/v/1 is not allowed'],
    [{ prefixItems: [true], unevaluatedItems: { type: 'null' } }, [1, 2], '/v/1 must be null'],
    [{ not: { type: 'string' } }, 'a', 'is a value that the schema excludes'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, 'matches more than one of the alternatives'],
    [{ oneOf: [{ minimum: 1 }, { maximum: -1 }] }, 0, NONE],
    [{ oneOf: [{ minimum: 1 }, { type: 'string' }] }, 0, 'must be at least 1'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, NONE],
    [{ if: { minimum: 10 }, then: { multipleOf: 10 }, else: { maximum: 5 } }, 7, 'must be at most 5'],
    [{ if: { minimum: 10 }, then: { multipleOf: 10 } }, 20, 'fits'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'has a property whose name the schema does not allow'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'has `a` and lacks `b`'],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, 'lacks `b`'],
    [{ minProperties: 1 }, {}, 'must have at least 1 properties'],
    [{ default: 5, format: 'email', title: 'x', 'x-vendor': { $ref: 'http://a' } }, 'not an address', 'fits'],
    [true, 'anything', 'fits'],
    [false, 'anything', 'is not allowed'],
  ])('%j on %j: %s', (schema, value, expected) => {
    expect(checkValue(schema, value)).toBe(expected)
  })

  test('arguments must be an object for any schema', () => {
    expect(compileSchema({ additionalProperties: true }).check(['a'])?.problem).toBe('must be an object')
  })

  test('defaults are not inserted and values are not converted', () => {
    const args = strict({ n: 1 })
    const schema = compileSchema({ properties: { n: { type: 'number' }, m: { default: 1 } } })
    expect(schema.check(args)).toBeUndefined()
    expect(args).toEqual(strict({ n: 1 }))
  })

  test('the problem of the only alternative with the right type is reported', () => {
    const model = { type: 'object', properties: { id: { type: 'integer' } } }
    expect(checkValue({ anyOf: [model, { type: 'null' }] }, { id: 'x' })).toBe('/v/id must be a whole number')
  })
})

describe('dialects', () => {
  const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#' }

  test.each<[string, Json, Json, string]>([
    ['a tuple', { items: [{ type: 'string' }], additionalItems: false }, ['a', 1], '/v/1 is not allowed'],
    ['a tuple that goes on', { items: [{ type: 'string' }] }, ['a', 1], 'fits'],
    [
      'dependencies',
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      { a: 1 },
      'has `a` and lacks `b`',
    ],
    ['dependencies on a schema', { dependencies: { c: { required: ['d'] } } }, { c: 1 }, 'lacks `d`'],
    [
      'keywords next to a reference',
      { $ref: '#/definitions/t', maxLength: 1 },
      'ab',
      'must have at most 1 characters',
    ],
  ])('draft-07 supports %s', (_name, schema, value, expected) => {
    expect(checkValue(schema, value, { ...draft07, definitions: { t: { type: 'string' } } })).toBe(expected)
  })

  test.each([
    'http://json-schema.org/draft-06/schema#',
    'https://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('%s is accepted', ($schema) => {
    expect(check({ $schema, $id: 'https://example.com/x', properties: { a: true } }, { a: 1 })).toBe('fits')
  })
})

describe('unnamed properties', () => {
  const named = { type: 'object', properties: { a: { type: 'number' } } }
  const other = { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] }

  test.each<[string, Json, Json, string]>([
    ['are refused at the root', named, { a: 1, x: 1 }, UNNAMED],
    ['are refused if the root names none', { type: 'object' }, { x: 1 }, UNNAMED],
    ['are not required', { type: 'object' }, {}, 'fits'],
    [
      'are accepted if the root allows them',
      { type: 'object', additionalProperties: true },
      { x: 1 },
      'fits',
    ],
    [
      'are accepted if they match a schema for them',
      { ...named, additionalProperties: { type: 'string' } },
      { x: 's' },
      'fits',
    ],
    [
      'are not quoted in a problem',
      { ...named, additionalProperties: { type: 'string' } },
      { x: 1 },
      '/(additional) must be a string',
    ],
    ['are refused in an object', { properties: { o: named } }, { o: { x: 1 } }, `/o ${UNNAMED}`],
    [
      'are refused in items',
      { properties: { l: { items: named } } },
      { l: [{ a: 1 }, { x: 1 }] },
      `/l/1 ${UNNAMED}`,
    ],
    [
      'are refused in the values of a map',
      { additionalProperties: named },
      { m: { x: 1 } },
      `/(additional) ${UNNAMED}`,
    ],
    [
      'are refused next to patterns',
      { properties: { a: true }, patternProperties: { '^x-': true } },
      { 'x-a': 1, y: 1 },
      UNNAMED,
    ],
    [
      'are accepted in an object without named properties',
      { properties: { o: { type: 'object' } } },
      { o: { x: 1 } },
      'fits',
    ],
    ['are refused behind a reference', { $ref: '#/$defs/n', $defs: { n: named } }, { x: 1 }, UNNAMED],
    ['can be named by any part', { allOf: [named, other] }, { a: 1, b: 1 }, 'fits'],
    ['are refused if no part names them', { allOf: [named, other] }, { a: 1, b: 1, x: 1 }, UNNAMED],
    ['may belong to both alternatives', { anyOf: [named, other] }, { a: 1, b: 1 }, 'fits'],
    [
      'do not belong to an alternative that fails',
      { anyOf: [{ ...named, required: ['a'] }, other] },
      { b: 1, a: 's' },
      UNNAMED,
    ],
    [
      'are refused in an optional model',
      { properties: { o: { anyOf: [named, { type: 'null' }] } } },
      { o: { x: 1 } },
      `/o ${UNNAMED}`,
    ],
    [
      'can be named by the condition and its branch',
      { if: { properties: { a: { const: 1 } } }, then: other },
      { a: 1, b: 1 },
      'fits',
    ],
    [
      'can be named by a dependent schema',
      { properties: { a: true }, dependentSchemas: { a: other } },
      { a: 1, b: 1 },
      'fits',
    ],
    [
      'include those that only `not` names',
      { properties: { a: true }, not: { properties: { x: { const: 1 } }, required: ['x'] } },
      { x: 2 },
      UNNAMED,
    ],
    [
      'are accepted if one part allows others',
      { properties: { a: true }, allOf: [{ additionalProperties: true }] },
      { x: 1 },
      'fits',
    ],
    [
      'follow `unevaluatedProperties` of the author',
      { properties: { a: true }, unevaluatedProperties: { type: 'string' } },
      { x: 's' },
      'fits',
    ],
  ])('%s', (_name, schema, args, expected) => {
    expect(check(schema, args)).toBe(expected)
  })

  test('two parts that describe the same member are not closed', () => {
    const part = (name: string): Json => ({
      properties: { o: { properties: { [name]: { type: 'number' } } } },
    })
    expect(check({ allOf: [part('x'), part('y')] }, { o: { x: 1, y: 1 } })).toBe('fits')
    expect(check({ allOf: [part('x'), part('y')] }, { o: { x: 1, y: 's' } })).toBe('/o/y must be a number')
  })

  test('members that only one part describes are closed', () => {
    const part = (name: string): Json => ({ properties: { [name]: { properties: { x: true } } } })
    expect(check({ allOf: [part('o'), part('p')] }, { o: { y: 1 }, p: { x: 1 } })).toBe(`/o ${UNNAMED}`)
  })

  test('closing never turns two matching alternatives into one', () => {
    const alternative = (...names: string[]): Json => ({
      properties: { o: { properties: Object.fromEntries(names.map((name) => [name, true])) } },
    })
    const schema = { oneOf: [alternative('x'), alternative('x', 'y')] }
    expect(check(schema, { o: { x: 1, y: 1 } })).toBe('matches more than one of the alternatives')
  })

  test('the members of one alternative are closed', () => {
    const kind = (name: string, ...names: string[]): Json => ({
      properties: {
        kind: { const: name },
        o: { properties: Object.fromEntries(names.map((n) => [n, true])) },
      },
      required: ['kind'],
    })
    const schema = { oneOf: [kind('a', 'x'), kind('b', 'y')] }
    expect(check(schema, { kind: 'a', o: { x: 1 } })).toBe('fits')
    expect(check(schema, { kind: 'a', o: { y: 1 } })).toBe(`/o ${UNNAMED}`)
  })

  test('the checked members of one item do not count for the next', () => {
    const alternatives = { anyOf: [{ ...named, required: ['a'] }, other] }
    const schema = { properties: { l: { items: alternatives } } }
    expect(check(schema, { l: [{ a: 1 }, { b: 1 }] })).toBe('fits')
    expect(check(schema, { l: [{ a: 1 }, { b: 1, a: 's' }] })).toBe(`/l/1 ${UNNAMED}`)
  })
})

describe('names that are special in JavaScript', () => {
  const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', 'prototype']
  const object = (name: string, value: Json): Json =>
    strict(JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as Json)

  test.each(NAMES)('%s is an ordinary name', (name) => {
    const schema = compileSchema({
      type: 'object',
      properties: object(name, { type: 'string' }),
      required: [name],
    })
    expect(schema.check(object(name, 's'))).toBeUndefined()
    expect(schema.check(object(name, 1))).toEqual({ at: `/${name}`, problem: 'must be a string' })
    expect(schema.check(strict({}))).toEqual({ at: '', problem: `lacks \`${name}\`` })
  })

  test.each(NAMES)('%s is refused if it is unnamed, also after branches', (name) => {
    const a = { properties: { a: true } }
    for (const schema of [
      a,
      { anyOf: [a, { properties: { b: true } }] },
      { ...a, unevaluatedProperties: false },
    ]) {
      expect(compileSchema(schema).check(object(name, 's'))).toEqual({ at: '', problem: UNNAMED })
    }
  })
})

describe('schemas of real servers', () => {
  const zod = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      path: { type: 'string' },
      edits: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            oldText: { type: 'string', description: 'Text to search for - must match exactly' },
            newText: { type: 'string', description: 'Text to replace with' },
          },
          required: ['oldText', 'newText'],
          additionalProperties: false,
        },
      },
      dryRun: { type: 'boolean', default: false, description: 'Preview changes using git-style diff format' },
    },
    required: ['path', 'edits'],
    additionalProperties: false,
  }
  const pydantic = {
    $defs: {
      Label: { enum: ['bug', 'feature'], title: 'Label', type: 'string' },
      Assignee: {
        properties: { login: { title: 'Login', type: 'string', pattern: '^[a-zA-Z0-9-]{1,39}$' } },
        required: ['login'],
        title: 'Assignee',
        type: 'object',
      },
    },
    properties: {
      title: { title: 'Title', type: 'string', minLength: 1, maxLength: 256 },
      body: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null, title: 'Body' },
      labels: { items: { $ref: '#/$defs/Label' }, title: 'Labels', type: 'array', uniqueItems: true },
      assignee: { anyOf: [{ $ref: '#/$defs/Assignee' }, { type: 'null' }], default: null },
    },
    required: ['title'],
    title: 'create_issueArguments',
    type: 'object',
  }
  const slack = {
    type: 'object',
    properties: {
      channel_id: { type: 'string', description: 'The ID of the channel to post to' },
      text: { type: 'string', description: 'The message text to post' },
    },
    required: ['channel_id', 'text'],
  }
  const puppeteer = {
    type: 'object',
    properties: {
      url: { type: 'string', description: 'URL to navigate to' },
      launchOptions: { type: 'object', description: 'PuppeteerJS LaunchOptions. Default null.' },
      width: { type: 'number' },
    },
    required: ['url'],
  }
  const edit = { oldText: 'a', newText: 'b' }

  test.each<[string, Json, Json, string]>([
    ['filesystem', zod, { path: '/a', edits: [edit], dryRun: true }, 'fits'],
    ['filesystem, forced', zod, { path: '/a', edits: [edit], force: true }, UNNAMED],
    [
      'filesystem, incomplete edit',
      zod,
      { path: '/a', edits: [edit, { oldText: 'a' }] },
      '/edits/1 lacks `newText`',
    ],
    ['github', pydantic, { title: 't', body: null, labels: ['bug'], assignee: { login: 'x' } }, 'fits'],
    [
      'github, unknown label',
      pydantic,
      { title: 't', labels: ['x'] },
      '/labels/0 is not one of the values that the schema allows',
    ],
    [
      'github, invalid login',
      pydantic,
      { title: 't', assignee: { login: 'a b' } },
      '/assignee/login does not match the pattern of the schema',
    ],
    [
      'github, unnamed property of an assignee',
      pydantic,
      { title: 't', assignee: { login: 'x', admin: true } },
      `/assignee ${UNNAMED}`,
    ],
    ['slack', slack, { channel_id: 'C1', text: 'hi' }, 'fits'],
    ['slack, as someone else', slack, { channel_id: 'C1', text: 'hi', as_user: 'U1' }, UNNAMED],
    [
      'puppeteer',
      puppeteer,
      { url: 'https://example.com', launchOptions: { headless: true }, width: 80 },
      'fits',
    ],
    ['puppeteer, no url', puppeteer, { launchOptions: {} }, 'lacks `url`'],
  ])('%s', (_name, schema, args, expected) => {
    expect(check(schema, args)).toBe(expected)
  })
})
