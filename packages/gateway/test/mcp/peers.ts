// The official clients behind one interface, and the official servers with their commands.

import { readFileSync } from 'node:fs'
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'

/** An official client: SDK version 1, or version 2 with either protocol. */
export type Kind = 'v1' | 'v2 legacy' | 'v2 modern'
/** All of them. */
export const KINDS: readonly Kind[] = ['v1', 'v2 legacy', 'v2 modern']

/** The address of a server, for a client. */
export type Place =
  | { readonly command: string; readonly args: readonly string[]; readonly env?: Record<string, string> }
  | { readonly url: string; readonly headers?: Record<string, string> }

/** A notification or request of a server. */
export interface Said {
  readonly method: string
  readonly params: unknown
}

/** The outcome of a request. */
export type Answer = Record<string, unknown>

export interface Peer {
  readonly kind: Kind
  /** The server's description of itself. */
  readonly server: { capabilities: unknown; info: unknown; instructions: unknown }
  /** Every notification, in order. */
  readonly told: readonly Said[]
  /** Every request of the server. */
  readonly asked: readonly Said[]
  /** Sends a request. A protocol error is an answer too: `{error: {code, message}}`. */
  ask(method: string, params?: object, options?: AskOptions): Promise<Answer>
  /** Waits for a fitting notification, which may have arrived before. */
  hears(method: string, fits?: (params: Record<string, unknown>) => boolean): Promise<void>
  /** Subscribes to changes, in the way of its protocol. */
  watch(uris: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface AskOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: unknown) => void
}

/** The capabilities of a client, and its answers. */
const CAPABILITIES = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } }
// In canonical order, so that servers that print the answers print the same.
const REPLIES: Readonly<Record<string, Record<string, unknown>>> = {
  'elicitation/create': { action: 'accept', content: { check: true, integer: 7, name: 'Ada' } },
  'sampling/createMessage': {
    content: { text: 'sampled', type: 'text' },
    model: 'model-of-the-test',
    role: 'assistant',
    stopReason: 'endTurn',
  },
  'roots/list': { roots: [{ name: 'work', uri: 'file:///work/of/ada' }] },
}
const NOTICES = [
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
] as const

const NAME = { name: 'peer', version: '1.0.0' }
const TIMEOUT = 20_000

/** Connects a client. `roots` are the folders that it offers; null if it has no folders to offer. */
export async function connectPeer(kind: Kind, place: Place, roots?: readonly string[] | null): Promise<Peer> {
  const heard = listening(roots ?? undefined)
  const capabilities = roots === null ? { ...CAPABILITIES, roots: undefined } : CAPABILITIES
  return kind === 'v1' ? connectOld(place, heard, capabilities) : connectNew(kind, place, heard, capabilities)
}

type Capabilities = { [name in keyof typeof CAPABILITIES]: (typeof CAPABILITIES)[name] | undefined }

async function connectOld(place: Place, heard: Heard, capabilities: Capabilities): Promise<Peer> {
  const client = new OldClient(NAME, { capabilities: defined(capabilities) })
  client.setRequestHandler(ElicitRequestSchema, (request) => heard.reply(request))
  client.setRequestHandler(CreateMessageRequestSchema, (request) => heard.reply(request))
  if (capabilities.roots) client.setRequestHandler(ListRootsRequestSchema, (request) => heard.reply(request))
  client.fallbackNotificationHandler = (notification) => {
    heard.hear(notification)
    return Promise.resolve()
  }
  const transport =
    'url' in place
      ? new OldHttp(new URL(place.url), { requestInit: { headers: place.headers ?? {} } })
      : new OldStdio({ ...place, args: [...place.args], stderr: 'ignore' })
  // Sound: transports of the SDK, whose types do not support exact optional properties.
  await client.connect(transport, { timeout: TIMEOUT })
  return {
    kind: 'v1',
    ...heard.record,
    server: {
      capabilities: client.getServerCapabilities(),
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
    },
    ask: (method, params = {}, { signal, onProgress } = {}) =>
      answerOf(
        client.request({ method, params: { ...params } }, ResultSchema, {
          timeout: TIMEOUT,
          ...(signal && { signal }),
          ...(onProgress && { onprogress: onProgress }),
        }),
      ),
    async watch(uris) {
      for (const uri of uris) await client.subscribeResource({ uri })
    },
    close: () => client.close(),
  }
}

async function connectNew(kind: Kind, place: Place, heard: Heard, capabilities: Capabilities): Promise<Peer> {
  const modern = kind === 'v2 modern'
  const client = new NewClient(NAME, {
    capabilities: defined(capabilities),
    versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' },
  })
  client.setRequestHandler('elicitation/create', (request) => heard.reply(request))
  client.setRequestHandler('sampling/createMessage', (request) => heard.reply(request))
  if (capabilities.roots) client.setRequestHandler('roots/list', (request) => heard.reply(request))
  for (const method of NOTICES) client.setNotificationHandler(method, (notice) => heard.hear(notice))
  const transport =
    'url' in place
      ? new NewHttp(new URL(place.url), { requestInit: { headers: place.headers ?? {} } })
      : new NewStdio({ ...place, args: [...place.args], stderr: 'ignore' })
  await client.connect(transport, { timeout: TIMEOUT })
  return {
    kind,
    ...heard.record,
    server: {
      capabilities: client.getServerCapabilities(),
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
    },
    ask: (method, params = {}, { signal, onProgress } = {}) =>
      answerOf(
        // Sound: the tests use only methods of the protocol.
        client.request(
          { method: method as 'tools/call', params: params as never },
          {
            timeout: TIMEOUT,
            ...(signal && { signal }),
            ...(onProgress && { onprogress: onProgress }),
          },
        ),
      ),
    async watch(uris) {
      if (modern) {
        await client.listen({
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: [...uris],
        })
      } else for (const uri of uris) await client.subscribeResource({ uri })
    },
    close: () => client.close(),
  }
}

/** Without the members that are undefined. */
function defined(capabilities: Capabilities): Partial<typeof CAPABILITIES> {
  return JSON.parse(JSON.stringify(capabilities)) as Partial<typeof CAPABILITIES>
}

interface Heard {
  readonly record: Pick<Peer, 'told' | 'asked' | 'hears'>
  hear(said: { method: string; params?: unknown }): void
  reply(said: { method: string; params?: unknown }): never
}

/** The messages a client receives, and its answers to servers. */
function listening(roots?: readonly string[]): Heard {
  const replies = roots ? { ...REPLIES, 'roots/list': { roots: roots.map((uri) => ({ uri })) } } : REPLIES
  const told: Said[] = []
  const asked: Said[] = []
  let wake = new Set<() => void>()
  return {
    record: {
      told,
      asked,
      async hears(method, fits = () => true) {
        const has = (): boolean =>
          told.some((each) => each.method === method && fits({ ...(each.params as object | undefined) }))
        while (!has()) await new Promise<void>((resolve) => wake.add(resolve))
      },
    },
    hear({ method, params }) {
      told.push({ method, params })
      const waiting = wake
      wake = new Set()
      for (const each of waiting) each()
    },
    reply({ method, params }) {
      asked.push({ method, params })
      // Sound: each method gets its own reply; only the SDK knows the types.
      return structuredClone(replies[method]) as never
    },
  }
}

async function answerOf(request: Promise<unknown>): Promise<Answer> {
  try {
    return (await request) as Answer
  } catch (fault) {
    const { code, message } = fault as { code?: unknown; message?: unknown }
    return { error: { code, message } }
  }
}

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const file = (name: string): string => `${root}node_modules/@modelcontextprotocol/${name}`

/** The command of a server that is started for each client. */
export const COMMANDS: Readonly<
  Record<'everything' | 'filesystem' | 'memory' | 'modern', readonly string[]>
> = {
  everything: [process.execPath, file('server-everything/dist/index.js'), 'stdio'],
  filesystem: [process.execPath, file('server-filesystem/dist/index.js')],
  memory: [process.execPath, file('server-memory/dist/index.js')],
  modern: [process.execPath, fileURLToPath(new URL('./modern-server.mjs', import.meta.url)), 'stdio'],
}

/** A tap that records the input of a server. */
export function tapped(tap: string, command: readonly string[]): readonly string[] {
  return [process.execPath, fileURLToPath(new URL('./tap.mjs', import.meta.url)), tap, ...command]
}

/** A command as a client starts it. */
export function placeOf(
  [command = '', ...args]: readonly string[],
  env: Record<string, string> = {},
): Extract<Place, { command: string }> {
  return { command, args, env: { PATH: process.env.PATH ?? '', ...env } }
}

/** The messages of one method that a tap has seen. */
export function seen(tap: string, method?: string): readonly Record<string, unknown>[] {
  let text = ''
  try {
    text = readFileSync(tap, 'utf8')
  } catch {
    // Nothing has been sent.
  }
  const messages = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return method === undefined ? messages : messages.filter((message) => message.method === method)
}

export interface Started {
  readonly url: string
  stop(): Promise<void>
}

/** Starts the everything server with Streamable HTTP. */
export async function startEverything(): Promise<Started> {
  const port = await freePort()
  const child = spawn(process.execPath, [file('server-everything/dist/index.js'), 'streamableHttp'], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await said(child, 'stderr', /listening on port/)
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => stopped(child) }
}

/** Starts the modern server with HTTP. */
export async function startModern(env: Record<string, string>): Promise<Started> {
  const [program = '', script = ''] = COMMANDS.modern
  const child = spawn(program, [script, 'http'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await said(child, 'stdout', /^(http:\S+)\n/)
  return { url, stop: () => stopped(child) }
}

/** Starts the server that has every feature of the conformance suite. */
export async function startSubject(eras: 'both' | 'legacy'): Promise<Started> {
  const script = fileURLToPath(new URL('./subject-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, eras], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await said(child, 'stdout', /^(http:\S+)\n/)
  return { url, stop: () => stopped(child) }
}

/** Waits for an output of a process and returns its first group. */
export function said(child: ChildProcess, stream: 'stdout' | 'stderr', what: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child[stream]?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = what.exec(text)
      if (found) resolve(found[1] ?? '')
    })
    child.once('exit', (code) => reject(new Error(`it has ended with ${code ?? 'a signal'}: ${text}`)))
  })
}

/** Ends a process, and waits for its end. */
export function stopped(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}

/** A free port. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
