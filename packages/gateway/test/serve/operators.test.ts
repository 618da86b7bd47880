// The operators' socket: who may use it, and that it answers while the port does not.

import { once } from 'node:events'
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ROUTES } from '../../src/api/routes.ts'
import { connect } from '../../src/cli/program/connect.ts'
import { createData } from '../../src/cli/setup/create.ts'
import { CHECKS } from '../../src/cli/setup/doctor-checks.ts'
import { fetchBy } from '../../src/cli/program/fetch-by.ts'
import { operatorSocket } from '../../src/cli/program/operator-socket.ts'
import { runGateway } from '../../src/cli/setup/run-gateway.ts'
import { readConfig } from '../../src/config/config.ts'
import { silent } from '../../src/log.ts'
import { hooksPath, operatorsPath } from '../../src/mcp/client/local-path.ts'
import { serve, type ListenOptions } from '../../src/serve.ts'
import { createApiRig, type ApiRig, type Person } from '../api/rig.ts'
import { newFolder } from '../gateway-rig.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const end of ends.splice(0).reverse()) await end()
})

interface Rig extends ApiRig {
  readonly data: string
  readonly path: string
  readonly port: number
  /** The status of a request on the socket. */
  status(
    person: Person | undefined,
    method: string,
    path: string,
    headers?: Record<string, string>,
  ): Promise<number>
}

async function openRig(listen: Partial<ListenOptions> = {}): Promise<Rig> {
  const api = await createApiRig()
  const data = newFolder()
  const served = await serve(api.options, {
    host: '127.0.0.1',
    port: 0,
    grace: 200,
    operators: data,
    ...listen,
  })
  ends.push(() => served.close())
  const path = operatorsPath(data)
  return {
    ...api,
    data,
    path,
    port: Number(new URL(served.url).port),
    status: (person, method, at, { socketPath = path, ...headers } = {}) =>
      new Promise((resolve, reject) => {
        const token = person === undefined ? {} : { authorization: `Bearer ${api.token(person)}` }
        const all = { host: 'localhost', 'content-type': 'application/json', ...token, ...headers }
        const sent = httpRequest({ socketPath, method, path: at, headers: all }, (reply) => {
          reply.resume().on('end', () => resolve(reply.statusCode ?? 0))
        })
        sent.on('error', reject)
        sent.end()
      }),
  }
}

describe('the socket of the operators', () => {
  it('is accessible only to this user, and is removed with the gateway', async () => {
    const { data, path } = await openRig()
    expect(path).toBe(join(data, 'operator.sock'))
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(data).sort()).toEqual(['hooks.sock', 'operator.sock'])
    await ends.pop()?.()
    expect(readdirSync(data)).toEqual([])
  })

  it('has a path even if the name of the data directory is too long', async () => {
    const data = join(newFolder(), 'x'.repeat(120))
    mkdirSync(data, { mode: 0o700 })
    await openRig({ operators: data })
    expect(operatorsPath(data)).not.toContain(data)
    const path = operatorsPath(data)
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(lstatSync(dirname(path)).mode & 0o077).toBe(0)
    const url = new URL('http://localhost/healthz')
    expect((await fetchBy({ socketPath: path }, url, {})).status).toBe(401)
  })

  it('refuses every route without a token of an operator or admin', async () => {
    const rig = await openRig()
    const others = [undefined, 'agent', 'host', 'sentinel', 'auditor'] as const
    for (const { method, path } of ROUTES) {
      const at = path.replace(/\{\w+\}/g, 'a'.repeat(64))
      const statuses = []
      for (const person of others) statuses.push(await rig.status(person, method, at))
      expect([method, path, ...statuses]).toEqual([method, path, 401, 403, 403, 403, 403])
    }
    expect(await rig.status(undefined, 'GET', '/healthz', { authorization: 'Bearer tg_admin_x' })).toBe(401)
  })

  it('serves operators and admins, under one name', async () => {
    const rig = await openRig()
    for (const person of ['operator', 'admin'] as const) {
      expect(await rig.status(person, 'GET', '/v1/checkpoint')).toBe(200)
      expect(await rig.status(person, 'GET', '/mcp')).toBe(404)
      expect(await rig.status(person, 'GET', '/v1/checkpoint', { host: 'page.example' })).toBe(421)
    }
  })

  it('answers while the port has no free connection', async () => {
    const rig = await openRig({ connections: 2 })
    const held: Socket[] = []
    for (const person of ['agent', 'other'] as const) {
      const socket = createConnection({ host: '127.0.0.1', port: rig.port })
      held.push(socket)
      ends.push(() => socket.destroy())
      socket.write(
        `GET /v1/receipts/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${rig.token(person)}\r\n\r\n`,
      )
      await once(socket, 'data')
    }
    const refused = createConnection({ host: '127.0.0.1', port: rig.port })
    refused.on('error', () => undefined)
    await once(refused, 'close')
    expect(await rig.status('operator', 'GET', '/v1/checkpoint')).toBe(200)
    expect(held.every((socket) => !socket.destroyed)).toBe(true)
  })

  it('is optional: if it cannot be opened, the log says why', async () => {
    const data = newFolder()
    writeFileSync(join(data, 'operator.sock'), 'not a socket')
    const api = await createApiRig()
    const served = await serve(api.options, { host: '127.0.0.1', port: 0, operators: data })
    ends.push(() => served.close())
    expect(api.log.map(({ message }) => message)).toContain(
      'the local socket for operators could not be opened',
    )
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200)
  })
})

describe('a command', () => {
  it('uses the socket with an operator token, and the address with any other', async () => {
    const rig = await openRig()
    expect(await operatorSocket(rig.data, rig.token('operator'))).toBe(rig.path)
    expect(await operatorSocket(rig.data, rig.token('admin'))).toBe(rig.path)
    expect(await operatorSocket(rig.data, rig.token('agent'))).toBeUndefined()
    expect(await operatorSocket(newFolder(), rig.token('admin'))).toBeUndefined()
  })

  it('does not send a token to a socket that others could have created', async () => {
    const data = newFolder()
    writeFileSync(join(data, 'operator.sock'), '')
    expect(await operatorSocket(data, `tg_admin_${'0'.repeat(43)}`)).toBeUndefined()
  })

  it('reaches a gateway whose address does not answer, and doctor reports how', async () => {
    const data = join(newFolder(), 'data')
    await createData(data, { port: 1 }, () => undefined)
    const config = readConfig(data)
    const before = await checkOf('operator socket')(config)
    expect(before).toMatchObject([
      { level: 'ok', found: expect.stringContaining('will be created when') as string },
    ])
    const running = await runGateway({ ...config, listen: { ...config.listen, port: 0 } }, silent)
    ends.push(() => running.close())
    const person = { role: 'admin', tenant: 'default', principal: 'user:ada' } as const
    const { token } = await running.gateway.tokens.issue(person, 'test')
    vi.stubEnv('TOLLGATE_TOKEN', token)
    // The configuration has port 1, where nothing listens.
    const connection = await connect({ data }, 'write')
    const reply = await connection.request('/v1/freeze', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ scope: 'principal', target: 'agent:x', frozen: true }),
    })
    expect(reply.status).toBe(200)
    await expect(
      connection.request('/v1/receipts/stream', { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough')
    expect(await checkOf('operator socket')(config)).toEqual([
      {
        level: 'ok',
        about: 'operator socket',
        found: `\`${operatorsPath(data)}\`, accessible only to this user`,
      },
    ])
  })
})

function checkOf(name: string): (typeof CHECKS)[number][1] {
  const found = CHECKS.find(([about]) => about === name)
  if (!found) throw new Error(`there is no check ${name}`)
  return found[1]
}

describe('the socket of the hooks', () => {
  it('is accessible only to this user, and answers nothing but the hook door', async () => {
    const rig = await openRig()
    const socketPath = hooksPath(rig.data)
    expect(lstatSync(socketPath).mode & 0o777).toBe(0o600)
    const ask = (person: Person | undefined, method: string, path: string): Promise<number> =>
      rig.status(person, method, path, { socketPath })
    // The body is empty, so the door refuses the payload.
    expect(await ask('agent', 'POST', '/v1/hooks/codex')).toBe(400)
    expect(await ask('admin', 'POST', '/v1/hooks/codex')).toBe(403)
    expect(await ask(undefined, 'POST', '/v1/hooks/codex')).toBe(401)
    for (const path of [
      '/v1/status',
      '/v1/evaluate',
      '/healthz',
      '/v1/hooks/codex/x',
      '/v1/hooks/../tokens',
    ]) {
      expect(await ask('admin', 'POST', path), path).toBe(404)
    }
  })
})
