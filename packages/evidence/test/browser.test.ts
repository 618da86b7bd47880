// Runs the verifier in a real browser, bundled without Node. Its reports must equal those in Node.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser } from '../../../tools/browser.mjs'
import type * as Evidence from '../src/index.ts'
import { importSigningKey, parseTrust, toBase64, verifyPack, type Report } from '../src/index.ts'
import { readPackCases, type PackCase } from './case.ts'

const ENTRY = new URL('../src/index.ts', import.meta.url).pathname
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
]

async function bundle(): Promise<{ code: string; inputs: string[]; imports: string[] }> {
  const result = await build({
    entryPoints: [ENTRY],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'evidence',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  return {
    code: result.outputFiles[0]?.text ?? '',
    inputs: Object.keys(result.metafile.inputs),
    imports: Object.values(result.metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
  }
}

describe('the bundle for browsers', () => {
  it('contains only this package and its hashing library', async () => {
    const { inputs, imports } = await bundle()
    const strangers = inputs.filter(
      (path) => !/^(packages\/evidence\/src|node_modules\/@noble\/hashes)\//.test(path),
    )
    expect(inputs.length).toBeGreaterThan(20)
    expect(strangers).toEqual([])
    expect(imports).toEqual([])
  })

  it('imports no built-in module of Node', async () => {
    const { code } = await bundle()
    // The two module names in `host.ts`. A browser has no `getBuiltinModule` to load them.
    const names = [...code.matchAll(/["']node:([a-z_/]+)["']/g)].map(([, name]) => name)
    expect(names.sort()).toEqual(['buffer', 'crypto'])
    expect(code).not.toMatch(/\brequire\(|\bimport\(/)
  })
})

const browserPath = findBrowser()
if (browserPath === undefined) {
  process.stderr.write(
    '\n!!! NO BROWSER: reports are NOT compared in a browser. Set TOLLGATE_BROWSER to the path of one.\n\n',
  )
}

describe.skipIf(browserPath === undefined)('in a browser', () => {
  let server: Server
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    const { code } = await bundle()
    server = createServer((request, response) => {
      const script = request.url === '/evidence.js'
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      response.end(
        script ? code : '<!doctype html><title>evidence</title><script src="/evidence.js"></script>',
      )
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    browser = await chromium.launch({ executablePath: browserPath ?? '', args: FLAGS })
    page = await browser.newPage()
    // Only a secure context has WebCrypto. This address is one.
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })

  afterAll(async () => {
    await browser.close()
    server.close()
  })

  it('runs without Node', async () => {
    expect(await page.evaluate(() => typeof (globalThis as { process?: unknown }).process)).toBe('undefined')
    expect(await page.evaluate(() => globalThis.isSecureContext)).toBe(true)
  })

  for (const one of readPackCases()) {
    it(`reports on ${one.name} as Node does`, async () => {
      expect(await reportInPage(page, one)).toEqual(await reportInNode(one))
    })
  }

  it('signs as Node does', async () => {
    const signed = await page.evaluate(async () => {
      const { importSigningKey, toBase64 } = evidence
      const key = await importSigningKey(new Uint8Array(32).fill(9))
      return [toBase64(key.publicKey.bytes), toBase64(await key.sign(new TextEncoder().encode('a message')))]
    })
    const key = await importSigningKey(new Uint8Array(32).fill(9))
    expect(signed).toEqual([
      toBase64(key.publicKey.bytes),
      toBase64(await key.sign(Buffer.from('a message'))),
    ])
  })
})

declare const evidence: typeof Evidence

async function reportInNode({ pack, trust }: PackCase): Promise<Report> {
  const report = await verifyPack(pack, trust === undefined ? {} : { trust: await parseTrust(trust) })
  return JSON.parse(JSON.stringify(report)) as Report
}

function reportInPage(page: Page, { pack, trust }: PackCase): Promise<Report> {
  return page.evaluate(
    async ([encoded, trustText]) => {
      const { fromBase64, parseTrust, verifyPack } = evidence
      const bytes = fromBase64(encoded) ?? new Uint8Array(0)
      const report = await verifyPack(
        bytes,
        trustText === undefined ? {} : { trust: await parseTrust(trustText) },
      )
      return JSON.parse(JSON.stringify(report)) as Report
    },
    [Buffer.from(pack).toString('base64'), trust] as const,
  )
}
