// A guarded browser, a server that it may reach, and one that it must not reach, which counts everything that arrives.

import { createSocket } from 'node:dgram'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Receipt } from '@tollgate/evidence'
import { policyOf as policyIn } from '@tollgate/kernel'
import { expect, vi } from 'vitest'
import { createRig, type Rig } from '../../../kernel/test/rig.ts'
import type { Cdp, CdpResult } from '../../src/browser/cdp.ts'
import { asObject, textOf } from '../../src/browser/cdp.ts'
import { startChromium, type Chromium } from '../../src/browser/chromium.ts'
import { startEgress, type Egress } from '../../src/browser/egress/egress.ts'
import { silent } from '../../src/log.ts'
import type { Technique } from './egress-techniques.ts'

export const WHO = { tenant: 'default', principal: 'agent:ci', session: 's1' } as const

/** A server that notes what arrives. */
export interface Counter {
  readonly port: number
  /** Connections, or datagrams of UDP. */
  readonly connections: number
  /** The paths that were asked for. */
  readonly paths: readonly string[]
  close(): Promise<void>
}

/** Starts a server on loopback, with TLS if it gets a key. */
export async function startCounter(answer: Answer, tls?: ServerOptions): Promise<Counter> {
  const paths: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const take: Answer = (asked, response) => {
    paths.push(asked.url ?? '')
    answer(asked, response)
  }
  const server: Server = tls ? createSecureServer(tls, take) : createServer(take)
  server.on('upgrade', (asked, socket) => {
    paths.push(asked.url ?? '')
    socket.destroy()
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const counter: Counter = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return counter
}

type Answer = (asked: IncomingMessage, response: ServerResponse) => void

/** Counts datagrams. */
export async function startUdpCounter(): Promise<{ port: number; packets(): number; close(): void }> {
  const socket = createSocket('udp4')
  let packets = 0
  socket.on('message', () => packets++)
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound))
  return { port: socket.address().port, packets: () => packets, close: () => void socket.close() }
}

/** The allowed server: pages, redirects, and answers that a page can read. */
export const GOOD: Answer = ({ url = '' }, response) => {
  const to = new URL(url, 'http://x').searchParams.get('to')
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-allow-headers', '*')
  if (url === '/stream') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
  else if (url.startsWith('/redirect')) response.writeHead(302, { location: to ?? '' }).end()
  else if (url.startsWith('/refresh')) response.writeHead(200, { refresh: `0; url=${to ?? ''}` }).end()
  else if (url.startsWith('/link')) {
    response
      .writeHead(200, { 'content-type': 'text/html', link: `<${to ?? ''}>; rel=preload; as=image` })
      .end('x')
  } else if (url.startsWith('/csp')) {
    response
      .writeHead(200, {
        'content-type': 'text/html',
        'content-security-policy': `img-src 'none'; report-uri ${to ?? ''}`,
      })
      .end('<img src="/x">')
  } else if (url.includes('.js?')) {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(SCRIPT)
  } else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>page</title>')
}

// A service worker or another worker: it fetches the address in its own query.
const SCRIPT = `
const to = new URL(location).searchParams.get('to')
const go = () => fetch(to, { mode: 'no-cors' }).catch(() => undefined)
self.oninstall = (event) => event.waitUntil(go())
if (!self.registration) go()
`

export interface EgressRig {
  readonly rig: Rig
  readonly good: Counter
  readonly evil: Counter
  readonly egress: Egress
  readonly browser: Chromium
  readonly tab: Tab
  /** The port of the proxy. */
  readonly port: number
  /** The address of the server that is allowed, under its name. */
  readonly origin: string
  blocked(): Extract<Receipt, { kind: 'blocked' }>[]
  /** The hash of the policy in force. */
  policy(): string
  close(): Promise<void>
}

/** Starts everything. Every name is the loopback address. */
export async function startRig(path: string, more = ''): Promise<EgressRig> {
  const good = await startCounter(GOOD)
  const evil = await startCounter((_, response) => response.end('evil'))
  const origin = `http://allowed.test:${good.port}`
  const rig = await createRig({
    policy: `
rules: []
gates:
  browser: { domains: ['allowed.test:*', 'asked.test:*'] }
  egress:
    allow: ['allowed.test:${good.port}', '127.0.0.1:${good.port}', '*.wide.test:*']
    ask: ['asked.test:${good.port}']
${more}`,
  })
  const egress = await startEgress({
    ...WHO,
    kernel: rig.kernel,
    log: silent,
    resolve: () => Promise.resolve(['127.0.0.1']),
  })
  const browser = await startChromium(path, [
    ...egress.flags,
    '--ignore-certificate-errors',
    // Service workers need it.
    `--unsafely-treat-insecure-origin-as-secure=${origin}`,
  ])
  await egress.guard(browser)
  const tab = await openTestTab(browser.cdp)
  return {
    ...{ rig, good, evil, egress, browser, tab, origin },
    port: Number(/:([0-9]+)$/.exec(egress.flags[0] ?? '')?.[1]),
    blocked: () => rig.receipts().filter((each) => each.kind === 'blocked'),
    policy: () => policyIn(rig.kernel, WHO.tenant).hash,
    async close() {
      await browser.close()
      await egress.close()
      await Promise.all([good.close(), evil.close()])
    },
  }
}

/** A tab without any restriction but those of its browser. */
export interface Tab {
  /** Opens an address and waits for the page, or for the fault. */
  open(url: string): Promise<string>
  evaluate(expression: string): Promise<unknown>
  /** Answers the next request for an address in place of its server, as a client of DevTools can. */
  invent(url: string): Promise<void>
}

/** Opens a tab, in a browser context of its own if asked. */
export async function openTestTab(cdp: Cdp, context?: string): Promise<Tab> {
  const { targetId } = await cdp.send('Target.createTarget', {
    url: 'about:blank',
    ...(context !== undefined && { browserContextId: context }),
  })
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true })
  const session = textOf(sessionId)
  const send = (method: string, params?: object): Promise<CdpResult> => cdp.send(method, params, { session })
  await send('Page.enable')
  return {
    async open(url) {
      const loaded = new Promise<void>((done) => {
        const off = cdp.on('Page.loadEventFired', session, () => {
          off()
          done()
        })
      })
      const { errorText } = await send('Page.navigate', { url })
      await loaded
      return textOf(errorText)
    },
    async invent(url) {
      await send('Fetch.enable', { patterns: [{ urlPattern: url }] })
      const off = cdp.on('Fetch.requestPaused', session, ({ requestId }) => {
        off()
        send('Fetch.fulfillRequest', { requestId, responseCode: 200, body: btoa('invented') })
          .then(() => send('Fetch.disable'))
          .catch(() => undefined)
      })
    },
    async evaluate(expression) {
      const answer = await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
        userGesture: true,
      })
      const { exceptionDetails, result } = answer
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      const { value } = asObject(result)
      return value
    },
  }
}

// A busy machine is slow.
export const PATIENCE = { timeout: 20_000, interval: 20 }

/** Runs a technique with the allowed server, where it arrives, and with the other one, where it does not. */
export async function tryTechnique(rig: EgressRig, technique: Technique): Promise<void> {
  const { good, evil, egress } = rig
  const { name, shows, elsewhere = shows, scheme = 'http' } = technique
  const before = good.connections
  const isThere = (): boolean =>
    shows === 'connection'
      ? good.connections > before
      : good.paths.some((path) => path.startsWith(`/hit/${name}`))
  await run(rig, technique, `${scheme}://allowed.test:${good.port}/hit/${name}`)
  if (shows !== 'nothing') await vi.waitFor(() => expect(isThere()).toBe(true), PATIENCE)
  expect(isThere(), 'the technique works').toBe(shows !== 'nothing')
  const host = `${name}.evil.test:${evil.port}`
  const count = egress.count()
  const arrived = evil.connections
  await run(rig, technique, `${scheme}://${host}/hit/${name}`)
  // What the browser tried shows at the proxy; then the page was refused.
  if (elsewhere !== 'nothing') await vi.waitFor(() => expect(count.now().hosts).toContain(host), PATIENCE)
  count.end()
  expect(evil.connections).toBe(arrived)
}

async function run({ tab, origin }: EgressRig, { page, code }: Technique, url: string): Promise<void> {
  await tab.open(origin + (page?.(url) ?? '/page'))
  await tab.evaluate(code(url, origin))
}
