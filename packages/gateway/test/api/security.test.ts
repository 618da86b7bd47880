// The permissions of every role on every route: walks the table of docs/http.md against the API. A route without a row fails.

import { readFileSync } from 'node:fs'
import { sha256Hex } from '@tollgate/evidence'
import { definitionOf, pinTool } from '@tollgate/kernel/admin'
import { beforeAll, describe, expect, test } from 'vitest'
import { problemsOf } from '../../src/api/openapi.ts'
import { App } from '../../src/api/app.ts'
import { ROUTES } from '../../src/api/routes.ts'
import type { ApiRoute } from '../../src/api/route.ts'
import { ROLES, type Role } from '../../src/tokens.ts'
import { createApiRig, delegated, DELEGATING, type ApiRig, type Person } from './rig.ts'

/** A request that the roles of a route get an answer to, and the expected result. */
interface Row {
  readonly url?: string
  readonly body?: object
  readonly status: number
}

// $decision is an ALLOW of agent:a, $request an ESCALATE of it, $token the hash of an unused token, $offered the hash of the
// definition of fs/new, which is not pinned, $delegation one from agent:a to agent:c, and $envelope another one that is not
// registered.
const TABLE: Readonly<Record<string, Row>> = {
  evaluate: { body: { tool: 'fs/read_file' }, status: 200 },
  evaluateBrowser: { body: { tool_name: 'web/click' }, status: 200 },
  reportEffect: { body: { decision: '$decision', status: 'COMPLETED' }, status: 201 },
  answerHook: {
    url: '/v1/hooks/codex',
    body: {
      ...{ hook_event_name: 'PreToolUse', session_id: 's1', tool_use_id: 'u1' },
      ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
    },
    status: 200,
  },
  postObservation: { body: { url: 'https://e.com/', sentinel_risk: 1, sentinel_findings: [] }, status: 201 },
  listReceipts: { status: 200 },
  showReceipt: { url: '/v1/receipts/$decision', status: 200 },
  proveReceipt: { url: '/v1/receipts/$decision/proof', status: 200 },
  streamReceipts: { status: 200 },
  streamNotices: { status: 200 },
  listApprovals: { status: 200 },
  showApproval: { url: '/v1/approvals/$request', status: 200 },
  proposeAlways: { url: '/v1/approvals/$request/always', status: 200 },
  approveRequest: { url: '/v1/approvals/$request/approve', status: 200 },
  denyRequest: { url: '/v1/approvals/$request/deny', status: 200 },
  showSession: { url: '/v1/sessions/s1?principal=agent:a', status: 200 },
  openSession: { body: { session_id: 's9', principal: 'agent:a', scope: { sinks: [] } }, status: 200 },
  showScope: { url: '/v1/sessions/s1/scope?principal=agent:a', status: 200 },
  resetSession: {
    url: '/v1/sessions/s1/reset',
    body: { principal: 'agent:a', because: 'looked at' },
    status: 200,
  },
  closeSession: {
    url: '/v1/sessions/s1/close',
    body: { principal: 'agent:a', because: 'done' },
    status: 200,
  },
  resetTrust: { url: '/v1/principals/agent:a/trust', body: { because: 'a broken tool' }, status: 200 },
  showPrincipal: { url: '/v1/principals/agent:a', status: 200 },
  registerDelegation: { body: { envelope: '$envelope' }, status: 201 },
  listDelegations: { status: 200 },
  showDelegation: { url: '/v1/delegations/$delegation', status: 200 },
  revokeDelegation: { url: '/v1/delegations/$delegation/revoke', status: 200 },
  listFreezes: { status: 200 },
  setFreeze: { body: { scope: 'tool', target: 'x', frozen: true }, status: 200 },
  showPolicy: { status: 200 },
  listObserved: { status: 200 },
  setObserve: { body: { scope: 'door', target: 'mcp', seconds: 60 }, status: 200 },
  activatePolicy: { body: { text: 'tollgate: 1\nname: next\nrules: []\n' }, status: 200 },
  explainCall: { body: { tool: 'fs/read_file', principal: 'agent:a' }, status: 200 },
  listTools: { status: 200 },
  showTool: { url: '/v1/tools/definition?tool=fs/read_file', status: 200 },
  pinTool: { body: { tool: 'fs/new', hash: '$offered' }, status: 200 },
  unpinTool: { body: { tool: 'fs/read_file' }, status: 200 },
  showCheckpoint: { status: 200 },
  exportEvidence: { status: 200 },
  listTokens: { status: 200 },
  issueToken: { body: { role: 'agent', principal: 'agent:c' }, status: 201 },
  revokeToken: { url: '/v1/tokens/$token', status: 200 },
  showStatus: { status: 200 },
  isAlive: { status: 200 },
  isReady: { status: 200 },
  showMetrics: { status: 200 },
  showOpenApi: { status: 200 },
}

/** For each route, the columns of the table of roles and routes that say `yes`: roles, and `no token`. */
const PERMITTED = permissionsIn(readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8'))

function permissionsIn(page: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ''] = /\n## Roles and routes\n(.*?)\n## /s.exec(page) ?? []
  const [head = [], , ...rows] = section.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim())
    return cells.length > 2 ? [cells.slice(1, -1)] : []
  })
  return new Map(
    rows.map(([route = '', ...cells]) => [
      /^\[(.*)\]/.exec(route)?.[1] ?? route,
      cells.flatMap((cell, i) => (cell === 'yes' ? [head[i + 1] ?? ''] : [])),
    ]),
  )
}

function isPermitted({ method, path }: ApiRoute, who: Role | 'no token'): boolean {
  return PERMITTED.get(`${method} ${path}`)?.includes(who) ?? false
}

test('every route has a row, and every row a route', () => {
  expect(Object.keys(TABLE).sort()).toEqual(ROUTES.map(({ id }) => id).sort())
  expect([...PERMITTED.keys()].sort()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort())
})

test('a row says `no token` exactly if its route is public', () => {
  const [without, open] = [ROUTES.filter((route) => isPermitted(route, 'no token')), ROUTES.filter(isPublic)]
  expect(without).toEqual(open)
  expect(open.length).toBeGreaterThan(0)
})

function isPublic({ roles }: ApiRoute): boolean {
  return roles === 'public'
}

const TRUSTING = DELEGATING.includes('gates:')
  ? DELEGATING.replace('gates:', 'gates:\n  trust: { needs: { admin: 100 } }')
  : `${DELEGATING}gates: { trust: { needs: { admin: 100 } } }\n`

/** A rig with one of everything. */
async function furnished(): Promise<ApiRig & { fill: (text: string) => string }> {
  const rig = await createApiRig({ policy: TRUSTING })
  const offered = definitionOf({ description: 'a tool' })
  for (const tool of ['fs/read_file', 'fs/new']) rig.kernel.catalogue.offer(tool, offered)
  await pinTool(rig.kernel, 'fs/read_file', offered.hash, 'user:ada')
  const call = { tool: 'fs/read_file', session_id: 's1' }
  const allowed = await rig.ask('agent', 'POST', '/v1/evaluate', call)
  const mail = { tool: 'mail/send', arguments: { to: 'a@example.com' }, session_id: 's1' }
  const asked = await rig.ask('agent', 'POST', '/v1/evaluate', mail)
  const spare = await rig.tokens.issue({ role: 'agent', tenant: 'default', principal: 'agent:x' }, 'test')
  const registered = await delegated()
  await rig.ask('operator', 'POST', '/v1/delegations', { envelope: registered.envelope })
  const names: Readonly<Record<string, string>> = {
    $decision: String(allowed.json.receipt),
    $request: String(asked.json.approval),
    $token: spare.info.hash,
    $offered: offered.hash,
    $delegation: registered.id,
    // It is inside of a text.
    $envelope: JSON.stringify((await delegated({ nonce: 'two' })).envelope).slice(1, -1),
  }
  return Object.assign(rig, { fill: (text: string) => text.replace(/\$\w+/g, (name) => names[name] ?? '') })
}

interface Attempt {
  readonly token?: string
  readonly type?: string
  readonly body?: string
}

async function send(
  rig: Awaited<ReturnType<typeof furnished>>,
  route: ApiRoute,
  attempt: Attempt,
): Promise<Response> {
  const row = TABLE[route.id]
  const text = attempt.body ?? (row?.body && rig.fill(JSON.stringify(row.body)))
  const abort = new AbortController()
  const response = await rig.app.fetch(
    new Request(`http://x${rig.fill(row?.url ?? route.path)}`, {
      method: route.method,
      signal: abort.signal,
      headers: {
        ...(attempt.token !== undefined && { authorization: attempt.token }),
        ...(text !== undefined && { 'content-type': attempt.type ?? 'application/json' }),
      },
      ...(text !== undefined && { body: text }),
    }),
  )
  abort.abort()
  return response
}

const guarded = ROUTES.filter((route) => !isPermitted(route, 'no token'))

describe.each(guarded.map((route) => [route.id, route] as const))('%s', (_, route) => {
  let rig: Awaited<ReturnType<typeof furnished>>
  beforeAll(async () => {
    rig = await furnished()
  })

  const strangers: Readonly<Record<string, () => string | undefined | Promise<string>>> = {
    'no token': () => undefined,
    'an unknown token': () => `Bearer tg_admin_${'A'.repeat(43)}`,
    'another scheme': () => `Basic ${rig.token('admin')}`,
    'two words': () => `Bearer ${rig.token('admin')} x`,
    'an empty token': () => 'Bearer ',
    async 'a revoked token'() {
      const { token, info } = await rig.tokens.issue(
        { role: 'admin', tenant: 'default', principal: 'user:x' },
        'test',
      )
      await rig.tokens.revoke(info.hash, 'test')
      return `Bearer ${token}`
    },
    async 'a token that has ended'() {
      const request = { role: 'admin', tenant: 'default', principal: 'user:x', lasts: -1 } as const
      return `Bearer ${(await rig.tokens.issue(request, 'test')).token}`
    },
  }
  test.each(Object.entries(strangers))('refuses %s', async (_, make) => {
    const before = rig.receipts().length
    const token = await make()
    const made = rig.receipts().length
    const response = await send(rig, route, token === undefined ? {} : { token })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    const { code } = (await response.json()) as { code: string }
    expect(code).toBe(token === undefined ? 'token-missing' : 'token-unknown')
    expect(rig.receipts().length).toBe(made)
    expect(made).toBeGreaterThanOrEqual(before)
  })

  test.each(ROLES.map((role) => [role, isPermitted(route, role)] as const))(
    'for %s: %s',
    async (role, may) => {
      const fresh = await furnished()
      const before = fresh.receipts().length
      const response = await send(fresh, route, { token: `Bearer ${fresh.token(role)}` })
      expect(response.status).toBe(may ? TABLE[route.id]?.status : 403)
      if (may) return
      expect(((await response.json()) as { code: string }).code).toBe('role-forbidden')
      expect(fresh.receipts().length).toBe(before)
    },
  )
})

describe.each(
  ROUTES.filter((route) => isPermitted(route, 'no token')).map((route) => [route.id, route] as const),
)('%s', (id, route) => {
  test('needs no token', async () => {
    expect((await send(await furnished(), route, {})).status).toBe(TABLE[id]?.status)
  })

  test.each(ROLES)('answers %s too', async (role) => {
    const rig = await furnished()
    expect(isPermitted(route, role)).toBe(true)
    expect((await send(rig, route, { token: `Bearer ${rig.token(role)}` })).status).toBe(TABLE[id]?.status)
  })
})

const withBody = ROUTES.filter(({ body }) => body)

describe.each(withBody.map((route) => [route.id, route] as const))('the body of %s', (_, route) => {
  // A role that is permitted, so that only the body can be wrong.
  const person = (route.roles as readonly Role[])[0] as Person
  const bad: readonly (readonly [string, Attempt, number])[] = [
    ['of another type', { type: 'text/plain', body: '{}' }, 415],
    ['of a form', { type: 'application/x-www-form-urlencoded', body: 'a=b' }, 415],
    ['in another charset', { type: 'application/json; charset=utf-16', body: '{}' }, 415],
    ['over the limit', { body: JSON.stringify({ a: 'x'.repeat(70_000) }) }, 413],
    ['with an unknown member', { body: '{"zzz":1}' }, 400],
    ['that is a list', { body: '[]' }, 400],
  ]
  test.each(bad)('%s is refused', async (_, attempt, status) => {
    const rig = await furnished()
    const before = rig.receipts().length
    const response = await send(rig, route, { ...attempt, token: `Bearer ${rig.token(person)}` })
    expect(response.status).toBe(status)
    expect(rig.receipts().length).toBe(before)
  })

  const ambiguous = [
    '{',
    '{"a":1,"a":1}',
    '{"a":"\\ud800"}',
    `${'['.repeat(70)}${']'.repeat(70)}`,
    '{"a":-0}',
    '\ufeff{}',
  ]
  test.each(ambiguous)('%s is never accepted', async (body) => {
    const rig = await furnished()
    const response = await send(rig, route, { body, token: `Bearer ${rig.token(person)}` })
    const answer = (await response.json()) as Record<string, unknown>
    // Routes that decide calls deny it with a receipt, others refuse it.
    if (route.body?.raw === true) expect([response.status, answer.verdict]).toEqual([200, 'DENY'])
    else expect([response.status, answer.code]).toEqual([400, 'request-invalid'])
  })
})

describe('another principal', () => {
  const hidden = [
    'other GET /v1/receipts/$decision',
    'other GET /v1/receipts/$decision/proof',
    'other GET /v1/approvals/$request',
    'other GET /v1/sessions/s1?principal=agent:a',
    'other GET /v1/sessions/s1',
    'far-agent GET /v1/receipts/$decision',
    'far-agent GET /v1/approvals/$request',
    'far-agent GET /v1/sessions/s1',
    'far-operator GET /v1/receipts/$decision',
    'far-operator GET /v1/approvals/$request',
    'far-auditor GET /v1/sessions/s1?principal=agent:a',
    'far-auditor GET /v1/evidence/export?receipt=$decision',
    'far-admin DELETE /v1/tokens/$token',
    'other GET /v1/principals/agent:a',
    'other GET /v1/delegations/$delegation',
    'other POST /v1/delegations/$delegation/revoke',
    'far-agent GET /v1/delegations/$delegation',
    'far-agent POST /v1/delegations/$delegation/revoke',
    'far-auditor GET /v1/delegations/$delegation',
    'far-admin POST /v1/delegations/$delegation/revoke',
  ]
  test.each(hidden)('%s is not found, as if it did not exist', async (line) => {
    const rig = await furnished()
    const [person = '', method = '', url = ''] = rig.fill(line).split(' ')
    const there = await rig.ask(person as Person, method, url)
    const nowhere = await rig.ask(
      person as Person,
      method,
      url.replace(/[0-9a-f]{64}|s1/, (id) => sha256Hex(id)),
    )
    expect([there.status, there.text]).toEqual([404, nowhere.text])
    expect(there.text).toContain('not-found')
  })

  const forbidden = [
    'far-auditor GET /v1/evidence/export',
    'far-auditor GET /v1/evidence/export?from=0',
    'far-auditor GET /v1/evidence/export?to=1',
    'far-auditor GET /v1/tools',
    'far-operator GET /v1/tools/definition?tool=fs/read_file',
  ]
  test.each(forbidden)('%s is not allowed', async (line) => {
    const [person = '', method = '', url = ''] = line.split(' ')
    expect((await (await furnished()).ask(person as Person, method, url)).status).toBe(403)
  })

  test('gets empty lists', async () => {
    const rig = await furnished()
    const receipts = async (person: Person, query = ''): Promise<unknown> =>
      (await rig.ask(person, 'GET', `/v1/receipts${query}`)).json.receipts
    expect(await receipts('other')).toEqual([])
    expect(await receipts('other', '?principal=agent:a')).toEqual([])
    expect(await receipts('agent', '?principal=agent:b')).toEqual([])
    expect(await receipts('agent')).toHaveLength(2)
    expect(await receipts('far-agent')).toEqual([])
    expect(await receipts('far-auditor', '?principal=agent:a')).toEqual([])
    const approvals = async (person: Person): Promise<unknown> =>
      (await rig.ask(person, 'GET', '/v1/approvals')).json.approvals
    expect(await approvals('other')).toEqual([])
    expect(await approvals('far-operator')).toEqual([])
    expect(await approvals('agent')).toHaveLength(1)
    const delegations = async (person: Person): Promise<unknown> =>
      (await rig.ask(person, 'GET', '/v1/delegations')).json.delegations
    expect(await delegations('other')).toEqual([])
    expect(await delegations('far-auditor')).toEqual([])
    expect(await delegations('agent')).toHaveLength(1)
    const own = (await rig.ask('far-admin', 'GET', '/v1/tokens')).json.tokens as { tenant: string }[]
    expect(new Set(own.map(({ tenant }) => tenant))).toEqual(new Set(['far']))
  })

  test('cannot register a delegation between others, nor one of another tenant', async () => {
    const rig = await furnished()
    const before = rig.receipts().length
    const { envelope } = await delegated({ nonce: 'two' })
    const handedIn = async (person: Person): Promise<unknown[]> => {
      const { status, json } = await rig.ask(person, 'POST', '/v1/delegations', { envelope })
      return [status, json.code]
    }
    expect(await handedIn('other')).toEqual([403, 'role-forbidden'])
    expect(await handedIn('far-agent')).toEqual([409, 'delegation-refused'])
    expect(await handedIn('far-admin')).toEqual([409, 'delegation-refused'])
    expect(rig.receipts().length).toBe(before)
  })

  test('in another tenant cannot pin or unpin', async () => {
    const rig = await furnished()
    const before = rig.receipts().length
    const pin = { tool: 'fs/new', hash: rig.fill('$offered') }
    expect((await rig.ask('far-admin', 'POST', '/v1/tools/pin', pin)).status).toBe(403)
    expect((await rig.ask('far-admin', 'POST', '/v1/tools/unpin', { tool: 'fs/read_file' })).status).toBe(403)
    expect(rig.receipts().length).toBe(before)
  })

  test('in another tenant cannot answer, freeze everything, or change the policy here', async () => {
    const rig = await furnished()
    const request = rig.fill('$request')
    const answered = await rig.ask('far-operator', 'POST', `/v1/approvals/${request}/approve`)
    const invented = await rig.ask('far-operator', 'POST', `/v1/approvals/${sha256Hex('x')}/approve`)
    expect([answered.status, answered.text]).toEqual([409, invented.text])
    expect((await rig.ask('far-admin', 'POST', '/v1/freeze', { scope: 'all', frozen: true })).status).toBe(
      403,
    )
    const text = 'tollgate: 1\nname: far\nrules: []\n'
    expect((await rig.ask('far-admin', 'POST', '/v1/policy', { text })).status).toBe(200)
    expect((await rig.ask('admin', 'GET', '/v1/policy')).json.name).toBe('test')
    expect((await rig.ask('far-admin', 'GET', '/v1/policy')).json).toMatchObject({
      name: 'far',
      pending: null,
    })
    await rig.ask('far-operator', 'POST', '/v1/freeze', {
      scope: 'principal',
      target: 'agent:a',
      frozen: true,
    })
    expect((await rig.ask('operator', 'GET', '/v1/freeze')).json.freezes).toEqual([])
    expect((await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })).json.verdict).toBe(
      'ALLOW',
    )
  })
})

describe('a token that is revoked during the request', () => {
  const withBody = ROUTES.filter(({ body, roles }) => body && roles !== 'public')

  /** Sends half a body, runs a function, and sends the rest. */
  async function halfway(
    rig: Awaited<ReturnType<typeof furnished>>,
    route: ApiRoute,
    token: string,
    between: () => unknown,
  ): Promise<Response> {
    const row = TABLE[route.id]
    const bytes = Buffer.from(rig.fill(JSON.stringify(row?.body ?? {})))
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(bytes.subarray(0, 1))
        await new Promise((resolve) => setTimeout(resolve, 5))
        await between()
        controller.enqueue(bytes.subarray(1))
        controller.close()
      },
    })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method: route.method, headers, body, duplex: 'half' } as const
    return rig.app.fetch(new Request(`http://x${rig.fill(row?.url ?? route.path)}`, init))
  }

  const cases = withBody.flatMap((route) =>
    (['revoked', 'ended'] as const).map((how) => [route.id, how, route] as const),
  )
  test.each(cases)('%s: %s before the body has arrived, nothing is done', async (_, how, route) => {
    const rig = await furnished()
    const role = (route.roles as readonly Role[])[0] ?? 'admin'
    const principal = role === 'agent' ? 'agent:a' : 'user:x'
    const { token, info } = await rig.tokens.issue(
      { role, tenant: 'default', principal, lasts: 60_000 },
      'test',
    )
    const before = rig.receipts().length
    const response = await halfway(rig, route, token, () =>
      how === 'revoked' ? rig.tokens.revoke(info.hash, 'test') : (rig.host.time += 61_000),
    )
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ code: 'token-unknown' })
    expect(rig.receipts().length).toBe(how === 'revoked' ? before + 1 : before)
    expect(rig.tokens.list().some(({ principal: each }) => each === 'agent:c')).toBe(false)
  })

  /** A rig, and a function that runs once during the next write of its ledger. */
  async function slowly(): Promise<{ rig: ApiRig; meanwhile: (run: () => void) => void }> {
    let next: (() => void) | undefined
    const rig = await createApiRig({
      between: (store) => ({
        ...store,
        write(batch) {
          const run = next
          next = undefined
          run?.()
          return store.write(batch)
        },
      }),
    })
    return { rig, meanwhile: (run) => (next = run) }
  }

  function hashOf(rig: ApiRig, person: Person): string {
    return sha256Hex(rig.token(person))
  }

  test('gets no ALLOW that was decided in the meantime', async () => {
    const { rig, meanwhile } = await slowly()
    meanwhile(() => void rig.tokens.revoke(hashOf(rig, 'agent'), 'test'))
    const { status, text } = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    expect(status).toBe(401)
    expect(text).not.toContain('ALLOW')
  })

  test('gets no new token that was issued in the meantime', async () => {
    const { rig, meanwhile } = await slowly()
    meanwhile(() => void rig.tokens.revoke(hashOf(rig, 'admin'), 'test'))
    const asked = { role: 'admin', principal: 'user:thief' }
    const { status, text } = await rig.ask('admin', 'POST', '/v1/tokens', asked)
    expect(status).toBe(401)
    expect(text).not.toContain('tg_')
    expect(rig.tokens.list().some(({ principal }) => principal === 'user:thief')).toBe(false)
    expect(rig.receipts().at(-1)).toMatchObject({ kind: 'token', op: 'revoke', principal: 'user:thief' })
  })

  test('does not get the rest of an export', async () => {
    const rig = await furnished()
    const headers = { authorization: `Bearer ${rig.token('auditor')}` }
    const response = await rig.app.fetch(new Request('http://x/v1/evidence/export', { headers }))
    expect(response.status).toBe(200)
    await rig.tokens.revoke(hashOf(rig, 'auditor'), 'test')
    await expect(response.arrayBuffer()).rejects.toThrow('token')
  })
})

test('no answer allows another origin to read it', async () => {
  const rig = await furnished()
  for (const route of ROUTES) {
    const response = await send(rig, route, { token: `Bearer ${rig.token('admin')}` })
    const names = [...response.headers.keys()]
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect((await rig.ask('admin', 'OPTIONS', rig.fill(TABLE[route.id]?.url ?? route.path))).status).toBe(405)
  }
})

describe('without a kernel', () => {
  const reading = [
    'listReceipts',
    'showReceipt',
    'proveReceipt',
    'streamReceipts',
    'showCheckpoint',
    'exportEvidence',
  ]
  const works = new Set([...reading, 'showStatus', 'isAlive', 'showMetrics', 'showOpenApi'])

  test.each(ROUTES.map((route) => [route.id, works.has(route.id) ? 200 : 503, route] as const))(
    '%s answers %i',
    async (id, status, route) => {
      const rig = await furnished()
      const role = Array.isArray(route.roles) ? (route.roles as readonly Role[]).at(-1) : 'auditor'
      const identity = { role: role ?? 'auditor', tenant: 'default', principal: 'agent:a', groups: [] }
      const app = new App({
        ...rig.options,
        kernel: undefined,
        tokens: undefined,
        identity,
      })
      const response = await send(Object.assign({ ...rig, app }, { fill: rig.fill }), route, {})
      expect([id, response.status]).toEqual([id, status])
      if (status === 200) return
      expect(await response.json()).toMatchObject({ code: 'gateway-needed' })
      expect(problemsOf(route)).toContain('gateway-needed')
    },
  )

  test('no caller is known without tokens and identity', async () => {
    const rig = await createApiRig({ api: { kernel: undefined, tokens: undefined } })
    expect((await rig.ask('admin', 'GET', '/v1/status')).status).toBe(401)
  })
})
