// Freezes during a conversation: notifications of servers stop, and a server is stopped when no allowed call uses it.

import type { JsonObject } from '@tollgate/evidence'
import { setFreeze } from '@tollgate/kernel/admin'
import { describe, expect, test } from 'vitest'
import { SERVER_NOTIFICATIONS } from './message-rows.ts'
import { parseMessage } from '../../src/mcp/message.ts'
import { at, gateForTest, modernMeta, plainServer, type Gate } from './rig.ts'

const URI = 'file:///a'
const CALL = { name: 'echo', arguments: { text: 'hello' } }
const ORDERS = [
  { scope: 'all' },
  { scope: 'principal', target: 'agent:a' },
  { scope: 'session', target: 'agent:a' },
] as const

const freeze = (gate: Gate, order: (typeof ORDERS)[number], frozen = true): Promise<unknown> =>
  setFreeze(gate.gateway.kernel, { ...order, frozen, by: 'user:olga' })

/** A server whose calls end on request. */
function waitingServer(): { server: ReturnType<typeof plainServer>; began: Promise<void>; end: () => void } {
  const server = plainServer()
  let [begin, end] = [(): void => undefined, (): void => undefined]
  const began = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<void>((resolve) => (end = resolve))
  server.answer = async (method) => {
    if (method === 'tools/call') begin()
    if (method === 'tools/call') await ended
    return { ok: true, result: { done: true } }
  }
  return { server, began, end: () => end() }
}

/** Notifications of a server that belong to no request. */
const SAID: Readonly<Record<string, JsonObject>> = {
  'notifications/message': { level: 'info', data: 'x' },
  'notifications/resources/updated': { uri: URI },
  'notifications/resources/list_changed': {},
  'notifications/tools/list_changed': {},
  'notifications/prompts/list_changed': {},
}

test('every notification to a client outside its requests has a row', () => {
  // Progress belongs to a call, and the completion of a question to a question.
  const inside = ['notifications/progress', 'notifications/elicitation/complete']
  const told = Object.entries(SERVER_NOTIFICATIONS).flatMap(([name, { then }]) =>
    then === 'answered' && !inside.includes(name) ? [name] : [],
  )
  expect(Object.keys(SAID).sort()).toEqual(told.sort())
})

describe.each(ORDERS)('while frozen by $scope', (order) => {
  test('notifications of a server are forwarded before the freeze, and not after it', async () => {
    const gate = await gateForTest()
    await gate.approve()
    const client = await gate.legacy()
    await client.request('resources/subscribe', { uri: URI })
    const heard = (): readonly unknown[] => {
      client.heard.length = 0
      for (const [method, params] of Object.entries(SAID))
        gate.server.events.at(-1)?.onNotification(method, params)
      return client.heard.map(({ method }) => method)
    }
    expect(heard()).toEqual(Object.keys(SAID))
    await freeze(gate, order)
    expect(heard()).toEqual([])
  })

  test('an allowed call finishes, nothing else reaches its server, and then the server stops', async () => {
    const { server, began, end } = waitingServer()
    const gate = await gateForTest(server)
    await gate.approve()
    const client = await gate.legacy({ roots: { listChanged: true } })
    const changed = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'
    await client.send(changed)
    const call = client.request('tools/call', CALL)
    await began
    const [reached, closed] = [server.reached.length, server.closed]
    await freeze(gate, order)
    await client.send(changed)
    expect(at(await client.request('tools/list'), 'error', 'code')).toBe(403)
    expect([server.reached.slice(reached), server.closed]).toEqual([[], closed])
    end()
    expect(at(await call, 'result')).toEqual({ done: true })
    expect((await gate.receipts()).at(-1)).toMatchObject({ kind: 'effect', status: 'COMPLETED' })
    expect(server.closed).toBe(closed + 1)
    expect(server.reached.filter(({ method }) => method.includes('roots'))).toHaveLength(1)
  })

  test('a client that was about to listen is refused, and no server is asked for it', async () => {
    const gate = await gateForTest()
    await gate.approve()
    let go = (): void => undefined
    gate.server.slow = new Promise((resolve) => (go = resolve))
    const wanted = gate.server.wanted.length
    const came: string[] = []
    const params = { notifications: { resourceSubscriptions: [URI] }, _meta: modernMeta() }
    const listening = gate
      .client()
      .conversation.take(
        parseMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })),
        { send: (text) => void came.push(text) },
      )
    await new Promise((resolve) => setImmediate(resolve))
    await freeze(gate, order)
    go()
    await listening
    expect(came).toEqual([])
    expect(gate.server.wanted.slice(wanted).flatMap(({ uris }) => uris)).toEqual([])
  })
})
