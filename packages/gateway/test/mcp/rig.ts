// A conversation in this process with a server that is a plain object and records its input.

import { parseReceipt, type Json, type JsonObject, type Receipt } from '@tollgate/evidence'
import { pinTool } from '@tollgate/kernel/admin'
import { onTestFinished } from 'vitest'
import { silent } from '../../src/log.ts'
import type { Conversation, Out } from '../../src/mcp/conversation.ts'
import { createMcp, type Mcp, type Scope } from '../../src/mcp/mcp.ts'
import { parseMessage } from '../../src/mcp/message.ts'
import {
  UpstreamFault,
  type ClientHello,
  type Connect,
  type Exchange,
  type UpstreamAnswer,
  type UpstreamEvents,
  type WantedChanges,
} from '../../src/mcp/server/upstream.ts'
import type { Gateway } from '../../src/open.ts'
import { activate, createSite } from '../gateway-rig.ts'

/** The messages that reached a server. */
export interface Reached {
  readonly method: string
  readonly params: JsonObject
}

/** A server that is a plain object. Its tools can be changed. */
export interface PlainServer {
  readonly reached: Reached[]
  tools: JsonObject[]
  /** Answers a listing instead of `tools`. */
  onList: (() => JsonObject[]) | undefined
  /** Members beside the tools in a list result. */
  beside: JsonObject
  capabilities: JsonObject
  instructions: string | undefined
  protocol: 'modern' | 'legacy'
  /** Answers requests other than tool lists. */
  answer: (method: string, params: JsonObject, exchange: Exchange) => Promise<UpstreamAnswer>
  /** Its description of itself. */
  info: JsonObject
  /** The connection number. A new one means a restart. */
  incarnation: number
  /** Delays the greeting. */
  slow: Promise<void>
  /** The subscriptions it received, newest last. */
  readonly wanted: WantedChanges[]
  /** The client identities it received, newest last. */
  readonly clients: ClientHello[]
  readonly events: UpstreamEvents[]
  /** The number of closed connections. */
  closed: number
}

export const ECHO: JsonObject = {
  name: 'echo',
  description: 'Says what it is told.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
}

/** A server with one tool that echoes. */
export function plainServer(): PlainServer {
  return {
    reached: [],
    tools: [ECHO, { name: 'other', inputSchema: { type: 'object', properties: { secret: {} } } }],
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
    onList: undefined,
    beside: {},
    instructions: 'Be kind.',
    protocol: 'legacy',
    answer: (method, params) => Promise.resolve({ ok: true, result: { answered: method, params } }),
    info: { name: 'plain', version: '1' },
    incarnation: 1,
    slow: Promise.resolve(),
    wanted: [],
    clients: [],
    events: [],
    closed: 0,
  }
}

/** Connects to plain servers by their name. */
export function connectTo(servers: Readonly<Record<string, PlainServer>>): Connect {
  return ({ name }, client, events) => {
    const server = servers[name]
    if (!server) throw new Error('no such server')
    server.clients.push(client)
    server.events.push(events)
    return {
      get incarnation() {
        return server.incarnation
      },
      async hello() {
        await server.slow
        return {
          protocol: server.protocol,
          version: server.protocol === 'modern' ? '2026-07-28' : '2025-11-25',
          capabilities: server.capabilities,
          info: server.info,
          instructions: server.instructions,
        }
      },
      request(method, params, exchange = {}) {
        if (exchange.only !== undefined && exchange.only !== server.incarnation) {
          return Promise.reject(new UpstreamFault('UNREACHABLE', 'another connection'))
        }
        if (method === 'tools/list' && params.cursor === undefined) {
          const tools = server.onList?.() ?? server.tools
          return Promise.resolve({ ok: true, result: { tools, ...server.beside } })
        }
        server.reached.push({ method, params })
        return server.answer(method, params, exchange)
      },
      notify: (method, params) => void server.reached.push({ method, params }),
      listen: (wanted) => void server.wanted.push(wanted),
      close() {
        server.closed++
        return Promise.resolve()
      },
    }
  }
}

export const MCP_POLICY = `
tollgate: 1
name: test
principals: { "agent:*": { tier: elevated } }
tools:
  "plain/*": { effect: read, destinations: none }
  "second/*": { effect: read, destinations: none }
  "plain:*": { effect: read, destinations: none }
rules:
  - { id: denied, deny: "plain/other" }
  - { id: echo, allow: ["plain/*", "second/*"] }
  - { id: faculties, allow: "plain:*" }
`

/** A client of a conversation: sends messages and collects the replies. */
export interface Client {
  readonly conversation: Conversation
  /** Sends a text. Returns all parsed messages that came back for it. */
  send(text: string): Promise<readonly JsonObject[]>
  /** Sends a request; its answer. */
  request(method: string, params?: JsonObject): Promise<JsonObject>
  /** Messages that belong to no request. */
  readonly heard: JsonObject[]
  /** Answers questions of the server, if set. */
  onAsk: ((asked: JsonObject) => JsonObject | Promise<JsonObject>) | undefined
}

/** A gateway in this process with its MCP door. */
export interface Gate {
  readonly gateway: Gateway
  readonly mcp: Mcp
  readonly server: PlainServer
  client(scope?: Scope, principal?: string): Client
  /** A client after `initialize`. */
  legacy(capabilities?: JsonObject, scope?: Scope): Promise<Client>
  /** Approves everything that is offered. */
  approve(): Promise<void>
  receipts(): Promise<readonly Receipt[]>
  close(): Promise<void>
}

/** Options of the door. */
type DoorOptions = Partial<Pick<Parameters<typeof createMcp>[0], 'log' | 'names' | 'patience'>>

/** Opens a gateway with the servers `plain` and `second`. */
export async function openGate(
  server: PlainServer = plainServer(),
  second: PlainServer = plainServer(),
  options: DoorOptions = {},
): Promise<Gate> {
  const gateway = await (await createSite()).open()
  await activate(gateway, MCP_POLICY)
  const address = { transport: 'stdio', command: '', args: [], env: {} } as const
  const { kernel } = gateway
  const mcp = createMcp({
    kernel,
    log: silent,
    servers: new Map([
      ['plain', address],
      ['second', address],
    ]),
    connect: connectTo({ plain: server, second }),
    watch: gateway.watch,
    ...options,
  })
  const client = (scope: Scope = { kind: 'server', name: 'plain' }, principal = 'agent:a'): Client => {
    const conversation = mcp.converse({ tenant: 'default', principal }, scope)
    if (!conversation) throw new Error('no such server')
    return clientOf(conversation)
  }
  return {
    gateway,
    mcp,
    server,
    client,
    async legacy(capabilities = {}, scope) {
      const made = client(scope)
      const clientInfo = { name: 'test', version: '1' }
      await made.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
      await made.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
      return made
    },
    async approve() {
      const looking = client()
      await looking.request('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
      await looking.request('tools/list')
      for (const name of kernel.catalogue.names()) {
        const offered = kernel.catalogue.offered(name)
        if (offered && kernel.catalogue.pinned(name) !== offered.hash) {
          await pinTool(kernel, name, offered.hash, 'user:olga')
        }
      }
      await looking.conversation.close()
    },
    async receipts() {
      const size = await gateway.view.size()
      const envelopes = await gateway.view.envelopes(0, size)
      return envelopes.map((each) => parseReceipt(each).receipt)
    },
    async close() {
      await mcp.close()
      await gateway.close()
    },
  }
}

/** The same, closed after the test. */
export async function gateForTest(...servers: Parameters<typeof openGate>): Promise<Gate> {
  const gate = await openGate(...servers)
  onTestFinished(() => gate.close())
  return gate
}

function clientOf(conversation: Conversation): Client {
  let numbered = 0
  const read = (text: string): JsonObject => JSON.parse(text) as JsonObject
  const client: Client = {
    conversation,
    heard: [],
    onAsk: undefined,
    async send(text) {
      const came: JsonObject[] = []
      const out: Out = {
        send(message, last) {
          const value = read(message)
          came.push(value)
          if (last || value.id === undefined || !client.onAsk) return
          void Promise.resolve(client.onAsk(value)).then((answer) =>
            conversation.take(parseMessage(JSON.stringify(answer)), out),
          )
        },
      }
      await conversation.take(parseMessage(text), out)
      return came
    },
    async request(method, params = {}) {
      const came = await client.send(JSON.stringify({ jsonrpc: '2.0', id: `r${numbered++}`, method, params }))
      const answer = came.at(-1)
      if (!answer) throw new Error('no answer')
      return answer
    },
  }
  conversation.attach({ send: (message) => void client.heard.push(read(message)) })
  return client
}

/** The `_meta` of a modern request. */
export function modernMeta(capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...more,
  }
}

/** The value at a path of an answer. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>(
    // Sound: other values have no members.
    (inner, name) => (inner as Readonly<Record<string, Json>> | null | undefined)?.[name],
    value,
  )
}
