// The local socket of a gateway: its path, who may join, and its messages.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createBudget, type Budget } from '../../src/budget.ts'
import { formatJoin, parseJoin, parseWelcome, type Join } from '../../src/mcp/client/local-join.ts'
import { checkSocket, socketPath } from '../../src/mcp/client/local-path.ts'
import type { LocalLimits } from '../../src/mcp/client/local-connection.ts'
import { openLocal, type LocalDoor } from '../../src/mcp/client/local.ts'
import { formatNotification, formatResult, MAX_MESSAGE, type Request } from '../../src/mcp/message.ts'
import type { Identity } from '../../src/tokens.ts'
import { newFolder } from '../gateway-rig.ts'
import { createStandIn, type StandInMcp } from './standin.ts'

const JOIN: Join = { name: 'files', command: 'server', args: ['-x'], env: { HOME: '/h' }, cwd: '/tmp' }
const TOKENS: Record<string, Identity | undefined> = {
  agent: { role: 'agent', tenant: 'far', principal: 'agent:ci', groups: [] },
  admin: { role: 'admin', tenant: 'default', principal: 'user:ada', groups: [] },
}

interface Rig extends StandInMcp {
  readonly data: string
  readonly door: LocalDoor
  readonly log: string[]
  /** Connects, sends lines and returns the lines that come back. */
  connect(...lines: readonly string[]): Promise<Caller>
  /** Connects and joins. */
  join(more?: Partial<Join>): Promise<Caller>
}

interface Caller {
  readonly socket: Socket
  /** The next line; undefined at the end. */
  next(): Promise<string | undefined>
  send(message: object | string): void
}

const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

async function openRig(limits: Partial<LocalLimits> = {}, data = newFolder(), budget?: Budget): Promise<Rig> {
  const standIn = createStandIn()
  const log: string[] = []
  const door = await openLocal(data, {
    mcp: standIn.mcp,
    tokens: { identify: (token) => TOKENS[token], verify: () => Promise.resolve() },
    tenant: 'default',
    log: (_, message, fields) => log.push(`${message}: ${JSON.stringify(fields)}`),
    limits: { grace: 200, ...limits },
    ...(budget && { budget }),
  })
  ends.push(() => door.close())
  const connect: Rig['connect'] = async (...lines) => {
    const caller = await callerOn(door.path)
    for (const line of lines) caller.send(line)
    return caller
  }
  return {
    ...standIn,
    data,
    door,
    log,
    connect,
    async join(more = {}) {
      const caller = await connect(formatJoin({ ...JOIN, ...more }))
      expect(await caller.next()).toBe('{"ok":true,"tollgate":1}')
      return caller
    },
  }
}

async function callerOn(path: string): Promise<Caller> {
  const socket = createConnection(path)
  const lines: (string | undefined)[] = []
  let wake = (): void => undefined
  let text = ''
  const add = (...more: (string | undefined)[]): void => {
    lines.push(...more)
    wake()
  }
  socket.on('data', (chunk) => {
    const parts = (text + chunk.toString()).split('\n')
    text = parts.pop() ?? ''
    add(...parts)
  })
  socket.on('close', () => add(undefined))
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  return {
    socket,
    async next() {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return lines.shift()
    },
    send: (message) => socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
  }
}

const ask = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

describe('reading from a program', () => {
  it('stops while its principal is in debt, and continues for others', async () => {
    const charged: string[] = []
    const budget: Budget = {
      ...createBudget(),
      charge({ principal }) {
        charged.push(principal)
        return principal === 'agent:ci' ? 3600 : 0
      },
    }
    const rig = await openRig({}, newFolder(), budget)
    const [debtor, other] = [await rig.join({ token: 'agent' }), await rig.join()]
    debtor.send(ask(1, 'echo'))
    expect(await debtor.next()).toContain('"id":1')
    debtor.send(ask(2, 'echo'))
    for (let id = 1; id <= 20; id++) {
      other.send(ask(id, 'echo'))
      expect(await other.next()).toContain(`"id":${id}`)
    }
    expect(charged.filter((who) => who === 'agent:ci')).toHaveLength(1)
  })

  it('continues when the debt is paid, without loss', async () => {
    const waits = [0.001, 0.001, 0]
    const budget: Budget = { ...createBudget(), charge: () => waits.shift() ?? 0 }
    const rig = await openRig({}, newFolder(), budget)
    const caller = await rig.join()
    for (const id of [1, 2, 3]) caller.send(ask(id, 'echo'))
    for (const id of [1, 2, 3]) expect(await caller.next()).toContain(`"id":${id}`)
  })

  it('is charged by length, and more for unreadable lines', async () => {
    const book: string[] = []
    const budget: Budget = {
      ...createBudget(),
      fine: ({ principal }) => void book.push(`fine ${principal}`),
      charge({ principal }, bytes) {
        book.push(`${principal} ${bytes}`)
        return 0
      },
    }
    const rig = await openRig({}, newFolder(), budget)
    const caller = await rig.join()
    const line = JSON.stringify(ask(1, 'echo'))
    caller.send(line)
    expect(await caller.next()).toContain('"id":1')
    caller.send('{"nothing"')
    expect(await caller.next()).toContain('"error"')
    expect(book).toEqual([`agent:local ${line.length}`, 'fine agent:local', 'agent:local 10'])
  })
})

describe('the socket', () => {
  it('is in the data directory, or in a folder of the user if the path is too long', () => {
    expect(socketPath('/data/gate')).toBe('/data/gate/gateway.sock')
    const long = socketPath(`/${'x'.repeat(120)}`)
    expect(dirname(long)).toBe(join(tmpdir(), `tollgate-${process.getuid?.() ?? 0}`))
    expect(long).not.toBe(socketPath(`/${'x'.repeat(121)}`))
    expect(Buffer.byteLength(socketPath(`/${'ü'.repeat(60)}`))).toBeLessThan(100)
  })

  it('belongs to the user alone, without leftovers', async () => {
    const { data, door } = await openRig()
    expect(lstatSync(door.path).mode & 0o777).toBe(0o600)
    expect(readdirSync(data)).toEqual(['gateway.sock'])
    await door.close()
    expect(readdirSync(data)).toEqual([])
  })

  it('works with the longest path and with longer ones', async () => {
    const folder = newFolder()
    for (const length of [100 - '/gateway.sock'.length - folder.length - 1, 150]) {
      const data = join(folder, 'y'.repeat(length))
      mkdirSync(data, { mode: 0o700 })
      const rig = await openRig({}, data)
      await rig.join()
      expect(lstatSync(dirname(rig.door.path)).mode & 0o077).toBe(0)
      await rig.door.close()
    }
  })

  it('replaces an abandoned socket, and no other', async () => {
    const data = newFolder()
    const first = await openRig({}, data)
    await expect(openRig({}, data)).rejects.toMatchObject({ code: 'LISTEN_REFUSED' })
    await first.join()
    await first.door.close()
    // A server that ends this way leaves its socket behind.
    const left = createServer()
    const path = socketPath(data)
    await new Promise<void>((resolve) => left.listen(join(data, 's'), resolve))
    renameSync(join(data, 's'), path)
    await new Promise((resolve) => left.close(resolve))
    expect(existsSync(path)).toBe(true)
    await (await openRig({}, data)).join()
  })

  it('is refused if it is no socket, or if others could have made it', async () => {
    const data = newFolder()
    writeFileSync(socketPath(data), 'mine')
    await expect(openRig({}, data)).rejects.toMatchObject({ code: 'LISTEN_REFUSED' })
    const open = newFolder()
    chmodSync(open, 0o777)
    await expect(openRig({}, open)).rejects.toMatchObject({ code: 'LISTEN_REFUSED' })
    expect(() => checkSocket(join(open, 'none'))).not.toThrow()
    const linked = newFolder()
    const { door } = await openRig()
    symlinkSync(door.path, join(linked, 'gateway.sock'))
    expect(() => checkSocket(join(linked, 'gateway.sock'))).toThrow(/other users can access/)
    expect(checkSocket(door.path)).toBe(true)
  })
})

describe('a joining program', () => {
  const INITIALIZE: Request = { kind: 'request', id: 9, method: 'initialize', params: { a: 1 } }

  it('is read as it was written', () => {
    const whole: Join = { ...JOIN, token: 'agent', initialize: INITIALIZE }
    expect(parseJoin(Buffer.from(formatJoin(whole)))).toEqual(whole)
    expect(parseJoin(Buffer.from(formatJoin(JOIN)))).toEqual(JOIN)
  })

  it.each<[string, object]>([
    ['another version', { tollgate: 2 }],
    ['a member that is not known', { more: 1 }],
    ['a name that is none', { name: '../x' }],
    ['no command', { command: '' }],
    ['a command with a zero byte', { command: 'a\0b' }],
    ['arguments that are no texts', { args: [1] }],
    ['an environment that is a list', { env: [] }],
    ['a variable that is no text', { env: { A: 1 } }],
    ['a variable with `=` in its name', { env: { 'A=B': 'c' } }],
    ['a directory that is not absolute', { cwd: 'x' }],
    ['a token that is no text', { token: 7 }],
    ['a beginning that is another request', { initialize: ask(1, 'tools/call') }],
    ['a beginning that is no message', { initialize: 'x' }],
  ])('is refused with %s', async (_, change) => {
    const rig = await openRig()
    const caller = await rig.connect(JSON.stringify({ tollgate: 1, ...JOIN, ...change }))
    const welcome = parseWelcome(Buffer.from((await caller.next()) ?? ''))
    expect(welcome).toMatchObject({ ok: false })
    expect(await caller.next()).toBeUndefined()
    expect(rig.begun).toEqual([])
  })

  it.each(['', 'GET / HTTP/1.1', '[]', '{"tollgate":1}'])('is refused with %j', async (line) => {
    const rig = await openRig()
    const caller = await rig.connect(line)
    expect(parseWelcome(Buffer.from((await caller.next()) ?? ''))).toMatchObject({ ok: false })
    expect(rig.begun).toEqual([])
  })

  it('is the local agent without a token, and the agent of the token with one', async () => {
    const rig = await openRig()
    await rig.join()
    await rig.join({ token: 'agent' })
    expect(rig.begun.map(({ principal }) => principal)).toEqual(['agent:local', 'agent:ci'])
    expect(rig.begun[0]?.scope).toMatchObject({
      kind: 'own',
      name: 'files',
      address: { transport: 'stdio', command: 'server', args: ['-x'], env: { HOME: '/h' }, cwd: '/tmp' },
    })
  })

  it.each(['admin', 'unknown'])('is refused with the token of an agent that is none: %s', async (token) => {
    const rig = await openRig()
    const caller = await rig.connect(formatJoin({ ...JOIN, token }))
    const line = (await caller.next()) ?? ''
    expect(line).toContain('"ok":false')
    expect(line).not.toContain(`"${token}"`)
    expect(rig.begun).toEqual([])
  })

  it('is dropped when its token is revoked', async () => {
    const rig = await openRig()
    TOKENS.brief = { role: 'agent', tenant: 'default', principal: 'agent:brief', groups: [] }
    const caller = await rig.join({ token: 'brief' })
    caller.send(ask(1, 'echo'))
    expect(await caller.next()).toContain('"id":1')
    TOKENS.brief = undefined
    caller.send(ask(2, 'echo'))
    expect(await caller.next()).toBeUndefined()
    await rig.until(() => rig.begun[0]?.closed)
    expect(rig.begun[0]?.taken).toHaveLength(1)
  })

  it('has little time for the first line, and must wait for the answer', async () => {
    const rig = await openRig({ deadline: 30 })
    expect(await (await rig.connect()).next()).toBeUndefined()
    const hasty = await rig.connect(`${formatJoin(JOIN)}\n${JSON.stringify(ask(1, 'echo'))}`)
    expect(await hasty.next()).toBeUndefined()
    await rig.until(() => rig.begun[0]?.closed)
    expect(rig.begun[0]?.taken).toEqual([])
    expect(rig.log).toEqual([
      'a local connection was dropped: {"why":"sent no first line in time"}',
      'a local connection was dropped: {"why":"sent a message before it was welcomed"}',
    ])
  })

  it('resumes an earlier connection without another answer', async () => {
    const rig = await openRig()
    const caller = await rig.join({ initialize: INITIALIZE })
    expect(rig.begun[0]?.taken).toMatchObject([
      { kind: 'request', method: 'initialize', params: { a: 1 } },
      { kind: 'notification', method: 'notifications/initialized' },
    ])
    caller.send(ask(1, 'echo'))
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({ id: 1, result: { method: 'echo' } })
  })

  it('is refused if resuming fails', async () => {
    const rig = await openRig()
    const initialize = { ...INITIALIZE, params: { fail: true } }
    const caller = await rig.connect(formatJoin({ ...JOIN, initialize }))
    expect(await caller.next()).toContain('the server did not resume the earlier connection')
    await rig.until(() => rig.begun[0]?.closed)
  })

  it('is limited in number', async () => {
    const rig = await openRig({ connections: 1 })
    const first = await rig.join()
    const second = await rig.connect(formatJoin(JOIN))
    expect(await second.next()).toContain('too many local connections')
    first.socket.destroy()
    await rig.until(() => rig.begun[0]?.closed)
    await rig.join()
  })
})

describe('the connection', () => {
  it('carries one message per line, both ways', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    caller.send(ask(1, 'tell', { text: 'line\nbreak' }))
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({ method: 'notifications/progress' })
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({
      id: 1,
      result: { params: { text: 'line\nbreak' } },
    })
    rig.begun[0]?.attached?.send(formatNotification('notifications/tools/list_changed', {}), false)
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({
      method: 'notifications/tools/list_changed',
    })
  })

  it('carries standard error of the server, with a prefix', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    const scope = rig.begun[0]?.scope
    if (scope?.kind === 'own') scope.onStderr?.('oh\n{"jsonrpc":"2.0"}\n')
    expect(await caller.next()).toBe(`!${JSON.stringify('oh\n{"jsonrpc":"2.0"}\n')}`)
  })

  it('answers unreadable lines, and ends at one that is too long', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    caller.send('garbage')
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({ id: null, error: { code: -32700 } })
    caller.socket.write('x'.repeat(MAX_MESSAGE + 1))
    expect(await caller.next()).toBeUndefined()
    await rig.until(() => rig.begun[0]?.closed)
  })

  it('ignores half a line', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    caller.socket.end(JSON.stringify(ask(1, 'echo')))
    expect(await caller.next()).toBeUndefined()
    await rig.until(() => rig.begun[0]?.closed)
    expect(rig.begun[0]?.taken).toEqual([])
  })

  it('answers before it ends, even if the program sends no more', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    caller.send(ask(1, 'hold'))
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    caller.socket.end()
    await new Promise((resolve) => caller.socket.once('finish', resolve))
    out.send(formatResult(id, '{}'), true)
    expect(await caller.next()).toContain('"id":1')
    expect(await caller.next()).toBeUndefined()
    await rig.until(() => rig.begun[0]?.closed)
  })

  it('limits the active requests', async () => {
    const rig = await openRig({ requests: 1 })
    const caller = await rig.join()
    caller.send(ask(1, 'hold'))
    caller.send(ask(2, 'echo'))
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({ id: 2, error: { code: -32603 } })
    const held = rig.begun[0]?.held[0]
    held?.out.send(formatResult(1, '{}'), true)
    expect(await caller.next()).toContain('"id":1')
    caller.send(ask(3, 'echo'))
    expect(await caller.next()).toContain('"id":3')
  })

  it('answers even if the conversation fails', async () => {
    const rig = await openRig()
    const caller = await rig.join()
    caller.send(ask(1, 'break'))
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({ id: 1, error: { code: -32603 } })
  })

  it('ends if the program does not read', async () => {
    const rig = await openRig({ unread: 1 << 20 })
    const caller = await rig.join()
    caller.socket.pause()
    const note = formatNotification('notifications/message', { data: 'x'.repeat(1 << 20) })
    for (let i = 0; i < 8; i++) rig.begun[0]?.attached?.send(note, false)
    await rig.until(() => rig.begun[0]?.closed)
    expect(rig.log).toEqual(['a local connection was dropped: {"why":"does not read its input"}'])
  })
})

describe('the end of a gateway', () => {
  it('waits for active requests, takes no new ones, and says goodbye', async () => {
    const rig = await openRig({ grace: 5000 })
    const caller = await rig.join()
    caller.send(ask(1, 'hold'))
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    const closed = rig.door.close()
    caller.send(ask(2, 'echo'))
    expect(JSON.parse((await caller.next()) ?? '')).toMatchObject({
      id: 2,
      error: { message: 'the gateway is stopping' },
    })
    out.send(formatResult(id, '{}'), true)
    expect(await caller.next()).toContain('"id":1')
    expect(await caller.next()).toBe('.')
    expect(await caller.next()).toBeUndefined()
    await closed
    expect(rig.begun[0]?.closed).toBe(true)
  })

  it('has a time limit', async () => {
    const rig = await openRig({ grace: 20 })
    const caller = await rig.join()
    caller.send(ask(1, 'hold'))
    await rig.until(() => rig.begun[0]?.held[0])
    await rig.door.close()
    expect(await caller.next()).toBe('.')
    expect(await caller.next()).toBeUndefined()
  })
})
