// Random input: the answer is always a problem or a DENY, never an internal error.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROUTES } from '../../src/api/routes.ts'
import { createBudget } from '../../src/budget.ts'
import { createApiRig, PEOPLE, type Person } from './rig.ts'
import { runs } from '../../../evidence/test/runs.ts'

test('a body of random bytes is never allowed and never causes an internal error', async () => {
  const rig = await createApiRig({
    kernel: { quota: { calls: 1_000_000, period: 1 } },
    // Unreadable bodies are charged. Here the budget must not run out.
    api: { budget: createBudget({ rate: 2 ** 40, burst: 2 ** 40 }) },
  })
  const members = fc.constantFrom('tool', 'arguments', 'session_id', 'principal', 'context', 'approval', 'x')
  const tools = fc.constantFrom('fs/write_file', 'nonsense', '', 'a\nb')
  const call = fc.dictionary(members, fc.oneof(fc.jsonValue(), tools)).map((value) => JSON.stringify(value))
  const body = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.json(), call)
  const route = fc.constantFrom('/v1/evaluate', '/v1/browser/evaluate')
  await fc.assert(
    fc.asyncProperty(route, body, async (url, text) => {
      const { status, json } = await rig.ask('agent', 'POST', url, text)
      expect([200, 400]).toContain(status)
      if (status === 200) expect(json.verdict).toBe('DENY')
    }),
    { numRuns: runs(500) },
  )
})

test('a random path, query and body never cause an internal error', async () => {
  const rig = await createApiRig()
  const people = fc.constantFrom(...(Object.keys(PEOPLE) as Person[]), undefined)
  const part = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('0'.repeat(64), '%', '..', '__proto__'),
  )
  const queries = ROUTES.flatMap(({ query = {} }) => Object.keys(query))
  // A stream has no end, so none is opened.
  const routes = fc.constantFrom(
    ...ROUTES.filter(({ id }) => !id.startsWith('stream') && id !== 'exportEvidence'),
  )
  const parameters = fc.array(fc.tuple(fc.constantFrom(...queries, 'constructor'), part), { maxLength: 3 })
  const bodies = fc.oneof(fc.json(), fc.string())
  await fc.assert(
    fc.asyncProperty(people, routes, part, parameters, bodies, async (person, route, free, query, body) => {
      const path = route.path.replace(/\{\w+\}/g, encodeURIComponent(free.toWellFormed()) || 'x')
      const search = query
        .filter(([name]) => name !== 'wait')
        .map((pair) => new URLSearchParams([pair]).toString())
      const url = `${path}?${search.join('&')}`
      const { status } = await rig.ask(person, route.method, url, route.method === 'POST' ? body : undefined)
      expect([url, status < 500]).toEqual([url, true])
    }),
    { numRuns: runs(1000) },
  )
  expect(rig.log.filter(({ level }) => level === 'error')).toEqual([])
})
