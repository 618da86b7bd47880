// Connections to stand-in servers, with a record of their events.

import { fileURLToPath } from 'node:url'
import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { createConnect, type ConnectOptions } from '../../src/mcp/server/connect.ts'
import {
  UpstreamFault,
  type Exchange,
  type ServerAddress,
  type Upstream,
  type UpstreamAnswer,
} from '../../src/mcp/server/upstream.ts'

export const EVERYTHING: string = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
)

/** The path of a stand-in server. */
export function standIn(name: string): string {
  return fileURLToPath(new URL(`./server-${name}.mjs`, import.meta.url))
}

export interface Told {
  readonly method: string
  readonly params: JsonObject
}

export interface UpstreamRig extends Upstream {
  readonly told: readonly Told[]
  readonly logged: readonly string[]
  readonly stderr: () => string
  /** How often it went down. */
  readonly downs: () => number
  /** Resolves when it goes down for the nth time. */
  down(times?: number): Promise<void>
  /** Resolves when a notification of this method has arrived. */
  toldOf(method: string): Promise<Told>
  /** The text a tool answers with. */
  call(tool: string, given?: JsonObject, exchange?: Exchange): Promise<string>
}

const open = new Set<Upstream>()

/** Closes everything that a test left open. */
export async function closeUpstreams(): Promise<void> {
  await Promise.all([...open].map((each) => each.close()))
  open.clear()
}

export function connectTo(
  address: ServerAddress,
  { isApproved = () => true, ...options }: Partial<ConnectOptions> & { isApproved?: () => boolean } = {},
): UpstreamRig {
  const told: Told[] = []
  const logged: string[] = []
  const watchers = new Set<() => void>()
  const wake = (): void => {
    for (const watcher of [...watchers]) watcher()
  }
  let stderr = ''
  let downs = 0
  const connect = createConnect({
    log: (_, message, fields) => void logged.push(JSON.stringify({ message, ...fields })),
    ...options,
  })
  const upstream = connect(
    {
      name: 'srv',
      address,
      onStderr(text) {
        stderr += text
        wake()
      },
    },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      info: { name: 'tester', version: '1' },
    },
    {
      onNotification(method, params) {
        told.push({ method, params })
        wake()
      },
      onDown() {
        downs++
        wake()
      },
      isApproved: () => Promise.resolve().then(isApproved),
    },
  )
  open.add(upstream)

  async function until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        const watcher = (): void => {
          watchers.delete(watcher)
          resolve()
        }
        watchers.add(watcher)
      })
    }
  }

  return Object.assign(upstream, {
    told,
    logged,
    stderr: () => stderr,
    downs: () => downs,
    down: async (times = 1) => {
      await until(() => (downs >= times ? true : undefined))
    },
    toldOf: (method: string) => until(() => told.find((each) => each.method === method)),
    async call(tool: string, given: JsonObject = {}, exchange: Exchange = {}) {
      const answer = await upstream.request('tools/call', { name: tool, arguments: given }, exchange)
      return textOf(answer)
    },
  })
}

/** The text of an answer; for an error its code and message. */
export function textOf(answer: UpstreamAnswer): string {
  if (!answer.ok) return `${answer.error.code} ${answer.error.message}`
  const { content } = answer.result
  const text = Array.isArray(content) ? dig(content[0] as Json, 'text') : undefined // Sound: JSON holds JSON.
  return typeof text === 'string' ? text : ''
}

/** The fault of a request. */
export async function faultOf(promise: Promise<unknown>): Promise<UpstreamFault> {
  const fault: unknown = await promise.then(
    (value) => new Error(`nothing failed: ${JSON.stringify(value)}`),
    (cause: unknown) => cause,
  )
  if (fault instanceof UpstreamFault) return fault
  throw fault instanceof Error ? fault : new Error('no fault')
}

/** A value that is a text or a number, as a text. */
export function textFor(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** The value at a path. */
export function dig(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
}
