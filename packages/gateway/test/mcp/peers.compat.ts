// Official clients and servers with the gateway between them: an allowed call is answered as without the gateway, and a denied
// one never reaches the server.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newFolder } from '../gateway-rig.ts'
import { openGate, POLICY, type Gate } from './gate.ts'
import {
  COMMANDS,
  connectPeer,
  KINDS,
  placeOf,
  seen,
  startEverything,
  startModern,
  tapped,
  type Answer,
  type Kind,
  type Place,
  type Started,
} from './peers.ts'
import { play, type ServerName } from './scripts.ts'
import { sawPeer, sawServer, type McpDoor } from './sightings.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=='

let work: string
let gate: Gate
const started: Started[] = []
/** The results of each server without a gateway. */
const direct = new Map<ServerName, Promise<Record<string, unknown>>>()

const folder = (): string => join(work, 'files')
const tap = (name: string): string => join(work, `${name}.tap`)
const counter = (name: string): string => join(work, `${name}.count`)
/** The command of a server, with a tap that records its input. */
const commandOf = (name: ServerName): readonly string[] =>
  tapped(tap(name), [...COMMANDS[name], ...(name === 'filesystem' ? [folder()] : [])])
const envOf = (name: ServerName, where: string): Record<string, string> => ({
  ...(name === 'memory' && { MEMORY_FILE_PATH: join(work, `memory-${where}.json`) }),
  ...(name === 'modern' && { COUNTER: counter('modern') }),
})

beforeAll(async () => {
  work = newFolder()
  mkdirSync(folder())
  writeFileSync(join(folder(), 'pixel.png'), Buffer.from(PIXEL, 'base64'))
  started.push(await startEverything())
  started.push(await startModern({ COUNTER: counter('modern-http'), TAP: tap('modern-http') }))
  const stdio = (name: ServerName): { command: readonly string[]; env: Record<string, string> } => ({
    command: commandOf(name),
    env: envOf(name, 'http'),
  })
  gate = await openGate({
    everything: stdio('everything'),
    filesystem: stdio('filesystem'),
    memory: stdio('memory'),
    modern: stdio('modern'),
    'everything-http': { url: started[0]?.url ?? '' },
    'modern-http': { url: started[1]?.url ?? '' },
  })
  const names = ['everything', 'filesystem', 'memory', 'modern', 'everything-http', 'modern-http']
  await Promise.all(names.map((name) => gate.meet(name)))
  for (const name of names) await gate.pin(name)
})

afterAll(async () => {
  await gate.close()
  await Promise.all(started.map((each) => each.stop()))
})

/** Runs the script of a server at an address with a client. */
async function playAt(kind: Kind, place: Place, script: ServerName): Promise<Record<string, unknown>> {
  const peer = await connectPeer(kind, place)
  try {
    return await play(peer, script, { folder: folder() })
  } finally {
    await peer.close()
  }
}

/** The results of a server without a gateway, for the newest client it supports. */
function directly(script: ServerName): Promise<Record<string, unknown>> {
  const command = [...COMMANDS[script], ...(script === 'filesystem' ? [folder()] : [])]
  const kind = script === 'modern' ? 'v2 modern' : 'v1'
  const known = direct.get(script) ?? playAt(kind, placeOf(command, envOf(script, 'direct')), script)
  direct.set(script, known)
  return known
}

const turns = new Map<string, Promise<unknown>>()

/** Sequential, because clients of one HTTP server may share its state. */
function inTurn<T>(server: string, run: () => Promise<T>): Promise<T> {
  const turn = (turns.get(server) ?? Promise.resolve()).then(run)
  turns.set(
    server,
    turn.catch(() => undefined),
  )
  return turn
}

/** Steps that one protocol lacks are not compared. */
function shared(found: Record<string, unknown>, expected: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(expected).filter(([step]) => step in found))
}

/** An allowed call between a client and a server. */
function sawBoth(kind: Kind, server: ServerName, door: McpDoor): void {
  sawPeer(kind, door, 'allowed')
  sawServer(server, door, 'allowed')
}

const SERVERS: readonly ServerName[] = ['everything', 'filesystem', 'memory', 'modern']

describe('an allowed call is answered as without a gateway', () => {
  const overHttp: readonly (readonly [string, ServerName])[] = [
    ...SERVERS.map((name) => [name, name] as const),
    ['everything-http', 'everything'],
    ['modern-http', 'modern'],
  ]
  describe.concurrent.each(overHttp)('over HTTP, from %s', (server, script) => {
    test.each(KINDS)('to client %s', async (kind) => {
      const found = await inTurn(server, () => playAt(kind, gate.place(server), script))
      expect(found).toEqual(shared(found, await directly(script)))
      sawBoth(kind, script, 'MCP, HTTP')
    })
  })

  describe.concurrent.each(SERVERS)('over stdio, from %s', (server) => {
    test.each(KINDS)('to client %s', async (kind) => {
      const place = gate.wrapped(server, commandOf(server), envOf(server, `stdio-${kind}`))
      const found = await playAt(kind, place, server)
      expect(found).toEqual(shared(found, await directly(server)))
      sawBoth(kind, server, 'MCP, stdio')
    })
  })

  test('a cancelled call is cancelled at the server', async () => {
    expect(seen(tap('everything'), 'notifications/cancelled').length).toBeGreaterThanOrEqual(2 * KINDS.length)
    for (const name of ['modern', 'modern-http']) {
      const count = (what: string): number =>
        readFileSync(counter(name), 'utf8')
          .split('\n')
          .filter((line) => line === what).length
      expect(count('hang')).toBeGreaterThanOrEqual(KINDS.length)
      await vi.waitFor(() => expect(count('hang was cancelled')).toBe(count('hang')), 5000)
    }
    sawServer('everything', 'MCP, HTTP', 'allowed')
  })

  test('servers get the arguments, and nothing that belongs to the gateway', async () => {
    const peer = await connectPeer('v1', gate.place('everything'))
    const _meta = { 'dev.tollgate/session': 'handle-of-a-session', 'example.com/other': 'word-for-nobody' }
    await peer.ask('tools/call', { name: 'echo', arguments: { message: 'word-for-all' }, _meta })
    await peer.close()
    const text = readFileSync(tap('everything'), 'utf8')
    expect(text).toContain('word-for-all')
    for (const secret of [gate.token, 'handle-of-a-session', 'word-for-nobody', 'tollgate', gate.data]) {
      expect(text).not.toContain(secret)
    }
    sawServer('everything', 'MCP, HTTP', 'allowed')
  })

  test('every call that ran has a decision and an effect, and ran once', async () => {
    const record = await gate.record('modern-http/echo')
    expect(record.map(({ decision }) => decision.verdict)).toEqual(KINDS.map(() => 'ALLOW'))
    expect(record.flatMap(({ effects }) => effects.map(({ status }) => status))).toEqual(
      KINDS.map(() => 'COMPLETED'),
    )
    const ran = readFileSync(counter('modern-http'), 'utf8').split('\n')
    expect(ran.filter((line) => line === 'echo').length).toBe(KINDS.length)
    sawServer('modern', 'MCP, HTTP', 'allowed')
  })
})

describe('all servers in one', () => {
  test.each(KINDS)('have a prefix before the names of their tools, for client %s', async (kind) => {
    const peer = await connectPeer(kind, gate.place())
    try {
      // One page, because some clients ignore the cursor of the next.
      const page = await peer.ask('tools/list')
      expect(page).not.toHaveProperty('nextCursor')
      const tools = await all(() => Promise.resolve(page), 'tools/list', 'tools')
      const names = tools.map(({ name }) => String(name))
      expect(new Set(names).size).toBe(names.length)
      expect(names).toEqual(
        expect.arrayContaining(['everything__echo', 'memory__read_graph', 'modern__echo']),
      )
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      const call = (name: string, args: object): Promise<Answer> =>
        peer.ask('tools/call', { name, arguments: args })
      for (const name of ['everything__echo', 'everything/echo']) {
        expect(await call(name, { message: 'one' })).toMatchObject({ content: [{ text: 'Echo: one' }] })
      }
      expect(await call('modern__echo', { text: 'two' })).toMatchObject({ content: [{ text: 'again: two' }] })
      const prompts = await all(peer.ask.bind(peer), 'prompts/list', 'prompts')
      expect(prompts.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['everything/simple-prompt', 'modern/greet']),
      )
      expect(
        await peer.ask('prompts/get', { name: 'modern/greet', arguments: { whom: 'Ada' } }),
      ).toMatchObject({
        description: 'A greeting',
      })
      const resources = await all(peer.ask.bind(peer), 'resources/list', 'resources')
      expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(['memo:///five']))
      // Two servers have it, so the request is refused.
      expect(await peer.ask('resources/read', { uri: 'memo:///five' })).toMatchObject({
        error: { code: -32602 },
      })
      sawPeer(kind, 'MCP, HTTP', 'allowed')
    } finally {
      await peer.close()
    }
  })
})

/** All pages of a listing. */
async function all(
  ask: (method: string, params: object) => Promise<Answer>,
  method: string,
  member: string,
): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  for (let cursor: unknown = undefined; ;) {
    const page = await ask(method, cursor === undefined ? {} : { cursor })
    found.push(...((page[member] ?? []) as Record<string, unknown>[]))
    cursor = page.nextCursor
    if (cursor === undefined) return found
  }
}

describe('a denied call does not reach the server', () => {
  /** The number of calls of a tool that reached its server. */
  const reached = (name: string): number =>
    seen(tap('everything'), 'tools/call').filter((message) => {
      const { params } = message as { params?: { name?: unknown } }
      return params?.name === name
    }).length

  const doors: readonly (readonly [McpDoor, () => Place])[] = [
    ['MCP, HTTP', () => gate.place('everything')],
    ['MCP, stdio', () => gate.wrapped('everything', commandOf('everything'))],
  ]

  describe.each(doors)('over %s', (door, place) => {
    test.each(KINDS)('for client %s', async (kind) => {
      const peer = await connectPeer(kind, place())
      const call = (name: string, args: object = {}): Promise<Answer> =>
        peer.ask('tools/call', { name, arguments: args })
      try {
        await denied(call)
        await escalated(call)
        await unfitting(call)
        const unknown = await call('no-such-tool')
        expect('error' in unknown || unknown.isError === true).toBe(true)
        expect(reached('no-such-tool')).toBe(0)
        sawPeer(kind, door, 'denied', 'escalated')
        sawServer('everything', door, 'denied', 'escalated')
      } finally {
        await peer.close()
      }
    })
  })

  type Call = (name: string, args?: object) => Promise<Answer>

  /** A denied call is denied each time with a receipt, and never sent. */
  async function denied(call: Call): Promise<void> {
    const before = (await gate.record('everything/get-env')).length
    const answer = await call('get-env')
    expect(answer).toMatchObject({ isError: true })
    const decision = { verdict: 'DENY', reason_code: 'POLICY_VIOLATION', rule: 'secrets' }
    expect(decisionIn(answer)).toMatchObject(decision)
    const record = (await gate.record('everything/get-env')).slice(before)
    expect(record).toMatchObject([{ decision: { verdict: 'DENY', door: 'mcp' }, effects: [] }])
    expect(reached('get-env')).toBe(0)
  }

  /** An escalated call waits for a person, and runs once after approval. */
  async function escalated(call: Call): Promise<void> {
    const name = 'toggle-simulated-logging'
    const sent = reached(name)
    const before = (await gate.record(`everything/${name}`)).length
    const answer = await call(name)
    expect(answer).toMatchObject({ isError: true })
    const { verdict, approval } = decisionIn(answer)
    expect(verdict).toBe('ESCALATE')
    expect(reached(name)).toBe(sent)
    await answerRequest(gate.running.gateway.kernel, {
      tenant: 'default',
      request: String(approval),
      granted: true,
      approver: 'user:olga',
    })
    expect(await call(name)).not.toMatchObject({ isError: true })
    expect(reached(name)).toBe(sent + 1)
    // The approval was for one call.
    expect(decisionIn(await call(name))).toMatchObject({ verdict: 'ESCALATE' })
    expect(reached(name)).toBe(sent + 1)
    const record = (await gate.record(`everything/${name}`)).slice(before)
    expect(record.map(({ decision, effects }) => [decision.verdict, effects.length])).toEqual([
      ['ESCALATE', 0],
      ['ALLOW', 1],
      ['ESCALATE', 0],
    ])
  }

  /** Arguments that do not fit the pinned schema are not sent, and not quoted. */
  async function unfitting(call: Call): Promise<void> {
    const sent = reached('get-sum')
    const answer = await call('get-sum', { a: 'a-secret-word', b: 2 })
    expect(decisionIn(answer)).toMatchObject({ verdict: 'DENY', reason_code: 'SCHEMA_VIOLATION' })
    expect(JSON.stringify(answer)).not.toContain('a-secret-word')
    expect(reached('get-sum')).toBe(sent)
  }
})

/** The decision in a result, for programs. */
function decisionIn(answer: Answer): Record<string, unknown> {
  const { _meta } = answer as { _meta?: Record<string, unknown> }
  return { ...(_meta?.['dev.tollgate/decision'] as object | undefined) }
}

describe('an unapproved server', () => {
  test('is listed as blocked, shows no text, and is not called', async () => {
    const path = join(work, 'unseen.tap')
    const command = tapped(path, COMMANDS.everything)
    const peer = await connectPeer('v1', gate.wrapped('unseen', command))
    try {
      const { tools } = (await peer.ask('tools/list')) as { tools: Record<string, unknown>[] }
      const echo = tools.find(({ name }) => name === 'echo')
      expect(echo).toMatchObject({ inputSchema: { type: 'object' } })
      expect(JSON.stringify(tools)).not.toContain('Echoes back')
      const answer = await peer.ask('tools/call', { name: 'echo', arguments: { message: 'x' } })
      expect(decisionIn(answer)).toMatchObject({ verdict: 'ESCALATE', reason_code: 'TOOL_NOT_PINNED' })
      for (const method of ['resources/list', 'prompts/list']) {
        expect(Object.values(await peer.ask(method))).toEqual([[]])
      }
      const read = await peer.ask('resources/read', {
        uri: 'demo://resource/static/document/architecture.md',
      })
      const got = await peer.ask('prompts/get', { name: 'simple-prompt' })
      expect([read, got]).toMatchObject([{ error: {} }, { error: {} }])
    } finally {
      await peer.close()
    }
    const sent = new Set(seen(path).map(({ method }) => method))
    for (const method of ['tools/call', 'resources/read', 'prompts/get']) expect(sent).not.toContain(method)
    const record = await gate.record('unseen/echo')
    expect(record).toMatchObject([{ decision: { verdict: 'ESCALATE' }, effects: [] }])
    sawServer('everything', 'MCP, stdio', 'denied')
  })
})

describe('faculties', () => {
  const policy = POLICY.replace(
    'rules:',
    'rules:\n  - { id: faculties, deny: "modern:*", because: tools are enough }',
  )
  let strict: Gate

  beforeAll(async () => {
    strict = await openGate({ modern: { command: tapped(tap('strict'), COMMANDS.modern) } }, { policy })
    await strict.meet('modern')
    await strict.pin('modern')
  })

  afterAll(() => strict.close())

  test.each(KINDS)('are neither sent nor asked if the policy denies them, for client %s', async (kind) => {
    const peer = await connectPeer(kind, strict.place('modern'))
    let session = 0
    // Each in its own session, because denials raise the risk of a session.
    const ask = (method: string, params: object): Promise<Answer> =>
      peer.ask(method, { ...params, _meta: { 'dev.tollgate/session': `${kind} ${++session}` } })
    try {
      expect(await ask('resources/read', { uri: 'memo:///one' })).toMatchObject({ error: { code: 403 } })
      const greet = { name: 'greet', arguments: { whom: 'Ada' } }
      expect(await ask('prompts/get', greet)).toMatchObject({ error: { code: 403 } })
      // A server can be told that the user declined, but not that the model did.
      const declined = await ask('tools/call', { name: 'ask', arguments: {} })
      expect(declined).toMatchObject({ content: [{ text: '{"declined":true}' }] })
      const failed = await ask('tools/call', { name: 'sample', arguments: {} })
      expect('error' in failed || failed.isError === true).toBe(true)
      expect(peer.asked).toEqual([])
    } finally {
      await peer.close()
    }
    for (const method of ['resources/read', 'prompts/get']) expect(seen(tap('strict'), method)).toEqual([])
    const turn = KINDS.indexOf(kind) + 1
    expect(seen(tap('strict'), 'tools/call').length).toBe(3 * turn)
    for (const faculty of ['resources/read', 'prompts/get', 'elicitation/create', 'sampling/createMessage']) {
      const record = await strict.record(`modern:${faculty}`)
      expect(record).toMatchObject(
        Array.from({ length: turn }, () => ({
          decision: { verdict: 'DENY', rule: 'faculties' },
          effects: [],
        })),
      )
    }
    sawPeer(kind, 'MCP, HTTP', 'denied')
  })
})
