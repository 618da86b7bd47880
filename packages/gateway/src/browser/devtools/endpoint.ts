// The DevTools endpoint of one browser: a WebSocket on a loopback port that needs a secret and serves one client at a time.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { textOf } from '../cdp.ts'
import { openClient, type Client, type Guarded } from './client.ts'
import type { Screen } from './screen.ts'

/** Where the client finds its browser, and what it must send with each request. */
export interface Endpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  close(): Promise<void>
}

const PATH = '/devtools/browser'
/** A file for an upload arrives in one message. */
const MAX_MESSAGE = 64 << 20
/** Messages before the browser is opened for the client. */
const MOST_EARLY = 64
/** A client that reads so slowly that this much waits for it is disconnected. */
const MAX_WAITING = 256 << 20
const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/** Starts the endpoint of one browser. */
export async function startEndpoint(browser: Guarded, screen: Screen): Promise<Endpoint> {
  const { cdp } = browser
  const authorization = `Bearer ${randomBytes(32).toString('base64url')}`
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
    clientTracking: false,
  })
  const version = await cdp.send('Browser.getVersion')
  await cdp.send('Browser.setDownloadBehavior', { behavior: 'deny' })
  let taken: WebSocket | true | undefined
  const server = createServer(LIMITS, (request, response) => describe(request, response))
  server.maxConnections = 16
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy())
    const status = refusalOf(request, authorization) ?? (request.url === PATH ? undefined : 404)
    if (status !== undefined || taken) return refuse(socket, status ?? 409)
    taken = true
    // A handshake that fails closes the socket.
    socket.once('close', () => void (taken = undefined))
    sockets.handleUpgrade(request, socket, head, (opened) => {
      taken = opened
      serve(browser, screen, opened)
    })
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', listening)
  })
  // Sound: a server that listens on TCP has this kind of address.
  const { port } = server.address() as AddressInfo
  const url = `ws://127.0.0.1:${port}${PATH}`
  const close = (): Promise<void> =>
    new Promise((closed) => {
      if (taken instanceof Object) taken.terminate()
      server.close(() => closed())
      server.closeAllConnections()
    })
  cdp.onEnd(() => void close())
  return { url, headers: { authorization }, close }

  function describe(request: IncomingMessage, response: ServerResponse): void {
    const status = refusalOf(request, authorization)
    const known = request.method === 'GET' && /^\/json\/version\/?$/.test(request.url ?? '')
    if (status !== undefined || !known) return void response.writeHead(status ?? 404).end()
    const { product, protocolVersion, userAgent, jsVersion } = version
    const body = {
      Browser: textOf(product),
      'Protocol-Version': textOf(protocolVersion),
      'User-Agent': textOf(userAgent),
      'V8-Version': textOf(jsVersion),
      webSocketDebuggerUrl: url,
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

/** The status that refuses a request; undefined if it has the secret and comes from no web page. */
function refusalOf({ headers }: IncomingMessage, secret: string): number | undefined {
  if (headers.origin !== undefined) return 403
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(secret)) ? undefined : 401
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function refuse(socket: Socket, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}

/** Joins a socket with the browser. */
function serve(browser: Guarded, screen: Screen, socket: WebSocket): void {
  const early: string[] = []
  let client: Client | undefined
  let closed = false
  socket.on('error', () => socket.terminate())
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return socket.close(1003, 'messages are text')
    if (client) client.take(data.toString())
    else if (early.push(data.toString()) > MOST_EARLY) socket.terminate()
  })
  socket.on('close', () => {
    closed = true
    client?.end()
  })
  const line = {
    say: (text: string): void => {
      if (socket.bufferedAmount > MAX_WAITING) return socket.terminate()
      socket.send(text)
    },
    hangUp: (reason: string): void => socket.close(1002, reason),
  }
  openClient(browser, screen, line).then(
    (opened) => {
      client = opened
      if (closed) return opened.end()
      for (const text of early.splice(0)) opened.take(text)
    },
    () => socket.close(1011, 'the browser does not answer'),
  )
}
