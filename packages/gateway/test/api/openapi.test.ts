// The description of the API matches the routes.

import { describe, expect, test } from 'vitest'
import { openApi } from '../../src/api/openapi.ts'
import { PROBLEMS } from '../../src/api/problem.ts'
import { httpReference } from '../../src/api/reference.ts'
import { ROUTES } from '../../src/api/routes.ts'
import { problemsIn, type ApiSchema } from '../../src/api/schema.ts'
import { LLM_ROUTES } from '../../src/llm/routes.ts'
import { openLlmGate } from '../llm/gate.ts'
import { startUpstream } from '../llm/upstream.ts'
import { createApiRig } from './rig.ts'

interface Operation {
  readonly 'x-door'?: string
  readonly operationId: string
  readonly security?: unknown[]
  readonly parameters?: { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: Record<string, { schema: object }> }
  readonly responses: Record<string, { description: string; content: Record<string, object> }>
}

interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: Record<string, object> }
}

const document = openApi(ROUTES, '1') as Document
const all = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)
const operations = all.filter(({ operation }) => operation['x-door'] === undefined)
const ofDoors = all.filter(({ operation }) => operation['x-door'] !== undefined)

describe('the document', () => {
  test('is served as it is made', async () => {
    const rig = await createApiRig()
    const { json } = await rig.ask(undefined, 'GET', '/openapi.json')
    expect(JSON.stringify(json)).toBe(JSON.stringify(openApi(ROUTES, '0.0.0-test')))
  })

  test('has every route, and no other', () => {
    const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    expect(described.sort()).toEqual(ROUTES.map(({ path, method }) => `${method} ${path}`).sort())
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length)
  })

  test('every operation in it is answered by the app', async () => {
    const rig = await createApiRig()
    for (const { path, method } of operations) {
      const { status } = await rig.app.fetch(
        new Request(`http://x${path.replace(/\{\w+\}/g, '0'.repeat(64))}`, { method: method.toUpperCase() }),
      )
      expect([path, [200, 401].includes(status)]).toEqual([path, true])
    }
  })

  test('lists the parameters of every path, and only those', () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const named = (operation.parameters ?? []).filter((each) => each.in === 'path')
      expect(named.map(({ name }) => name)).toEqual(inPath)
      expect(named.every(({ required }) => required)).toBe(true)
    }
  })

  test('uses only JSON Schema keywords that the validator supports, and has no dangling references', () => {
    const known = [
      ...['type', 'description', 'enum', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'items'],
      ...['maxItems', 'properties', 'required', 'additionalProperties', 'default', '$ref', 'format'],
    ]
    const words = new Set<string>()
    const visit = (schema: object): void => {
      for (const [word, value] of Object.entries(schema)) {
        words.add(word)
        if (word === 'items') visit(value as object)
        if (word === 'properties') Object.values(value as Record<string, object>).forEach(visit)
        if (word === '$ref') expect(value).toBe('#/components/schemas/Problem')
      }
    }
    for (const { operation } of operations) {
      for (const { schema } of operation.parameters ?? []) visit(schema)
      const bodies = [operation.requestBody, ...Object.values(operation.responses)]
      for (const body of bodies) {
        for (const content of Object.values(body?.content ?? {}))
          if ('schema' in content) visit(content.schema as object)
      }
    }
    expect([...words].filter((word) => !known.includes(word))).toEqual([])
    expect(Object.keys(document.components.schemas)).toEqual(['Problem'])
  })

  test('states which routes need a token', () => {
    for (const { operation } of operations) {
      const { roles } = ROUTES.find(({ id }) => id === operation.operationId) ?? {}
      expect(operation.security).toEqual(roles === 'public' ? [] : undefined)
      expect('401' in operation.responses).toBe(roles !== 'public')
    }
  })
})

describe('the paths of the doors', () => {
  test('are those of the doors, each with a name and a description of its own', () => {
    const described = ofDoors.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    const mcp = ['/mcp', '/mcp/{server}'].flatMap((path) =>
      ['POST', 'GET', 'DELETE'].map((each) => `${each} ${path}`),
    )
    const llm = LLM_ROUTES.map((route) => route.replace('?alt=sse', ''))
    expect(described.toSorted()).toEqual([...llm, ...mcp].toSorted())
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length)
    for (const { operation } of all) expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]*$/)
  })

  test('are answered by the doors, which want a token', async () => {
    const upstream = await startUpstream()
    const gate = await openLlmGate({ upstream: upstream.url })
    try {
      for (const { path, method } of ofDoors) {
        const url = `${gate.url}${path.replace(/\{\w+\}/g, 'some')}`
        const { status } = await fetch(url, { method: method.toUpperCase() })
        expect([path, method, status]).toEqual([path, method, 401])
      }
      expect(upstream.requests).toEqual([])
    } finally {
      await gate.close()
      await upstream.close()
    }
  })

  test('have all parameters of the path', () => {
    for (const { path, operation } of ofDoors) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect((operation.parameters ?? []).map(({ name }) => name)).toEqual(inPath)
    }
  })
})

describe('the reference', () => {
  test('has every route and every problem', () => {
    const text = httpReference()
    for (const { method, path } of ROUTES) expect(text).toContain(`## ${method} ${path}\n`)
    for (const code of Object.keys(PROBLEMS)) expect(text).toContain(`| \`${code}\` |`)
    expect(text).not.toContain('undefined')
    expect(text).not.toContain('[object')
  })
})

describe('the validator', () => {
  const point: ApiSchema = {
    type: 'object',
    properties: {
      x: { type: 'integer', minimum: 0, maximum: 9 },
      name: { type: ['string', 'null'], maxLength: 3, pattern: '^[a-z]*$' },
      list: { type: 'array', maxItems: 2, items: { type: 'boolean' } },
      word: { type: 'string', enum: ['a', 'b'] },
    },
    required: ['x'],
    additionalProperties: false,
  }
  test.each([
    [{ x: 1 }, []],
    [{ x: 1, name: null, list: [true], word: 'a' }, []],
    [{}, ['`/x` is missing']],
    [{ x: 1.5 }, ['`/x` is not an integer']],
    [{ x: -1 }, ['`/x` is less than 0']],
    [{ x: 10 }, ['`/x` is more than 9']],
    [{ x: 1, name: 7 }, ['`/name` is not a string or null']],
    [{ x: 1, name: 'abcd' }, ['`/name` is longer than 3 characters']],
    [{ x: 1, name: 'A' }, ['`/name` does not match `^[a-z]*$`']],
    [{ x: 1, list: [true, 1] }, ['`/list/1` is not a boolean']],
    [{ x: 1, list: [true, true, true] }, ['`/list` has more than 2 items']],
    [{ x: 1, word: 'c' }, ['`/word` is not one of `a`, `b`']],
    [{ x: 1, secret: 1, more: 2 }, ['the body has an unknown member']],
    [[], ['the body is not an object']],
    [null, ['the body is not an object']],
  ])('%j', (value, problems) => {
    expect(problemsIn(point, value)).toEqual(problems)
  })
})
