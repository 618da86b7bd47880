// Scans pages in a real browser: one browser, one tab, one isolated world.

import { chromium, type Browser, type CDPSession } from 'playwright-core'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import type { ElementSign, PageHash, PageReading, PageTarget } from '../src/index.ts'

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
  /** Replaces the page by this HTML and looks for the element with the id `t`, by its box before `change` runs. */
  target(html: string, change?: string): Promise<PageTarget | undefined>
  /** Milliseconds of scans and hashes of the page, each after a change of it. */
  timed(
    rounds: number,
  ): Promise<{ readonly scan: number[]; readonly hash: number[]; readonly codes: string[] }>
  /** The `innerText` of a page. */
  textOf(html: string): Promise<string>
  /** Evaluates in the page's own world. */
  run<T>(expression: string): Promise<T>
  /** Starts with a new document, whose functions no page has replaced. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** Opens a browser with one tab. */
export async function openScanTab(executablePath: string, url = 'about:blank'): Promise<ScanTab> {
  const browser: Browser = await chromium.launch({ executablePath, args: FLAGS })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  if (url !== 'about:blank') await page.goto(url)
  const session = await page.context().newCDPSession(page)
  let contextId = await isolatedWorld(session)
  const again = (limits: object = {}): Promise<PageReading> =>
    evaluate(session, `tollgateSentinel.scan(${JSON.stringify(limits)})`, contextId)
  return {
    again,
    async renew() {
      await page.reload()
      contextId = await isolatedWorld(session)
    },
    async scan(html, limits) {
      await write(session, html)
      return again(limits)
    },
    async textOf(html) {
      await write(session, html)
      return evaluate(session, 'document.body.innerText')
    },
    async target(html, change = '') {
      await write(session, html)
      const sign = await evaluate<ElementSign>(session, SIGN)
      await evaluate(session, change)
      return evaluate(session, `tollgateSentinel.targetAt(${JSON.stringify(sign)})`, contextId)
    },
    hash: () => evaluate(session, 'tollgateSentinel.hashOnly()', contextId),
    timed: (rounds) => evaluate(session, `(${time.toString()})(${rounds})`, contextId),
    run: (expression) => evaluate(session, expression),
    close: () => browser.close(),
  }
}

const SIGN = `(() => {
  const find = (root) => root.querySelector('#t') ?? [...root.querySelectorAll('*')].map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean)
  const { x, y, width, height } = find(document).getBoundingClientRect()
  return { box: { x, y, width, height }, attributes: { id: 't' } }
})()`

/** Replaces the page. Frames with `srcdoc` and pictures load after it. */
async function write(session: CDPSession, html: string): Promise<void> {
  await evaluate(session, `document.open(); document.write(${JSON.stringify(html)}); document.close()`)
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
  await evaluate(session, PAGE_SCRIPT, executionContextId)
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

declare const tollgateSentinel: { scan(): PageReading; hashOnly(): PageHash }

/** Runs in the page. Each round changes the page, so that styles and places are computed again. */
function time(rounds: number): { scan: number[]; hash: number[]; codes: string[] } {
  const scan: number[] = []
  const hash: number[] = []
  let codes: string[] = []
  for (let i = 0; i < rounds; i++) {
    document.body.style.paddingTop = `${i % 2}px`
    const before = document.body.offsetHeight + performance.now() - document.body.offsetHeight
    tollgateSentinel.hashOnly()
    const middle = performance.now()
    codes = tollgateSentinel.scan().findings.map(({ code }) => code)
    scan.push(performance.now() - middle)
    hash.push(middle - before)
  }
  return { scan, hash, codes }
}
