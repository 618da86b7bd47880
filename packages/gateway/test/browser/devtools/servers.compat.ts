// The published browser servers in front of our endpoint, with the guard and the projection: what they see and what they may do.

import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { createGuard, type Guard } from '../../../src/browser/binding/guard.ts'
import type { SeenElement } from '../../../src/browser/binding/bind.ts'
import { findChromium, startChromium, type Chromium } from '../../../src/browser/chromium.ts'
import { startEndpoint, type Endpoint } from '../../../src/browser/devtools/endpoint.ts'
import { watchTargets, type Target, type Targets } from '../../../src/browser/devtools/targets.ts'
import { createProjection } from '../../../src/browser/projection/project.ts'
import { npm, saw } from '../../../../../tools/compat/saw.ts'
import { connectPeer, type Peer } from '../../mcp/peers.ts'
import { serveSite, type Site } from './rig.ts'

const path = findChromium()
const SECRET = 'QZX secret words'
const BUTTONS = `<button id=next style="position:absolute;left:20px;top:20px;width:100px;height:30px">Next page</button>
<button id=buy style="position:absolute;left:20px;top:120px;width:100px;height:30px">Buy now</button>`
const REPORT = `<script>for (const id of ['next', 'buy']) document.getElementById(id).onclick = () => fetch('/clicked-' + id)</script>`
const PAGES = {
  '/plain': `<title>Plain</title>${BUTTONS}${REPORT}<p style="opacity:0">${SECRET}</p>`,
  '/swap': `<title>Swap</title>${BUTTONS}${REPORT}<script>next.onmouseover = () => { next.style.top = '120px'; buy.style.top = '20px' }</script>`,
}

interface Server {
  readonly package: string
  readonly program: string
  args(endpoint: Endpoint): readonly string[]
  readonly open: (url: string) => readonly [tool: string, args: object]
  readonly snapshot: readonly [tool: string, args: object]
  readonly click: (reference: string) => readonly [tool: string, args: object]
  /** The reference of an element in a snapshot. */
  find(snapshot: string): string
  readonly box?: SeenElement['box']
}

const SERVERS: Readonly<Record<string, Server>> = {
  playwright: {
    package: '@playwright/mcp',
    program: 'playwright-mcp',
    args: ({ url, headers }) => [
      `--cdp-endpoint=${url}`,
      ...Object.entries(headers).map(([name, value]) => `--cdp-header=${name}: ${value}`),
      '--snapshot-mode=none',
      '--snapshot-boxes',
    ],
    open: (url) => ['browser_navigate', { url }],
    snapshot: ['browser_snapshot', {}],
    click: (target) => ['browser_click', { element: 'the button', target }],
    find: (snapshot) => /button "Next page" .*?\[ref=(\w+)\]/.exec(snapshot)?.[1] ?? '',
    box: { x: 20, y: 20, width: 100, height: 30 },
  },
  devtools: {
    package: 'chrome-devtools-mcp',
    program: 'chrome-devtools-mcp',
    args: ({ url, headers }) => [
      `--wsEndpoint=${url}`,
      `--wsHeaders=${JSON.stringify(headers)}`,
      '--no-usage-statistics',
      '--no-performance-crux',
    ],
    open: (url) => ['navigate_page', { pageId: 1, type: 'url', url }],
    snapshot: ['take_snapshot', { pageId: 1 }],
    click: (uid) => ['click', { pageId: 1, uid }],
    find: (snapshot) => /uid=(\w+) button "Next page"/.exec(snapshot)?.[1] ?? '',
  },
}

describe.skipIf(path === undefined).each(Object.entries(SERVERS))('%s', (_, server) => {
  let browser: Chromium
  let endpoint: Endpoint
  let site: Site
  let peer: Peer
  afterEach(async () => {
    await peer.close()
    await endpoint.close()
    await browser.close()
    site.close()
  })

  it('sees no hidden text, clicks what it saw, and does not click what was swapped', async () => {
    browser = await startChromium(path ?? '')
    site = await serveSite(PAGES)
    const { cdp } = browser
    const pages: Target[] = []
    const guard: Guard = createGuard(cdp, () => targets)
    const targets: Targets = await watchTargets(cdp, {
      onTarget: async (target) => {
        await guard.onTarget(target)
        if (target.type === 'page') pages.push(target)
      },
    })
    const projection = createProjection(cdp, () => targets)
    const refused: string[] = []
    endpoint = await startEndpoint(
      { cdp, targets },
      {
        async onCommand(command) {
          const said = await guard.onCommand(command)
          if (said !== 'pass' && 'refuse' in said) refused.push(command.method)
          return said
        },
        onResult: async (command, result) =>
          projection.onResult(command, await guard.onResult(command, result)),
      },
    )
    const folder = '../../../../../compat/node_modules/.bin/'
    const command = fileURLToPath(new URL(`${folder}${server.program}`, import.meta.url))
    const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
    peer = await connectPeer('v1', { command, args: [...server.args(endpoint)], env })
    const ask = async ([name, args]: readonly [string, object]): Promise<string> =>
      JSON.stringify(await peer.ask('tools/call', { name, arguments: args }))

    const clickOn = async (at: string): Promise<string | undefined> => {
      await guard.hold({}, () => ask(server.open(`${site.url}${at}`)))
      const snapshot = (await ask(server.snapshot)).replaceAll('\\"', '"')
      expect(snapshot).toContain('Buy now')
      expect(snapshot).not.toContain(SECRET)
      const [page] = pages
      const seen = {
        role: 'button',
        name: 'Next page',
        origin: site.url,
        ...(server.box && { box: server.box }),
      }
      const bound = await guard.bind({ id: page?.id ?? '' }, seen)
      if (!page || bound.state !== 'bound') throw new Error(`the button is ${bound.state}`)
      const call = { page: page.id, elements: [bound] }
      return (await guard.hold(call, () => ask(server.click(server.find(snapshot))))).stopped
    }
    const clicked = site.next('/clicked-next')
    expect(await clickOn('/plain')).toBeUndefined()
    await clicked
    expect(refused).toEqual([])
    expect(await clickOn('/swap')).toBe('something else is at the place of the element')
    expect(site.requests.filter((url) => url.startsWith('/clicked'))).toEqual(['/clicked-next'])
    saw(npm(server.package), 'MCP, guarded browser')
  })
})
