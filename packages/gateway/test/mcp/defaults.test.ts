// Arguments that a tool requires and has a default for: filled in before the decision, so that the receipt covers them.

import { canonicalize, sha256Hex, type Decision, type Json, type JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { defaultsIn, withDefaults } from '../../src/tools/defaults.ts'
import { gateForTest, plainServer, type Gate } from './rig.ts'

const COUNTED: JsonObject = {
  type: 'object',
  properties: { text: { type: 'string' }, times: { type: 'integer', default: 1 } },
  required: ['text', 'times'],
  additionalProperties: false,
}
const NESTED: JsonObject = { type: 'object', properties: { inner: COUNTED } }

describe('withDefaults', () => {
  test.each<[string, Json, JsonObject, JsonObject]>([
    ['fills a required member that is missing', COUNTED, { text: 'a' }, { text: 'a', times: 1 }],
    ['keeps a member that is there', COUNTED, { times: 2 }, { times: 2 }],
    ['keeps null', COUNTED, { times: null }, { times: null }],
    ['leaves optional members alone', { ...COUNTED, required: ['text'] }, {}, {}],
    ['fills an object that is there', NESTED, { inner: {} }, { inner: { times: 1 } }],
    ['makes no object to fill', NESTED, {}, {}],
    [
      'fills a default that is an object',
      { type: 'object', required: ['inner'], properties: { inner: { ...COUNTED, default: {} } } },
      {},
      { inner: { times: 1 } },
    ],
    ['does not look into lists', { properties: { all: { items: COUNTED } } }, { all: [{}] }, { all: [{}] }],
    ['does not choose an alternative', { anyOf: [COUNTED] }, {}, {}],
    ['does not follow references', { $ref: '#/$defs/a', $defs: { a: COUNTED } }, {}, {}],
    ['takes false for a value', { required: ['a'], properties: { a: { default: false } } }, {}, { a: false }],
    ['takes null for a value', { required: ['a'], properties: { a: { default: null } } }, {}, { a: null }],
    ['ignores a schema that is no object', true, {}, {}],
    ['ignores required members without a schema', { required: ['a'], properties: { a: true } }, {}, {}],
    [
      'treats special names as any other',
      JSON.parse('{"required":["__proto__"],"properties":{"__proto__":{"default":{"a":1}}}}') as JsonObject,
      {},
      JSON.parse('{"__proto__":{"a":1}}') as JsonObject,
    ],
  ])('%s', (_, schema, args, filled) => {
    expect(canonicalize(withDefaults(args, defaultsIn(schema)))).toBe(canonicalize(filled))
  })

  test('never changes what it was given', () => {
    const args = { inner: {} }
    withDefaults(args, defaultsIn(NESTED))
    expect(args).toEqual({ inner: {} })
  })
})

/** A gate whose server has one tool with this schema. */
function counting(inputSchema: JsonObject): Promise<Gate> {
  return gateForTest({ ...plainServer(), tools: [{ name: 'echo', inputSchema }] })
}

async function call(gate: Gate, args: JsonObject): Promise<Decision | undefined> {
  const client = await gate.legacy()
  await client.request('tools/call', { name: 'echo', arguments: args })
  return (await gate.receipts()).findLast((receipt) => receipt.kind === 'decision')
}

const received = (gate: Gate): readonly (Json | undefined)[] =>
  gate.server.reached.filter(({ method }) => method === 'tools/call').map(({ params }) => params.arguments)
const hashOf = (args: Json): string => sha256Hex(canonicalize(args))

describe('a call without an argument that has a default', () => {
  test('reaches the server with it, and the receipt covers it', async () => {
    const gate = await counting(COUNTED)
    await gate.approve()
    const filled = { text: 'a', times: 1 }
    expect(await call(gate, { text: 'a' })).toMatchObject({ verdict: 'ALLOW', args_hash: hashOf(filled) })
    expect(received(gate)).toEqual([filled])
  })

  test('is judged as it is while the tool is not approved', async () => {
    const gate = await counting(COUNTED)
    const decision = await call(gate, { text: 'a' })
    expect(decision).toMatchObject({ reason_code: 'TOOL_NOT_PINNED', args_hash: hashOf({ text: 'a' }) })
  })

  test('gets no default of a definition that has changed since its approval', async () => {
    const gate = await counting(COUNTED)
    await gate.approve()
    gate.server.tools = [
      {
        name: 'echo',
        inputSchema: { ...COUNTED, properties: { text: {}, times: { type: 'integer', default: 99 } } },
      },
    ]
    const decision = await call(gate, { text: 'a' })
    expect(decision).toMatchObject({
      reason_code: 'TOOL_DEFINITION_CHANGED',
      args_hash: hashOf({ text: 'a' }),
    })
    expect(received(gate)).toEqual([])
  })

  test('is denied if the default does not fit its own schema', async () => {
    const gate = await counting({
      ...COUNTED,
      properties: { text: {}, times: { type: 'integer', default: 'x' } },
    })
    await gate.approve()
    expect(await call(gate, { text: 'a' })).toMatchObject({ verdict: 'DENY' })
    expect(received(gate)).toEqual([])
  })
})
