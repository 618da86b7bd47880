// A client of the endpoint, as an MCP server is one, and pages for it.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { asObject, textOf, type CdpResult } from '../../../src/browser/cdp.ts'
import type { Endpoint } from '../../../src/browser/devtools/endpoint.ts'

/** An event as the client sees it. */
export interface SeenEvent {
  readonly method: string
  readonly params: CdpResult
  readonly sessionId?: string
}

export interface TestClient {
  /** Rejects with the message of the refusal. */
  send(method: string, params?: object, session?: string): Promise<CdpResult>
  /** Resolves with the first event, also one that has arrived, that fits. */
  event(method: string, fits?: (event: SeenEvent) => boolean): Promise<SeenEvent>
  readonly events: readonly SeenEvent[]
  /** Sends anything. */
  raw(data: string | Buffer): void
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>
  close(): Promise<void>
}

export async function connect({ url, headers }: Endpoint): Promise<TestClient> {
  const socket = new WebSocket(url, { headers, maxPayload: 1 << 30 })
  const waiting = new Map<number, (answer: CdpResult) => void>()
  const events: SeenEvent[] = []
  const watchers = new Set<(event: SeenEvent) => void>()
  let last = 0
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.on('message', (data: Buffer) => {
    const message = asObject(JSON.parse(data.toString()))
    if (typeof message.id === 'number') return waiting.get(message.id)?.(message)
    // Sound: what has no id is an event.
    const event = message as unknown as SeenEvent
    events.push(event)
    for (const each of watchers) each(event)
  })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, response: IncomingMessage) =>
      reject(new Error(`status ${response.statusCode ?? 0}`)),
    )
    socket.once('error', reject)
  })
  const send = (method: string, params: object = {}, sessionId?: string): Promise<CdpResult> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(asObject(result))
        else reject(new Error(textOf(asObject(error).message)))
      })
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }))
    })
  return {
    send,
    event: (method, fits = () => true) =>
      new Promise((resolve) => {
        const look = (event: SeenEvent): void => {
          if (event.method !== method || !fits(event)) return
          watchers.delete(look)
          resolve(event)
        }
        watchers.add(look)
        for (const event of [...events]) look(event)
      }),
    events,
    raw: (data) => socket.send(data),
    closed,
    close: async () => {
      socket.close()
      await closed
    },
  }
}

/** Opens a page as a client, waits until it has loaded, and returns its session. */
export async function openPage(client: TestClient, url: string): Promise<{ id: string; session: string }> {
  const { targetId } = await client.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await client.send('Target.attachToTarget', { targetId, flatten: true })
  const [id, session] = [textOf(targetId), textOf(sessionId)]
  if (url === 'about:blank') return { id, session }
  await client.send('Page.enable', {}, session)
  const loaded = client.event('Page.loadEventFired', (event) => event.sessionId === session)
  await client.send('Page.navigate', { url }, session)
  await loaded
  return { id, session }
}

/** The message of a rejection, or the result. */
export const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((fault: unknown) => (fault instanceof Error ? fault.message : 'no error'))

export interface Site {
  readonly url: string
  /** The paths that were requested. */
  readonly requests: readonly string[]
  /** Resolves when a path is requested next. */
  next(path: string): Promise<void>
  close(): void
}

/** A site with these pages, by path. */
export async function serveSite(pages: Readonly<Record<string, string>>): Promise<Site> {
  const requests: string[] = []
  const watchers = new Set<(url: string) => void>()
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    for (const each of watchers) each(url)
    const [path = ''] = url.split('?')
    response.writeHead(pages[path] === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(pages[path])
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  // Sound: a server that listens on TCP has this kind of address.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    next: (path) =>
      new Promise((resolve) => {
        const look = (url: string): void => {
          if (url !== path) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
