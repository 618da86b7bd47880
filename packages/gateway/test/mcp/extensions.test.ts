// Extensions of the protocol: what passes and what is refused, row by row as docs/mcp.md says.

import { readFileSync } from 'node:fs'
import type { JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { createHttpDoor } from '../../src/mcp/client/http.ts'
import { silent } from '../../src/log.ts'
import { serve } from '../../src/serve.ts'
import { createApiRig } from '../api/rig.ts'
import { closeStandIns, startHttp, type Got } from './http-stand-in.ts'
import { at, ECHO, gateForTest, modernMeta, plainServer, type Gate, type PlainServer } from './rig.ts'
import { closeUpstreams, connectTo, faultOf } from './upstream-rig.ts'

const PAGE = new URL('../../../../docs/mcp.md', import.meta.url)

/** The rows of the page: the first two cells. */
const ROWS = /\| extension +\| part[^\n]*\n\|[-| ]+\n((?:\|.*\n)+)/
  .exec(readFileSync(PAGE, 'utf8'))?.[1]
  ?.trim()
  .split('\n')
  .map((row) =>
    row
      .split('|')
      .slice(1, 4)
      .map((cell) => cell.trim()),
  )

const TASK = { name: 'echo', arguments: { text: 'hi' }, task: { ttl: 1000 } }
const UI = { ui: { resourceUri: 'ui://chart/view' } }
const APP_TOOL: JsonObject = { ...ECHO, _meta: UI, execution: { taskSupport: 'optional' } }
const EXTENSIONS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

async function approved(more: Partial<PlainServer> = {}): Promise<Gate> {
  const gate = await gateForTest({ ...plainServer(), tools: [APP_TOOL], ...more })
  await gate.approve()
  return gate
}

async function capabilitiesAtServer(given: JsonObject): Promise<string> {
  const gate = await approved()
  await (await gate.legacy(given)).request('tools/list')
  await gate.client().request('tools/list', { _meta: modernMeta(given) })
  return JSON.stringify(gate.server.clients)
}

/** An event with an id, which invites the client to resume, and the end of the connection. */
function breakAfterId({ response }: Got): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('id: 7\nretry: 10\ndata: \n\n', () => response.destroy())
}

/** Each row: runs it, and returns what becomes of it. */
const CHECKS: Readonly<Record<string, () => Promise<string>>> = {
  'Tasks: `tasks/get`, `tasks/list`, `tasks/result`, `tasks/cancel`': async () => {
    const gate = await approved()
    const client = await gate.legacy()
    const reached = gate.server.reached.length
    for (const method of ['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel']) {
      const answer = await client.request(method, { taskId: 't1' })
      expect([method, at(answer, 'error', 'code')]).toEqual([method, -32601])
    }
    expect(gate.server.reached).toHaveLength(reached)
    return 'refused'
  },
  'Tasks: `task` in a call': async () => {
    const gate = await approved()
    const client = await gate.legacy()
    const reached = gate.server.reached.length
    expect(JSON.stringify(await client.request('tools/call', TASK))).toContain('AMBIGUOUS_INPUT')
    expect(gate.server.reached).toHaveLength(reached)
    expect((await gate.receipts()).at(-1)).toMatchObject({ kind: 'decision', verdict: 'DENY' })
    return 'refused'
  },
  'Tasks: the capability': async () => {
    const gate = await approved({ capabilities: { tools: {}, tasks: { list: {} } } })
    const client = gate.client()
    const clientInfo = { name: 'test', version: '1' }
    const hello = { protocolVersion: '2025-11-25', capabilities: { tasks: { list: {} } }, clientInfo }
    expect(JSON.stringify(await client.request('initialize', hello))).not.toContain('tasks')
    expect(await capabilitiesAtServer({ tasks: { list: {} } })).not.toContain('tasks')
    return 'removed'
  },
  'Tasks: `execution.taskSupport` of a tool': async () => {
    const gate = await approved()
    const listed = JSON.stringify(await (await gate.legacy()).request('tools/list'))
    expect(listed).toContain('"taskSupport":"optional"')
    return 'passes'
  },
  'MCP Apps: the capability': async () => {
    const gate = await approved({ capabilities: { tools: {}, extensions: EXTENSIONS } })
    const client = gate.client()
    const asked = await client.request('server/discover', { _meta: modernMeta({ extensions: EXTENSIONS }) })
    expect(asked.result).toBeDefined()
    expect(JSON.stringify(asked)).not.toContain('mcp-app')
    expect(await capabilitiesAtServer({ extensions: EXTENSIONS })).not.toContain('mcp-app')
    return 'removed'
  },
  'MCP Apps: `_meta.ui` of a tool': async () => {
    const gate = await approved()
    const client = await gate.legacy()
    expect(JSON.stringify(await client.request('tools/list'))).toContain('ui://chart/view')
    gate.server.tools = [{ ...APP_TOOL, _meta: { ui: { resourceUri: 'ui://other/view' } } }]
    gate.server.incarnation++
    gate.server.events.at(-1)?.onDown()
    const changed = JSON.stringify(await client.request('tools/list'))
    expect(changed).not.toContain('ui://')
    expect(changed).toContain('Blocked by Tollgate')
    return 'passes'
  },
  'MCP Apps: reading a `ui://` resource': async () => {
    const contents = [{ uri: 'ui://chart/view', mimeType: 'text/html;profile=mcp-app', text: '<b>hi</b>' }]
    const gate = await approved({ answer: () => Promise.resolve({ ok: true, result: { contents } }) })
    const client = await gate.legacy()
    const answer = await client.request('resources/read', { uri: 'ui://chart/view' })
    expect(at(answer, 'result', 'contents')).toEqual(contents)
    const decisions = (await gate.receipts()).filter(({ kind }) => kind === 'decision')
    expect(decisions).toMatchObject([{ tool: 'plain:resources/read', verdict: 'ALLOW' }])
    return 'decided'
  },
  'Resumable streams: `Last-Event-ID` of a client': async () => {
    const api = await createApiRig()
    const gate = await approved()
    const door = createHttpDoor({ mcp: gate.mcp, tokens: api.tokens, log: silent })
    const served = await serve(api.options, { host: '127.0.0.1', port: 0, grace: 300 }, [door])
    try {
      const headers = {
        authorization: `Bearer ${api.token('agent')}`,
        accept: 'application/json, text/event-stream',
      }
      const post = (body: object, more = {}): Promise<Response> =>
        fetch(`${served.url}/mcp/plain`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', ...more },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
        })
      const clientInfo = { name: 'test', version: '1' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      const begun = await post({ method: 'initialize', params })
      const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
      const called = await post(
        { method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } },
        session,
      )
      expect(await called.text()).not.toMatch(/^id:/m)
      const reached = gate.server.reached.length
      const again = { ...headers, ...session, 'last-event-id': '1', 'mcp-protocol-version': '2025-11-25' }
      const ending = new AbortController()
      const resumed = await fetch(`${served.url}/mcp/plain`, { headers: again, signal: ending.signal })
      expect(resumed.status).toBe(200)
      ending.abort()
      expect(gate.server.reached).toHaveLength(reached)
    } finally {
      await served.close()
    }
    return 'ignored'
  },
  'Resumable streams: event ids of a server': async () => {
    const server = await startHttp({ protocol: 'legacy', tools: { x: breakAfterId } })
    const upstream = connectTo({ transport: 'http', url: server.url, headers: {} })
    try {
      expect((await faultOf(upstream.call('x'))).code).toBe('LOST')
    } finally {
      await closeUpstreams()
      await closeStandIns()
    }
    expect(server.got.filter(({ message }) => message.method === 'tools/call')).toHaveLength(1)
    expect(server.got.filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([])
    return 'ignored'
  },
}

describe('an extension of the protocol', () => {
  test('has a row in the page for each check, and a check for each row', () => {
    expect(ROWS?.map(([extension, part]) => `${extension}: ${part}`)).toEqual(Object.keys(CHECKS))
  })

  test.each(Object.entries(CHECKS))('behaves as the page says: %s', async (name, check) => {
    const row = ROWS?.find(([extension, part]) => `${extension}: ${part}` === name)
    expect(await check()).toBe(row?.[2])
  })
})
