// One page in a browser context of its own: opened, scanned in an isolated world, and drawn.

import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import type { Finding, PageReading } from '@tollgate/sentinel'
import { asObject, textOf, type Cdp, type CdpResult } from './cdp.ts'
import { drawFindings } from './draw.ts'

/** A page in a browser. */
interface Tab {
  /** Opens an address and waits until the page has loaded. Returns false if it is still loading after the time limit. */
  open(url: string): Promise<boolean>
  /** Scans the page that is open. */
  scan(): Promise<PageReading>
  /** A PNG of the page with the findings drawn on it. */
  picture(findings: readonly Finding[]): Promise<Buffer>
  close(): Promise<void>
}

const LOADING = 20_000
const SCANNING = 15_000
// Nothing listens there.
const NOWHERE = 'http://127.0.0.1:9'

/** Opens a tab in a new context. Without `network`, the page reaches only files. */
export async function openTab(cdp: Cdp, network: boolean): Promise<Tab> {
  const proxy = network ? {} : { proxyServer: NOWHERE, proxyBypassList: '<-loopback>' }
  const context = textOf(
    (await cdp.send('Target.createBrowserContext', { disposeOnDetach: true, ...proxy }))['browserContextId'],
  )
  const created = await cdp.send('Target.createTarget', { url: 'about:blank', browserContextId: context })
  const target = textOf(created['targetId'])
  const attached = await cdp.send('Target.attachToTarget', { targetId: target, flatten: true })
  const session = textOf(attached['sessionId'])
  const send = (method: string, params?: object, timeout?: number): Promise<CdpResult> =>
    cdp.send(method, params, { session, ...(timeout !== undefined && { timeout }) })
  // A dialog would stop the page and every answer of it.
  cdp.on('Page.javascriptDialogOpening', session, () => {
    send('Page.handleJavaScriptDialog', { accept: false }).catch(() => undefined)
  })
  await send('Page.enable')
  await send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: context })
  return {
    open: (url) => open(cdp, session, send, url),
    scan: async () => readingOf(await evaluate(send, `${PAGE_SCRIPT};tollgateSentinel.scan()`)),
    async picture(findings) {
      await evaluate(send, drawFindings(findings))
      const shot = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
      return Buffer.from(textOf(shot['data']), 'base64')
    },
    close: async () => void (await cdp.send('Target.disposeBrowserContext', { browserContextId: context })),
  }
}

type SendToPage = (method: string, params?: object, timeout?: number) => Promise<CdpResult>

async function open(cdp: Cdp, session: string, send: SendToPage, url: string): Promise<boolean> {
  let forget = (): void => undefined
  const loaded = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), LOADING)
    const off = cdp.on('Page.loadEventFired', session, () => resolve(true))
    forget = () => {
      clearTimeout(timer)
      off()
    }
  })
  try {
    const { errorText } = await send('Page.navigate', { url })
    if (errorText !== undefined) throw new Error(`the page could not be opened: ${textOf(errorText)}`)
    return await loaded
  } finally {
    forget()
  }
}

/** Evaluates in a new isolated world, whose functions the page cannot have replaced. */
async function evaluate(send: SendToPage, expression: string): Promise<unknown> {
  const { frameTree } = await send('Page.getFrameTree')
  const frameId = asObject(asObject(frameTree)['frame'])['id']
  const world = await send('Page.createIsolatedWorld', { frameId, worldName: 'tollgate-sentinel' })
  const answer = await send(
    'Runtime.evaluate',
    { expression, contextId: world['executionContextId'], returnByValue: true },
    SCANNING,
  )
  if (answer['exceptionDetails'] !== undefined) throw new Error('the scan of the page failed')
  return asObject(answer['result'])['value']
}

const HASH = /^[0-9a-f]{64}$/

/** Checks the answer of the page script. Its world is not the page's, but its process is. */
function readingOf(value: unknown): PageReading {
  const { url, dom_hash, visual_text_hash, risk, findings, projection } = asObject(value)
  const whole =
    typeof url === 'string' &&
    typeof projection === 'string' &&
    typeof risk === 'number' &&
    risk >= 0 &&
    risk <= 100 &&
    Array.isArray(findings) &&
    HASH.test(textOf(dom_hash)) &&
    HASH.test(textOf(visual_text_hash))
  if (!whole) throw new Error('the scan of the page returned no reading')
  // Sound: every member that a decision uses was checked.
  return value as PageReading
}
