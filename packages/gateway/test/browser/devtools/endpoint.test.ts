// The endpoint in front of a real browser: who may connect, and what passes.

import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findChromium, startChromium, type Chromium } from '../../../src/browser/chromium.ts'
import { textOf, type Cdp, type CdpResult } from '../../../src/browser/cdp.ts'
import { startEndpoint, type Endpoint } from '../../../src/browser/devtools/endpoint.ts'
import type { ClientCommand, Screen } from '../../../src/browser/devtools/screen.ts'
import { watchTargets, type Targets } from '../../../src/browser/devtools/targets.ts'
import { connect, openPage, outcome, serveSite, type Site, type TestClient } from './rig.ts'

const path = findChromium()
const PASS: Screen = {
  onCommand: () => Promise.resolve('pass'),
  onResult: (_, result) => Promise.resolve(result),
}

describe.skipIf(path === undefined)('the endpoint of a browser', () => {
  let browser: Chromium
  let site: Site
  let endpoint: Endpoint
  let client: TestClient
  let screen: Screen
  let targets: Targets
  let preparing: Promise<void> | undefined
  /** The methods that reached the browser. */
  const sent: string[] = []
  beforeAll(async () => {
    browser = await startChromium(path ?? '')
    targets = await watchTargets(browser.cdp, { onTarget: async () => preparing })
    site = await serveSite({
      '/': '<title>A</title><h1>Hello</h1>',
      '/popup': '<title>P</title>',
      '/popupnoopener': '',
    })
  })
  afterAll(async () => {
    await browser.close()
    site.close()
  })
  beforeEach(async () => {
    screen = PASS
    preparing = undefined
    const { cdp } = browser
    const counted: Cdp = {
      ...cdp,
      send: (method, params, options) => {
        sent.push(method)
        return cdp.send(method, params, options)
      },
      forward: (method, ...rest) => {
        sent.push(method)
        cdp.forward(method, ...rest)
      },
    }
    endpoint = await startEndpoint(
      { cdp: counted, targets },
      {
        onCommand: (command) => screen.onCommand(command),
        onResult: (command, result) => screen.onResult(command, result),
      },
    )
    client = await connect(endpoint)
  })
  afterEach(() => endpoint.close())

  test.each<[string, () => Partial<Endpoint>, string]>([
    ['without the secret', () => ({ headers: {} }), 'status 401'],
    ['with a wrong secret', () => ({ headers: { authorization: 'Bearer x' } }), 'status 401'],
    [
      'from a web page',
      () => ({ headers: { ...endpoint.headers, origin: 'http://127.0.0.1' } }),
      'status 403',
    ],
    ['to another path', () => ({ url: `${endpoint.url}/x` }), 'status 404'],
    ['of a second client', () => ({}), 'status 409'],
  ])('a connection %s is refused, and nothing reaches the browser', async (_, changed, message) => {
    await client.send('Browser.getVersion')
    sent.length = 0
    expect(await outcome(connect({ ...endpoint, ...changed() }))).toBe(message)
    expect(sent).toEqual([])
  })

  test('the description of the browser needs the secret, too', async () => {
    const ask = (headers: Readonly<Record<string, string>>, at: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const asked = request(`${endpoint.url.replace('ws:', 'http:').replace(/(\d)\/.*/, '$1')}${at}`, {
          headers,
        })
        asked.on('error', reject)
        asked.on('response', (response) => {
          let body = ''
          response.on('data', (chunk: Buffer) => void (body += chunk.toString()))
          response.on('end', () => resolve(body === '' ? response.statusCode : JSON.parse(body)))
        })
        asked.end()
      })
    const described = { webSocketDebuggerUrl: endpoint.url }
    expect(await ask(endpoint.headers, '/json/version')).toMatchObject(described)
    expect(await ask(endpoint.headers, '/json/version/')).toMatchObject(described)
    expect(await ask({}, '/json/version')).toBe(401)
    expect(await ask(endpoint.headers, '/json/list')).toBe(404)
  })

  test('a client has its own ids and sessions, and does not reach those of the gateway', async () => {
    const { id, session } = await openPage(client, `${site.url}/`)
    const own = targets.get(id)?.session
    expect(own).toBeDefined()
    expect(await outcome(client.send('Page.getFrameTree', {}, own))).toBe('Session with given id not found.')
    // What the gateway's sessions do is not seen, and messages of the browser itself have no session.
    expect(new Set(client.events.map(({ sessionId }) => sessionId))).toEqual(new Set([undefined, session]))
  })

  test('sessions within a page are those of the client', async () => {
    const { session } = await openPage(client, `${site.url}/`)
    await client.send('Target.setAutoAttach', { ...HOLD }, session)
    await client.send(
      'Runtime.evaluate',
      { expression: `new Worker(URL.createObjectURL(new Blob(['1'])))` },
      session,
    )
    const { params } = await client.event('Target.attachedToTarget', ({ sessionId }) => sessionId === session)
    const worker = textOf(params.sessionId)
    await client.send('Runtime.runIfWaitingForDebugger', {}, worker)
    expect(await client.send('Runtime.evaluate', { expression: '1' }, worker)).toMatchObject({
      result: { value: 1 },
    })
  })

  test('a method or parameter that is not in the table is refused before the screen is asked', async () => {
    const asked: string[] = []
    screen = { ...PASS, onCommand: ({ method }) => (asked.push(method), Promise.resolve('pass')) }
    expect(await outcome(client.send('SystemInfo.getInfo'))).toBe(
      'the gateway refused `SystemInfo.getInfo`: it is not in the table of permitted methods',
    )
    expect(await outcome(client.send('Target.createBrowserContext', { proxyServer: 'direct://' }))).toContain(
      '`proxyServer`',
    )
    expect(asked).toEqual([])
  })

  test.each<[string, Partial<Screen>, string]>([
    ['refuses', { onCommand: () => Promise.resolve({ refuse: 'no call runs' }) }, 'no call runs'],
    ['throws', { onCommand: () => Promise.reject(new Error('secret')) }, 'it could not be judged'],
    [
      'throws at once',
      {
        onCommand: () => {
          throw new Error('secret')
        },
      },
      'it could not be judged',
    ],
    [
      'throws for the result',
      { onResult: () => Promise.reject(new Error('secret')) },
      'its result could not be judged',
    ],
  ])('a command is refused if the screen %s', async (_, changed, why) => {
    const { session } = await openPage(client, 'about:blank')
    screen = { ...PASS, ...changed }
    expect(await outcome(client.send('Runtime.evaluate', { expression: '1' }, session))).toBe(
      `the gateway refused \`Runtime.evaluate\`: ${why}`,
    )
  })

  test('the screen sees the target of a command, and replaces its result', async () => {
    const seen: ClientCommand[] = []
    const { id, session } = await openPage(client, 'about:blank')
    screen = {
      onCommand: (command) => (seen.push(command), Promise.resolve('pass')),
      onResult: () => Promise.resolve<CdpResult>({ replaced: true }),
    }
    expect(await client.send('Runtime.evaluate', { expression: '1' }, session)).toEqual({ replaced: true })
    expect(seen).toEqual([{ method: 'Runtime.evaluate', params: { expression: '1' }, session, target: id }])
  })

  test('commands wait for an earlier one of their target, except for those that release the page', async () => {
    const { session } = await openPage(client, 'about:blank')
    const order: string[] = []
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    screen = {
      ...PASS,
      onCommand: async ({ method }) => {
        if (method === 'Input.insertText') await held
        order.push(method)
        return 'pass'
      },
    }
    const typed = client.send('Input.insertText', { text: 'a' }, session)
    const evaluated = client.send('Runtime.evaluate', { expression: '1' }, session)
    await outcome(client.send('Page.handleJavaScriptDialog', { accept: true }, session))
    await client.send('Browser.getVersion')
    expect(order).toEqual(['Page.handleJavaScriptDialog', 'Browser.getVersion'])
    release()
    await Promise.all([typed, evaluated])
    expect(order.slice(2)).toEqual(['Input.insertText', 'Runtime.evaluate'])
  })

  test.each(['', 'noopener'])(
    'a popup with `%s` waits for the gateway, even if the client lets it run',
    async (features) => {
      const opener = await openPage(client, `${site.url}/`)
      let ready = (): void => undefined
      preparing = new Promise<void>((resolve) => (ready = resolve))
      await client.send('Target.setAutoAttach', HOLD)
      const expression = `open('/popup${features}', '', '${features}')`
      const opened = client.send('Runtime.evaluate', { expression, userGesture: true }, opener.session)
      const { params } = await client.event('Target.attachedToTarget', ({ params: { waitingForDebugger } }) =>
        Boolean(waitingForDebugger),
      )
      const run = client.send('Runtime.runIfWaitingForDebugger', {}, textOf(params.sessionId))
      await client.send('Browser.getVersion')
      // The opener waits, too, so this is an answer of the other session.
      expect(site.requests).not.toContain(`/popup${features}`)
      const requested = site.next(`/popup${features}`)
      ready()
      await Promise.all([opened, run, requested])
    },
  )

  test.each<[string, string | Buffer, number]>([
    ['is not JSON', '{', 1002],
    ['is no command', '{"id":"1","method":"Browser.getVersion"}', 1002],
    ['has parameters that are no object', '{"id":1,"method":"Browser.getVersion","params":[]}', 1002],
    ['is binary', Buffer.from('{}'), 1003],
  ])('a message that %s ends the connection', async (_, data, code) => {
    client.raw(data)
    expect(await client.closed).toBe(code)
  })

  test('a client that leaves gives its place and its sessions back', async () => {
    const { session } = await openPage(client, 'about:blank')
    await client.close()
    const next = await reconnect(endpoint)
    expect(await outcome(next.send('Page.getFrameTree', {}, session))).toBe(
      'Session with given id not found.',
    )
    expect(sent.at(-1)).not.toBe('Page.getFrameTree')
  })

  // The last one: nothing is left of the browser.
  test('a browser that exits ends its client and its endpoint', async () => {
    await browser.close()
    expect(await client.closed).toBe(1006)
    expect(await outcome(connect(endpoint))).toContain('ECONNREFUSED')
  })
})

const HOLD = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }

/** Connects as soon as the place of the earlier client is free. */
async function reconnect(endpoint: Endpoint): Promise<TestClient> {
  for (;;) {
    try {
      return await connect(endpoint)
    } catch (fault) {
      if (!(fault instanceof Error) || fault.message !== 'status 409') throw fault
    }
  }
}
