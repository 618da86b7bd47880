import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Kernel, Store } from '@tollgate/kernel'
import { SignIn } from '../../src/sign-in/sign-in.ts'
import type { SignInConfig } from '../../src/config/sign-in.ts'
import { START } from '../api/rig.ts'
import { closeAll, createServedRig, type ServedRig } from '../serve/serve-rig.ts'
import {
  CLAIMS,
  CONFIG,
  createIssuer,
  curveKey,
  ISSUER,
  jwkOf,
  tokenOf,
  type TestIssuer,
  type TestKey,
} from './issuer.ts'

let key: TestKey

beforeAll(() => {
  key = curveKey('1')
})
afterEach(closeAll)

interface CallInit extends RequestInit {
  readonly headers?: Record<string, string>
}

interface Rig extends ServedRig {
  readonly issuer: TestIssuer
  /** Sends a request with an access token. */
  readonly send: (token: string | undefined, path?: string, init?: CallInit) => Promise<Response>
}

const POLICY = `
tollgate: 1
name: test
principals: { "oidc:claude/*": { tier: standard } }
tools:
  "fs/read_file": { effect: read, destinations: none }
  "fs/write_file": { effect: write, destinations: none }
  "fs/drop": { effect: write, destinations: none }
rules:
  - { id: reading, allow: "fs/read_file", principal: "oidc:claude/*" }
  - { id: writing, require: "fs/write_file" }
  - { id: dropping, require: "fs/drop", approvers: others }
`

async function createRig(
  config: Partial<SignInConfig> = {},
  between?: (store: Store) => Store,
): Promise<Rig> {
  const issuer = createIssuer(jwkOf(key))
  const signIn = (kernel: Kernel): SignIn =>
    new SignIn({
      config: { ...CONFIG, ...config },
      kernel,
      tenant: 'default',
      log: () => undefined,
      fetch: issuer.fetch,
    })
  const rig = await createServedRig({}, { policy: POLICY, signIn, ...(between && { between }) })
  return {
    ...rig,
    issuer,
    send: (token, path = '/v1/status', init = {}) =>
      fetch(rig.url + path, {
        ...init,
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers },
      }),
  }
}

function tokensOn(rig: ServedRig): readonly object[] {
  return rig.receipts().filter((receipt) => receipt.kind === 'token' && receipt.by === ISSUER)
}

const CALL = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ tool: 'fs/read_file', arguments: {}, session_id: 's' }),
}

describe('sign-in', () => {
  it('decides the calls of an access token under the principal of its subject', async () => {
    const rig = await createRig()
    const answer = await rig.send(tokenOf(key), '/v1/evaluate', CALL)
    expect([answer.status, await answer.json()]).toMatchObject([200, { verdict: 'ALLOW' }])
    expect(rig.receipts().at(-1)).toMatchObject({
      kind: 'decision',
      principal: 'oidc:claude/olga',
      person: 'oidc-user:olga',
      tenant: 'default',
    })
  })

  it('writes a receipt at the first use of a subject, once', async () => {
    const rig = await createRig()
    const tokens = Array.from({ length: 8 }, (_, i) => tokenOf(key, { ...CLAIMS, jti: String(i) }))
    const answers = await Promise.all([...tokens, ...tokens].map((token) => rig.send(token)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(tokensOn(rig)).toMatchObject([
      {
        op: 'issue',
        role: 'agent',
        principal: 'oidc:claude/olga',
        token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      },
    ])
    // Another run of the gateway on the same ledger.
    const again = new SignIn({
      ...{ config: CONFIG, kernel: rig.kernel, tenant: 'default' },
      ...{ log: () => undefined, fetch: rig.issuer.fetch },
    })
    expect(await again.verify(tokens[0] ?? '')).toBeUndefined()
    expect(again.identify(tokens[0] ?? '')).toMatchObject({
      principal: 'oidc:claude/olga',
      person: 'oidc-user:olga',
    })
    expect(tokensOn(rig)).toHaveLength(1)
  })

  it('writes another receipt when the rights of a subject change, and for another person', async () => {
    const rig = await createRig()
    const operator = { ...CLAIMS, client_id: 'console', groups: ['gate-operators'] }
    await rig.send(tokenOf(key, { ...operator, groups: [] }))
    await rig.send(tokenOf(key, operator))
    await rig.send(tokenOf(key, { ...operator, sub: 'otto' }))
    expect(tokensOn(rig)).toMatchObject([
      { role: 'agent', principal: 'oidc-user:olga' },
      { role: 'operator', principal: 'oidc-user:olga', groups: ['gate-operators'] },
      { role: 'operator', principal: 'oidc-user:otto' },
    ])
  })

  it('accepts nothing if the first use cannot be recorded', async () => {
    let isBroken = false
    const rig = await createRig({}, (store) => ({
      ...store,
      write: (batch) => (isBroken ? Promise.reject(new Error('disk')) : store.write(batch)),
    }))
    isBroken = true
    const answer = await rig.send(tokenOf(key))
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'sign-in-unavailable' }])
  })

  it('verifies a token once, until it expires or its key is removed', async () => {
    const rig = await createRig()
    const token = tokenOf(key)
    for (let i = 0; i < 5; i++) expect((await rig.send(token)).status).toBe(200)
    expect(rig.issuer.fetched).toHaveLength(2)
    rig.issuer.keys = [jwkOf(curveKey('2'))]
    rig.host.time = START + 600_000 + 1
    // The old keys are still good for this request; the next one finds the new keys.
    await rig.send(token)
    await expect.poll(async () => (await rig.send(token)).status).toBe(401)
    const fresh = await createRig()
    expect((await fresh.send(token)).status).toBe(200)
    fresh.host.time = CLAIMS.exp * 1000 + 31_000
    const late = await fresh.send(token)
    expect([late.status, await late.json()]).toMatchObject([
      401,
      { detail: expect.stringContaining('expired') as unknown },
    ])
  })

  it('gives a person the routes of the role, and an agent never more than those of agents', async () => {
    const { send } = await createRig()
    const groups = ['gate-operators']
    const freeze = {
      ...CALL,
      body: JSON.stringify({ scope: 'principal', target: 'oidc:claude/olga', frozen: true, because: 'test' }),
    }
    expect((await send(tokenOf(key, { ...CLAIMS, groups }), '/v1/freeze', freeze)).status).toBe(403)
    expect(
      (await send(tokenOf(key, { ...CLAIMS, groups, client_id: 'console' }), '/v1/freeze', freeze)).status,
    ).toBe(200)
    const frozen = await send(tokenOf(key), '/v1/evaluate', CALL)
    expect(await frozen.json()).toMatchObject({ verdict: 'DENY', rung: 'freeze' })
  })

  it('lets the person behind an agent approve its call, unless the rule says `others`', async () => {
    const rig = await createRig()
    const { send } = rig
    const own = tokenOf(key, { ...CLAIMS, client_id: 'console', groups: ['gate-operators'] })
    const other = tokenOf(key, { ...CLAIMS, client_id: 'console', groups: ['gate-operators'], sub: 'otto' })
    const ask = async (tool: string): Promise<string> => {
      const body = JSON.stringify({ tool, arguments: {}, session_id: 's' })
      const answer = (await (await send(tokenOf(key), '/v1/evaluate', { ...CALL, body })).json()) as object
      return 'approval' in answer ? String(answer.approval) : ''
    }
    const approve = async (token: string, id: string): Promise<number> =>
      (await send(token, `/v1/approvals/${id}/approve`, { ...CALL, body: '{}' })).status
    expect(await approve(own, await ask('fs/write_file'))).toBe(200)
    expect(rig.receipts().at(-1)).toMatchObject({ kind: 'approval', approver: 'oidc-user:olga' })
    const id = await ask('fs/drop')
    expect([await approve(tokenOf(key), id), await approve(own, id), await approve(other, id)]).toEqual([
      403, 409, 200,
    ])
  })

  it('issues no token of the gateway for a name of the issuer', async () => {
    const rig = await createRig()
    for (const principal of ['oidc:claude/olga', 'oidc-user:olga', 'oidc:']) {
      const body = { role: 'operator', principal }
      expect((await rig.ask('admin', 'POST', '/v1/tokens', body)).status).toBe(400)
    }
  })
})

describe('a caller without a valid access token', () => {
  it.each([
    ['/v1/status', ''],
    ['/v1/evaluate', ''],
  ])('learns where to get one: %s', async (path, resource) => {
    const { send, port } = await createRig()
    const metadata = `resource_metadata="http://127.0.0.1:${port}/.well-known/oauth-protected-resource${resource}"`
    const init = path.endsWith('status') ? {} : CALL
    const missing = await send(undefined, path, init)
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer realm="tollgate", ${metadata}`,
    ])
    const wrong = await send(tokenOf(key, { ...CLAIMS, aud: 'x' }), path, init)
    const challenge = `Bearer realm="tollgate", error="invalid_token", ${metadata}`
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, challenge])
    expect(await wrong.json()).toMatchObject({
      detail: expect.stringContaining('request one for `https://gate') as unknown,
    })
  })

  it.each(['', '/mcp', '/mcp/files'])('finds the metadata of the resource `%s`', async (path) => {
    const { send, port } = await createRig({ scope: 'tools' })
    const answer = await send(undefined, `/.well-known/oauth-protected-resource${path}`)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        resource: `http://127.0.0.1:${port}${path}`,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
        scopes_supported: ['tools'],
        resource_name: 'Tollgate',
      },
    ])
  })

  it('gets 503 while the keys of the issuer are not available, and no call is decided', async () => {
    const rig = await createRig()
    rig.issuer.fault = () => {
      throw new Error('down')
    }
    const before = rig.receipts().length
    const answer = await rig.send(tokenOf(key), '/v1/evaluate', CALL)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10'])
    expect(rig.receipts()).toHaveLength(before)
    // Tokens of the gateway do not depend on the issuer.
    expect((await rig.send(rig.token('agent'))).status).toBe(200)
  })

  it('is told nothing about an issuer if none is configured', async () => {
    const rig = await createServedRig()
    const path = '/.well-known/oauth-protected-resource/mcp'
    expect((await fetch(rig.url + path)).status).toBe(404)
    const answer = await fetch(`${rig.url}/v1/status`, {
      headers: { authorization: `Bearer ${tokenOf(key)}` },
    })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="tollgate"'])
  })
})
