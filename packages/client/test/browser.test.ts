// Runs the client in a real browser, bundled without Node.

import { build } from 'esbuild'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, sha256Hex } from '../../evidence/src/index.ts'
import { findBrowser } from '../../../tools/browser.mjs'
import type * as Client from '../src/index.ts'
import type { ToolDenied } from '../src/index.ts'
import type { Fault } from './stand-in-faults.ts'
import { AGENT_TOKEN, OPERATOR_TOKEN, startStandIn, type Asked, type StandIn } from './stand-in.ts'

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
    globalName: 'tollgate',
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
  it('contains only this package, evidence and its hashing library', async () => {
    const { inputs, imports } = await bundle()
    const known = /^(packages\/client\/src|packages\/evidence\/dist|node_modules\/@noble\/hashes)\//
    expect(inputs.length).toBeGreaterThan(20)
    expect(inputs.filter((path) => !known.test(path))).toEqual([])
    expect(imports).toEqual([])
  })

  it('imports no built-in module of Node', async () => {
    const { code } = await bundle()
    // The two module names in evidence. A browser has no `getBuiltinModule` to load them.
    const names = [...code.matchAll(/["']node:([a-z_/]+)["']/g)].map(([, name]) => name)
    expect(names.sort()).toEqual(['buffer', 'crypto'])
    expect(code).not.toMatch(/\brequire\(|\bimport\(/)
  })
})

const browserPath = findBrowser()
if (browserPath === undefined) {
  process.stderr.write(
    '\n!!! NO BROWSER: the client is NOT tried in a browser. Set TOLLGATE_BROWSER to the path of one.\n\n',
  )
}

declare const tollgate: typeof Client

describe.skipIf(browserPath === undefined)('in a browser', () => {
  let gateway: StandIn
  let browser: Browser
  let page: Page
  let faults: Fault[] = []

  beforeAll(async () => {
    const { code } = await bundle()
    const fault = ({ path }: Asked): Fault | undefined =>
      path === '/v1/evaluate' ? faults.shift() : undefined
    gateway = await startStandIn({
      fault,
      pages: {
        '/': {
          type: 'text/html',
          text: '<!doctype html><title>client</title><script src="/client.js"></script>',
        },
        '/client.js': { type: 'text/javascript', text: code },
      },
    })
    browser = await chromium.launch({ executablePath: browserPath ?? '', args: FLAGS })
    page = await browser.newPage()
    await page.goto(`${gateway.url}/`)
  })

  afterAll(async () => {
    await browser.close()
    await gateway.close()
  })

  it('runs without Node', async () => {
    expect(await page.evaluate(() => typeof (globalThis as { process?: unknown }).process)).toBe('undefined')
  })

  it('runs an allowed tool with the judged arguments and reports the effect', async () => {
    const result = await page.evaluate(async (token) => {
      const client = tollgate.createClient({ url: location.origin, token })
      const read = client.guard('fs/read_file', ({ path }: { path: string }) => ({ read: path }))
      return read({ path: 'notes.txt' })
    }, AGENT_TOKEN)
    expect(result).toEqual({ read: 'notes.txt' })
    expect(gateway.receipts('decision')[0]).toMatchObject({ args_hash: sha256Hex('{"path":"notes.txt"}') })
    expect(gateway.receipts('effect')[0]).toMatchObject({ effect_hash: sha256Hex(canonicalize(result)) })
  })

  it('does not run a denied tool', async () => {
    const [runs, denial] = await page.evaluate(async (token) => {
      const client = tollgate.createClient({ url: location.origin, token })
      let ran = 0
      const thrown: unknown = await client
        .guard(
          'fs/delete',
          () => ++ran,
        )({})
        .catch((fault: unknown) => fault)
      return [ran, JSON.parse(JSON.stringify(thrown)) as ToolDenied] as const
    }, AGENT_TOKEN)
    expect(runs).toBe(0)
    expect(denial).toMatchObject({ reason_code: 'NO_RULE_MATCHED' })
  })

  it('does not run a tool on a truncated or redirected answer', async () => {
    faults = [{ kind: 'cut' }, { kind: 'redirect', to: '/v1/status' }]
    const [runs, codes] = await page.evaluate(async (token) => {
      const client = tollgate.createClient({ url: location.origin, token, retries: 0 })
      let ran = 0
      const call = (): Promise<unknown> =>
        client
          .guard(
            'fs/read_file',
            () => ++ran,
          )({})
          .catch((fault: unknown) => (fault as Client.TollgateError).code)
      return [ran, [await call(), await call()]] as const
    }, AGENT_TOKEN)
    expect([runs, codes]).toEqual([0, ['gateway-unreachable', 'gateway-unreachable']])
  })

  it('waits for an approval, streams receipts and verifies one', async () => {
    const seen = await page.evaluate(
      async ([agent, operator, trust]) => {
        const url = location.origin
        const client = tollgate.createClient({ url, token: agent })
        const person = tollgate.createClient({ url, token: operator })
        const { size } = await person.status()
        const following = (async () => {
          for await (const { receipt } of person.receipts.stream({ kind: 'effect', from: size }))
            return receipt.kind
          return 'nothing'
        })()
        const send = client.guard('mail/send', (_: object, { receipt }) => receipt, {
          approval: { onWaiting: ({ id }) => void person.approvals.approve(id) },
        })
        const receipt = await send({ to: 'a@example.com' })
        const verified = await person.receipts.verify(receipt, trust)
        return [await following, verified.receipt.kind, verified.signature]
      },
      [AGENT_TOKEN, OPERATOR_TOKEN, gateway.trust] as const,
    )
    expect(seen).toEqual(['effect', 'decision', 'checked'])
  })
})
