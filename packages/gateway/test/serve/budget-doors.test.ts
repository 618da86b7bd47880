// Every door checks the token, the session and the budget before it reads a body, and charges for what it reads.

import { describe, expect, it } from 'vitest'
import { App } from '../../src/api/app.ts'
import { ROUTES } from '../../src/api/routes.ts'
import type { ApiRoute } from '../../src/api/route.ts'
import { createBudget, FINE, FREE, type Budget, type Spender } from '../../src/budget.ts'
import type { DoorRequest, Reply } from '../../src/exchange.ts'
import { createLlmDoor } from '../../src/llm/door.ts'
import { PROVIDERS } from '../../src/llm/providers.ts'
import { LLM_ROUTES } from '../../src/llm/routes.ts'
import { createHttpDoor } from '../../src/mcp/client/http.ts'
import { createApiRig, type Person } from '../api/rig.ts'
import { createStandIn } from '../mcp/standin.ts'

const KIB = 1 << 10
const rig = await createApiRig()

/** A request whose body is read only if a door asks for it. */
interface Sent extends DoorRequest {
  /** How many bytes the door was ready to read; undefined if it did not ask. */
  readonly taken: () => number | undefined
}

function send(
  person: Person | undefined,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Sent {
  const all: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(person && { authorization: `Bearer ${rig.token(person)}` }),
    ...headers,
  }
  let taken: number | undefined
  return {
    method,
    path,
    search: '',
    header: (name) => all[name],
    body(limit) {
      taken = limit
      return Promise.resolve(Buffer.from(body))
    },
    mayTakeLong: () => undefined,
    onGone: () => () => undefined,
    taken: () => taken,
  }
}

/** A budget that records its use. `spent` refuses everything. */
function bookkeeper(spent = false): Budget & { readonly book: string[] } {
  const book: string[] = []
  const note = (what: string, { principal }: Spender, bytes = 0): void =>
    void book.push(`${what} ${principal} ${bytes}`)
  return {
    book,
    take(who, bytes) {
      note('take', who, bytes)
      return spent ? { ok: false, after: 7 } : { ok: true, settle: (used) => note('settle', who, used) }
    },
    fine: (who) => note('fine', who),
    charge: () => 0,
  }
}

const appWith = (budget: Budget): App => new App({ ...rig.options, budget })

function mcpWith(budget: Budget): (asked: DoorRequest) => Promise<Reply | undefined> {
  const door = createHttpDoor({
    mcp: createStandIn().mcp,
    tokens: rig.tokens,
    log: () => undefined,
    budget,
  })
  return (asked) => door.answer(asked)
}

function llmWith(budget: Budget): (asked: DoorRequest) => Promise<Reply | undefined> {
  const address = { url: 'http://127.0.0.1:9/v1', key: 'k', parameters: new Set<string>(), patience: 1000 }
  const door = createLlmDoor({
    ...{ kernel: rig.kernel, tokens: rig.tokens, log: () => undefined },
    ...{ body: 32 << 20, size: () => 0, watch: () => () => undefined, budget },
    upstreams: new Map(PROVIDERS.map((provider) => [provider, address])),
  })
  return (asked) => door.answer(asked)
}

const jsonOf = (reply: Reply | undefined): Record<string, unknown> =>
  JSON.parse(typeof reply?.body === 'string' ? reply.body : '{}') as Record<string, unknown>

/** A caller that the route admits and that is charged. */
function chargedOn({ roles }: ApiRoute): Person | undefined {
  if (roles === 'any role') return 'agent'
  if (roles === 'public') return undefined
  return (['agent', 'host', 'sentinel', 'auditor'] as const).find((role) => roles.includes(role))
}

const pathOf = ({ path, params = {} }: ApiRoute): string =>
  Object.keys(params).reduce((text, name) => text.replace(`{${name}}`, 'a'.repeat(64)), path)

const LARGE = { 'content-length': String(900 * KIB) }

describe('a principal whose budget is spent', () => {
  const withBody = ROUTES.filter(({ body }) => body)

  it.each(withBody.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'is refused on %s before the body is read',
    async (_, route) => {
      const person = chargedOn(route)
      const budget = bookkeeper(true)
      const asked = send(person ?? 'operator', route.method, pathOf(route), LARGE)
      const { status, headers } = await appWith(budget).answer(asked)
      if (person === undefined) {
        // Operators and admins are not charged.
        expect(budget.book).toEqual([])
        return
      }
      expect([status, headers['retry-after'], asked.taken()]).toEqual([429, '7', undefined])
    },
  )

  it('has routes to be refused on', () => {
    expect(withBody.filter((route) => chargedOn(route)).length).toBeGreaterThan(3)
    expect(withBody.every(({ roles }) => roles !== 'public')).toBe(true)
  })

  it('is refused at the MCP door, in JSON-RPC', async () => {
    const asked = send('agent', 'POST', '/mcp', { 'mcp-protocol-version': '2026-07-28', ...LARGE })
    const reply = await mcpWith(bookkeeper(true))(asked)
    expect([reply?.status, reply?.headers['retry-after'], asked.taken()]).toEqual([429, '7', undefined])
    expect(jsonOf(reply)).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  it.each(LLM_ROUTES.filter((route) => route.startsWith('POST ')))(
    'is refused at %s, in the format of the dialect',
    async (route) => {
      const [, path = ''] = route.replaceAll(/\{\w+\}/g, 'm').split(' ')
      const asked = send('agent', 'POST', path, { 'x-api-key': rig.token('agent'), ...LARGE })
      const reply = await llmWith(bookkeeper(true))(asked)
      expect([reply?.status, reply?.headers['retry-after'], asked.taken()]).toEqual([429, '7', undefined])
      const error = path.startsWith('/gemini')
        ? { status: 'RESOURCE_EXHAUSTED' }
        : { type: 'rate_limit_error' }
      expect(jsonOf(reply)).toMatchObject({ error })
    },
  )

  it('is an agent or a guest: operators and admins are not limited', async () => {
    const budget = bookkeeper(true)
    const body = JSON.stringify({ scope: 'principal', target: 'agent:x', frozen: true })
    for (const person of ['operator', 'admin'] as const) {
      const { status } = await appWith(budget).answer(send(person, 'POST', '/v1/freeze', {}, body))
      expect(status).toBe(200)
    }
    expect(budget.book).toEqual([])
  })
})

describe('the k-th body', () => {
  it('is refused once the budget of its sender is spent, without effect on others', async () => {
    const budget = createBudget({ rate: 1, burst: 1000 * KIB }, () => 0)
    const app = appWith(budget)
    const call = (person: Person): Promise<Reply> =>
      app.answer(send(person, 'POST', '/v1/evaluate', {}, sized(300 * KIB)))
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await call('agent')).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect((await call('other')).status).toBe(200)
  })

  it('counts over all doors', async () => {
    const budget = createBudget({ rate: 1, burst: 500 * KIB }, () => 0)
    await appWith(budget).answer(send('agent', 'POST', '/v1/evaluate', {}, sized(300 * KIB)))
    const asked = send('agent', 'POST', '/mcp', {
      'mcp-protocol-version': '2026-07-28',
      'content-length': String(300 * KIB),
    })
    expect((await mcpWith(budget)(asked))?.status).toBe(429)
  })
})

/** A call with this many bytes that costs exactly this much. */
function sized(bytes: number): string {
  const text = JSON.stringify({ tool: 'fs/read_file', arguments: { path: '' } })
  return text.replace('""', `"${'x'.repeat(FREE + bytes - text.length)}"`)
}

const MODERN = { 'mcp-protocol-version': '2026-07-28' }

describe('a message that cannot be parsed', () => {
  const cases: readonly (readonly [string, (budget: Budget) => Promise<unknown>])[] = [
    ['/v1/evaluate', (budget) => appWith(budget).answer(send('agent', 'POST', '/v1/evaluate', {}, '{'))],
    ['/v1/effects', (budget) => appWith(budget).answer(send('agent', 'POST', '/v1/effects', {}, '{'))],
    [
      '/v1/effects, not of its schema',
      (budget) => appWith(budget).answer(send('agent', 'POST', '/v1/effects', {}, '{"a":1}')),
    ],
    ['/mcp', (budget) => mcpWith(budget)(send('agent', 'POST', '/mcp', MODERN, '{'))],
    ['/mcp, a batch', (budget) => mcpWith(budget)(send('agent', 'POST', '/mcp', MODERN, '[]'))],
    [
      '/openai',
      (budget) => llmWith(budget)(send('agent', 'POST', '/openai/v1/chat/completions', {}, '{"a":')),
    ],
  ]

  it.each(cases)('on %s is charged to its sender', async (_, go) => {
    const budget = bookkeeper()
    await go(budget)
    expect(budget.book).toContain('fine agent:a 0')
  })

  it.each(cases)('on %s is refused after some', async (_, go) => {
    const budget = createBudget({ rate: 1, burst: 3 * FINE }, () => 0)
    const statuses: unknown[] = []
    for (let i = 0; i < 5; i++) statuses.push(((await go(budget)) as Reply).status)
    expect(statuses.map((status) => status === 429)).toEqual([false, false, false, true, true])
  })

  it('costs nothing for others: valid messages are only measured', async () => {
    const budget = bookkeeper()
    const body = sized(100)
    await appWith(budget).answer(send('agent', 'POST', '/v1/evaluate', {}, body))
    expect(budget.book).toEqual([`take agent:a ${body.length}`, `settle agent:a ${body.length}`])
  })
})

describe('at the MCP door', () => {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

  it.each([
    ['without a token', undefined, '/mcp', MODERN, 401],
    ['with a token of another role', 'operator', '/mcp', MODERN, 403],
    ['to an unknown server', 'agent', '/mcp/nowhere', MODERN, 404],
    ['of an unknown session', 'agent', '/mcp', { 'mcp-session-id': 'x' }, 404],
    [
      'of an unknown session, by its revision',
      'agent',
      '/mcp',
      { 'mcp-session-id': 'x', 'mcp-protocol-version': '2025-11-25' },
      404,
    ],
  ] as const)('nothing is read %s', async (_, person, path, headers, status) => {
    const budget = bookkeeper()
    const asked = send(person, 'POST', path, { ...headers, ...LARGE }, message)
    expect((await mcpWith(budget)(asked))?.status).toBe(status)
    expect([asked.taken(), budget.book]).toEqual([undefined, []])
  })

  it.each([
    ['before a session exists', {}, 64 * KIB],
    ['of an unknown revision', { 'mcp-protocol-version': '2030-01-01' }, 64 * KIB],
    [
      'of an unknown revision that names a session',
      { 'mcp-protocol-version': '2030-01-01', 'mcp-session-id': 'x' },
      64 * KIB,
    ],
    ['of the revision without sessions', MODERN, 8 << 20],
  ])('a message %s is read up to its limit', async (_, headers, limit) => {
    const asked = send('agent', 'POST', '/mcp', headers, message)
    await mcpWith(bookkeeper())(asked)
    expect(asked.taken()).toBe(limit)
  })

  it('a body without a length is charged as the largest, until its size is known', async () => {
    const budget = bookkeeper()
    const asked = send('agent', 'POST', '/mcp', MODERN, message)
    const unknown: DoorRequest = {
      ...asked,
      header: (name) => (name === 'content-length' ? undefined : asked.header(name)),
    }
    await mcpWith(budget)(unknown)
    expect(budget.book).toEqual([`take agent:a ${8 << 20}`, `settle agent:a ${message.length}`])
  })
})
