import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser } from '../../../../tools/browser.mjs'
import type * as Client from '../../../client/src/index.ts'
import { closeAll, createServedRig } from './serve-rig.ts'

const APP = 'https://app.example.com'
const PREFLIGHT = {
  origin: APP,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'Authorization, content-type,tollgate-session, cookie, x-evil',
}

afterEach(closeAll)

function corsHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))
}

describe('CORS', () => {
  it('answers the preflight of a listed origin without a token', async () => {
    const { url } = await createServedRig({ cors: [APP] })
    for (const path of ['/v1/evaluate', '/mcp', '/openai/v1/chat/completions', '/nowhere']) {
      const answer = await fetch(url + path, { method: 'OPTIONS', headers: PREFLIGHT })
      expect([answer.status, await answer.text(), answer.headers.get('vary')]).toEqual([200, '', 'origin'])
      expect(corsHeaders(answer)).toEqual({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization, content-type, tollgate-session',
        'access-control-expose-headers': expect.stringContaining('mcp-session-id') as unknown,
        'access-control-max-age': '600',
      })
    }
  })

  it('lets a listed origin read answers and problems, and still requires a token', async () => {
    const rig = await createServedRig({ cors: [APP] })
    const headers = { origin: APP, authorization: `Bearer ${rig.token('agent')}` }
    const good = await fetch(`${rig.url}/v1/status`, { headers })
    expect([good.status, good.headers.get('access-control-allow-origin')]).toEqual([200, APP])
    const bad = await fetch(`${rig.url}/v1/status`, { headers: { origin: APP } })
    expect([bad.status, bad.headers.get('access-control-allow-origin')]).toEqual([401, APP])
    expect(good.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it.each([
    ['no origin is listed', [], APP],
    ['another scheme', [APP], 'http://app.example.com'],
    ['another port', [APP], `${APP}:8443`],
    ['another host', [APP], 'https://evil.example'],
    ['a longer host', [APP], `${APP}.evil.example`],
    ['a sandboxed page', [APP], 'null'],
    ['capital letters, which no browser sends', [APP], 'https://APP.example.com'],
  ])('refuses other origins: %s', async (_, cors, origin) => {
    const rig = await createServedRig({ cors })
    const authorization = `Bearer ${rig.token('agent')}`
    for (const init of [
      { method: 'OPTIONS', headers: { ...PREFLIGHT, origin } },
      { headers: { origin, authorization } },
    ]) {
      const answer = await fetch(`${rig.url}/v1/status`, init)
      expect([answer.status, corsHeaders(answer)]).toEqual([403, {}])
    }
  })

  it('does not weaken the check of the hostname', async () => {
    const rig = await createServedRig({ cors: [APP] })
    const lines = [
      'OPTIONS /v1/status HTTP/1.1',
      'Host: evil.example',
      `Origin: ${APP}`,
      'Access-Control-Request-Method: GET',
    ]
    expect(await rig.raw(`${lines.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 421 /)
  })
})

const browserPath = findBrowser()
if (browserPath === undefined) {
  process.stderr.write(
    '\n!!! NO BROWSER: CORS is NOT tried in a browser. Set TOLLGATE_BROWSER to the path of one.\n\n',
  )
}

declare const tollgate: typeof Client

describe.skipIf(browserPath === undefined)('the SDK in a page of another origin', () => {
  let app: Server
  let origin: string
  let browser: Browser

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [new URL('../../../client/src/index.ts', import.meta.url).pathname],
      ...{ bundle: true, platform: 'browser', format: 'iife', globalName: 'tollgate', write: false },
      logLevel: 'silent',
    })
    const code = outputFiles[0]?.text ?? ''
    app = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<script>${code}</script>`),
    )
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
    // Sound: the server listens on TCP.
    origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
    browser = await chromium.launch({
      ...(browserPath !== undefined && { executablePath: browserPath }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
      ],
    })
  })
  afterAll(async () => {
    await browser.close()
    app.closeAllConnections()
    app.close()
  })

  /** The outcome of a guarded call in a page of the origin. */
  async function callFrom(cors: readonly string[]): Promise<string> {
    const rig = await createServedRig({ cors })
    const page = await browser.newPage()
    try {
      await page.goto(origin)
      return await page.evaluate(
        async ({ url, token }) => {
          const client = tollgate.createClient({ url, token })
          const read = client.guard('fs/read_file', ({ path }: { path: string }) =>
            Promise.resolve(`read ${path}`),
          )
          return read({ path: 'a' }).catch((fault: unknown) =>
            fault instanceof Error ? fault.name : 'thrown',
          )
        },
        { url: rig.url, token: rig.token('agent') },
      )
    } finally {
      await page.close()
    }
  }

  it('works if the origin is listed', async () => {
    expect(await callFrom([origin])).toBe('read a')
  })

  it('is stopped by the browser and by the gateway if it is not', async () => {
    expect(await callFrom([])).not.toBe('read a')
    expect(await callFrom(['https://app.example.com'])).not.toBe('read a')
  })
})
