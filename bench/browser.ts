// Measures the Sentinel in Chromium: a full scan of a page after a change, and the hash that precedes each action.

import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, type Cdp, type CdpResult } from '../packages/gateway/src/browser/cdp.ts'
import { findChromium, startChromium } from '../packages/gateway/src/browser/chromium.ts'
import { timeClicks } from './browser-click.ts'
import { quantile, sized, type Row } from './measure.ts'

/** Rows of a list: about 9,000 nodes and 100 KB, and about 1 MB. */
const SMALL = sized(740, 10)
const LARGE = sized(7_400, 20)

export async function* browserRows(say: (line: string) => void): AsyncGenerator<Row> {
  const path = findChromium()
  if (path === undefined) {
    say('browser: no Chromium found')
    return
  }
  say('browser: scanning pages …')
  const browser = await startChromium(path)
  try {
    const page = await openPage(browser.cdp)
    const small = await page(SMALL, sized(60, 2))
    yield row('scan of 100 KB, 9,000 nodes, p50', quantile(small.scan, 0.5), 60)
    yield row('hash of 100 KB, 9,000 nodes, p50', quantile(small.hash, 0.5), 15)
    const large = await page(LARGE, sized(20, 1))
    yield row('scan of 1 MB, p95', quantile(large.scan, 0.95), 500)
  } finally {
    await browser.close()
  }
  say('browser: clicking …')
  const { bare, guarded } = await timeClicks(path, pageOf(SMALL))
  yield {
    ...row('added per click on an unchanged page, 9,000 nodes, p50', guarded - bare, 40),
    floor: bare,
    ratio: guarded / bare,
  }
}

function row(name: string, value: number, most: number): Row {
  return {
    area: 'browser',
    name,
    value,
    unit: 'ms',
    floor: null,
    ratio: null,
    target: `≤ ${most} ms`,
    pass: value <= most,
  }
}

interface Times {
  readonly scan: Float64Array
  readonly hash: Float64Array
}

type Measured = (rows: number, rounds: number) => Promise<Times>

async function openPage(cdp: Cdp): Promise<Measured> {
  const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true })
  const send = (method: string, params: object = {}): Promise<CdpResult> =>
    cdp.send(method, params, { session: String(sessionId), timeout: 120_000 })
  await send('Page.enable')
  const frameId = asObject(asObject((await send('Page.getFrameTree')).frameTree).frame).id
  const { executionContextId: contextId } = await send('Page.createIsolatedWorld', { frameId })
  await send('Runtime.evaluate', { expression: PAGE_SCRIPT, contextId })
  return async (rows, rounds) => {
    await send('Page.setDocumentContent', { frameId, html: pageOf(rows) })
    const expression = `(${inPage.toString()})(${rounds})`
    const answer = await send('Runtime.evaluate', { expression, contextId, returnByValue: true })
    // Sound: that is what it returns.
    const { scan, hash } = asObject(answer.result).value as { scan: number[]; hash: number[] }
    return { scan: Float64Array.from(scan), hash: Float64Array.from(hash) }
  }
}

/** A list as shops and mail programs have it: cards, icons before titles, labels for screen readers. */
function pageOf(rows: number): string {
  const style =
    'body{font:14px sans-serif}.card{padding:4px;border:1px solid #ccc;background:#fff;position:relative}.t::before{content:"•"}' +
    '.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}'
  const card = (i: number): string =>
    `<div class="card"><h3 class="t">Item ${i}</h3><p class="d">Some text with <b>bold ${i}</b> and <a href="/x/${i}" title="details">link</a><span class="sr">opens</span></p></div>`
  return `<!doctype html><style>${style}</style><body>${Array.from({ length: rows }, (_, i) => card(i)).join('')}`
}

interface PageWorld {
  readonly document: {
    readonly body: { readonly style: { paddingTop: string }; readonly offsetHeight: number }
  }
  readonly tollgateSentinel: { scan(): unknown; hashOnly(): unknown }
}

/** Runs in the page. Each round moves the page, so that styles and places are computed again. */
function inPage(count: number): { scan: number[]; hash: number[] } {
  // Sound: the globals of the isolated world.
  const { document, tollgateSentinel } = globalThis as unknown as PageWorld
  const times: { scan: number[]; hash: number[] } = { scan: [], hash: [] }
  for (let i = -2; i < count; i++) {
    document.body.style.paddingTop = `${i & 1}px`
    const height = document.body.offsetHeight
    const began = performance.now() + 0 * height
    tollgateSentinel.hashOnly()
    const middle = performance.now()
    tollgateSentinel.scan()
    if (i < 0) continue
    times.hash.push(middle - began)
    times.scan.push(performance.now() - middle)
  }
  return times
}
