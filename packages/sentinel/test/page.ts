// Scans pages in a real browser: one browser, one tab, one isolated world.

import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import type { PageHash, PageReading } from '../src/index.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
]

/** A tab in which pages are written and scanned. */
export interface ScanTab {
  /** Replaces the page by this HTML and scans it. */
  scan(html: string, limits?: object): Promise<PageReading>
  /** Scans the page as it is. */
  again(limits?: object): Promise<PageReading>
  hash(): Promise<PageHash>
  /** Evaluates in the page's own world. */
  run<T>(expression: string): Promise<T>
  readonly page: Page
  close(): Promise<void>
}

/** Opens a browser with one tab. */
export async function openScanTab(executablePath: string, url = 'about:blank'): Promise<ScanTab> {
  const browser: Browser = await chromium.launch({ executablePath, args: FLAGS })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  if (url !== 'about:blank') await page.goto(url)
  const session = await page.context().newCDPSession(page)
  const contextId = await isolatedWorld(session)
  await evaluate(session, PAGE_SCRIPT, contextId)
  const again = (limits: object = {}): Promise<PageReading> =>
    evaluate(session, `tollgateSentinel.scan(${JSON.stringify(limits)})`, contextId)
  return {
    page,
    again,
    async scan(html, limits) {
      await evaluate(session, `document.open(); document.write(${JSON.stringify(html)}); document.close()`)
      await settled(session)
      return again(limits)
    },
    hash: () => evaluate(session, 'tollgateSentinel.hashOnly()', contextId),
    run: (expression) => evaluate(session, expression),
    close: () => browser.close(),
  }
}

/** Frames with `srcdoc` and pictures load after the page. */
async function settled(session: CDPSession): Promise<void> {
  await evaluate(
    session,
    `new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', () => done(), { once: true }))`,
  )
}

async function isolatedWorld(session: CDPSession): Promise<number> {
  await session.send('Page.enable')
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'sentinel',
  })
  return executionContextId
}

async function evaluate<T>(session: CDPSession, expression: string, contextId?: number): Promise<T> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    returnByValue: true,
    awaitPromise: true,
    ...(contextId !== undefined && { contextId }),
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  // Sound: the caller says what the expression returns.
  return result.value as T
}
