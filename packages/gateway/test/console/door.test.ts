// The console's sessions, from the side of the gateway: who gets one, what proves it, and when it ends.

import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, createServedRig, type ServedRig } from '../serve/serve-rig.ts'

afterEach(closeAll)

interface Session {
  readonly rig: ServedRig
  readonly cookie: string
  readonly key: string
}

async function signIn(
  rig: ServedRig,
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${rig.url}/console/api/session`, {
    method: 'POST',
    headers: { origin: rig.url, 'content-type': 'application/json', ...more },
    body: JSON.stringify({ token }),
  })
}

async function begin(
  rig: ServedRig,
  person: 'operator' | 'admin' | 'auditor' = 'operator',
): Promise<Session> {
  const response = await signIn(rig, rig.token(person))
  const { key } = (await response.json()) as { key: string }
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  return { rig, cookie, key }
}

type Changes = Readonly<Record<string, string | undefined>>

/** Sends a request as the page does, with changed headers; `undefined` leaves one out. */
async function send(
  { rig, cookie, key }: Session,
  changes: Changes = {},
  path = '/v1/status',
  method = 'GET',
): Promise<number> {
  const headers: Changes = { cookie, 'tollgate-console': key, 'sec-fetch-site': 'same-origin', ...changes }
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  const body = method === 'POST' ? { body: '{"scope":"all","frozen":true}' } : {}
  const response = await fetch(`${rig.url}/console/api${path}`, {
    method,
    headers: given as [string, string][],
    ...body,
  })
  await response.text()
  return response.status
}

describe('a session', () => {
  it('is proved by a cookie that no script reads, and by a key', async () => {
    const rig = await createServedRig()
    const response = await signIn(rig, rig.token('operator'))
    expect(response.headers.get('set-cookie')).toMatch(
      /^tollgate-console-[0-9]+=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    )
    expect(await response.text()).toMatch(/^\{"key":"[\w-]{43}"\}$/)
    expect(JSON.stringify(rig.log)).not.toContain(rig.token('operator'))
  })

  const refused: readonly (readonly [string, number, Changes])[] = [
    ['both', 200, {}],
    ['no cookie', 401, { cookie: undefined }],
    ['no key', 401, { 'tollgate-console': undefined }],
    ['a wrong key', 401, { 'tollgate-console': 'a'.repeat(43) }],
    ['a key that is no key', 401, { 'tollgate-console': '' }],
    ['a token of its own beside it', 401, { cookie: undefined, authorization: 'Bearer tg_operator_x' }],
    ['a page of another site', 403, { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', 403, { 'sec-fetch-site': 'same-site' }],
    ['a link from elsewhere', 403, { 'sec-fetch-site': 'none' }],
  ]
  it.each(refused)('a request with %s gets %i', async (_, status, changes) => {
    expect(await send(await begin(await createServedRig()), changes)).toBe(status)
  })

  it('a cookie that is there twice counts as none', async () => {
    const session = await begin(await createServedRig())
    expect(await send(session, { cookie: `${session.cookie}; ${session.cookie}` })).toBe(401)
    expect(await send(session, { cookie: `other=1; ${session.cookie}` })).toBe(200)
  })

  it('changes something only for a page of this origin', async () => {
    const session = await begin(await createServedRig())
    const { rig } = session
    const post = (origin: string | undefined): Promise<number> =>
      send(session, { origin, 'content-type': 'application/json' }, '/v1/freeze', 'POST')
    expect(await post(undefined)).toBe(403)
    expect(await post('http://evil.test')).toBe(403)
    expect(await post('http://127.0.0.1:1')).toBe(403)
    expect(rig.receipts().some(({ kind }) => kind === 'freeze')).toBe(false)
    expect(await post(rig.url)).toBe(200)
  })

  it('is not for pages of other origins that may use the API', async () => {
    const friend = 'https://friend.test'
    const rig = await createServedRig({ cors: [friend] })
    expect((await signIn(rig, rig.token('operator'), { origin: friend })).status).toBe(403)
    const session = await begin(rig)
    expect(await send(session, { origin: friend })).toBe(403)
  })

  it('means nothing to the API outside of the console', async () => {
    const { rig, cookie, key } = await begin(await createServedRig())
    const headers = { cookie, 'tollgate-console': key, origin: rig.url }
    for (const path of ['/v1/status', '/v1/approvals', '/mcp', '/metrics'])
      expect((await fetch(rig.url + path, { headers })).status, path).toBeGreaterThanOrEqual(401)
  })

  it('has exactly the role of its token', async () => {
    const auditor = await begin(await createServedRig(), 'auditor')
    const { url } = auditor.rig
    const post = { origin: url, 'content-type': 'application/json' }
    expect(await send(auditor, post, '/v1/freeze', 'POST')).toBe(403)
    expect(await send(auditor, {}, '/v1/freeze')).toBe(200)
    expect(await send(auditor, {}, '/v1/tokens')).toBe(403)
  })

  it('ends after eight hours, or after one hour without an input of the person', async () => {
    const session = await begin(await createServedRig())
    const { host } = session.rig
    host.time += 59 * 60_000
    expect(await send(session)).toBe(200)
    host.time += 60_000
    expect(await send(session)).toBe(401)
    const active = await begin(session.rig)
    for (let minutes = 0; minutes < 8 * 60; minutes += 30) {
      expect(await send(active, { 'tollgate-console-active': '1' })).toBe(200)
      host.time += 30 * 60_000
    }
    expect(await send(active, { 'tollgate-console-active': '1' })).toBe(401)
  })

  it('ends with its token', async () => {
    const session = await begin(await createServedRig())
    const [info] = session.rig.tokens.list().filter(({ principal }) => principal === 'user:olga')
    await session.rig.tokens.revoke(info?.hash ?? '', 'test')
    expect(await send(session)).toBe(401)
  })

  it('ends its streams', async () => {
    const session = await begin(await createServedRig())
    const { rig, cookie, key } = session
    const response = await fetch(`${rig.url}/console/api/v1/notices`, {
      headers: { cookie, 'tollgate-console': key },
    })
    const reader = response.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: notice')
    expect(await send(session, { origin: rig.url }, '/session', 'DELETE')).toBe(200)
    // The next change wakes the stream.
    await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'mail/send', arguments: { to: 'a@example.com' } })
    expect((await reader?.read())?.done).toBe(true)
  })

  it('makes room for the newest: sixteen of one person', async () => {
    const rig = await createServedRig()
    const sessions = await Promise.all(Array.from({ length: 17 }, () => begin(rig)))
    const statuses = await Promise.all(sessions.map((each) => send(each)))
    expect(statuses.filter((status) => status === 401)).toHaveLength(1)
  })
})

describe('sign-in', () => {
  const bodies: readonly (readonly [string, unknown, number])[] = [
    ['nothing', {}, 400],
    ['a number', { token: 7 }, 400],
    ['an unknown token', { token: `tg_operator_${'a'.repeat(43)}` }, 401],
    ['two lines', { token: 'a\nb' }, 400],
    ['a text of 9,000 characters', { token: 'a'.repeat(9000) }, 400],
    ['another member', { token: 'a', role: 'admin' }, 400],
  ]
  it.each(bodies)('with %s gives no session', async (_, body, status) => {
    const rig = await createServedRig()
    const headers = { origin: rig.url, 'content-type': 'application/json' }
    const answer = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${rig.url}/console/api/session`, answer)
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, null])
  })

  it('needs the origin of the gateway', async () => {
    const rig = await createServedRig()
    expect((await signIn(rig, rig.token('operator'), { origin: 'https://evil.test' })).status).toBe(403)
  })
})

describe('the page', () => {
  it('has a policy that allows its own files and nothing else', async () => {
    const { url } = await createServedRig()
    const response = await fetch(`${url}/console/approvals/x`)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    const html = await response.text()
    expect(html).not.toMatch(/<style|<script(?![^>]* src="\/console\/assets\/)|https?:|\son[a-z]+=/)
  })

  it('loads in less than 250 KB', async () => {
    const { url } = await createServedRig()
    const html = await (await fetch(`${url}/console`)).text()
    const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(2)
    let size = html.length
    // The script names the parts that it always needs.
    for (const name of names) {
      const text = name.endsWith('.js') ? await (await fetch(url + name)).text() : ''
      const parts = [...text.matchAll(/from"\.\/([\w.-]+)"/g)].map(
        ([, part = '']) => `/console/assets/${part}`,
      )
      names.push(...parts.filter((part) => !names.includes(part)))
      const { status, headers } = await fetch(url + name, { headers: { 'accept-encoding': 'gzip' } })
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      size += Number(headers.get('content-length'))
    }
    expect(size).toBeLessThan(250_000)
  })

  const paths: readonly (readonly [string, string, number])[] = [
    ['GET', '/console/assets/index.html', 404],
    ['GET', '/console/assets/../index.html', 200],
    ['GET', '/console/assets/..%2f..%2fpackage.json', 404],
    ['POST', '/console', 405],
    ['GET', '/console/api/session', 401],
    ['PUT', '/console/api/session', 403],
    ['GET', '/consoles', 404],
  ]
  it.each(paths)('%s %s gives %i', async (method, path, status) => {
    const { url } = await createServedRig()
    expect((await fetch(url + path, { method })).status).toBe(status)
  })
})
