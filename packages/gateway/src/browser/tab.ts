// One page in a browser context of its own: opened, scanned in an isolated world, and drawn.

import type { Finding, PageReading } from '@tollgate/sentinel'
import { textOf, type Cdp, type CdpResult } from './cdp.ts'
import { drawFindings } from './draw.ts'
import { evaluateIn, mainFrame, scanFrame, type SendToPage } from './isolated.ts'

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
    scan: async () => scanFrame(send, await mainFrame(send)),
    async picture(findings) {
      await evaluateIn(send, await mainFrame(send), drawFindings(findings))
      const shot = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
      return Buffer.from(textOf(shot['data']), 'base64')
    },
    close: async () => void (await cdp.send('Target.disposeBrowserContext', { browserContextId: context })),
  }
}

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
