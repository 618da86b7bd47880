// Measures a click through the gateway on an unchanged page: hashes, binding, guard and hit test, beside a bare click.

import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { chromium, type Page } from 'playwright-core'
import { createGuard, type Guard } from '../packages/gateway/src/browser/binding/guard.ts'
import { asObject, textOf, type CdpResult } from '../packages/gateway/src/browser/cdp.ts'
import { startChromium, type Chromium } from '../packages/gateway/src/browser/chromium.ts'
import { startEndpoint } from '../packages/gateway/src/browser/devtools/endpoint.ts'
import { watchTargets, type Target, type Targets } from '../packages/gateway/src/browser/devtools/targets.ts'
import { quantile, sized } from './measure.ts'

const BUTTON = `<button id="pay" style="position:absolute;left:20px;top:4px;width:120px;height:30px">Pay now</button>`
const SEEN = { role: 'button', name: 'Pay now', box: { x: 20, y: 4, width: 120, height: 30 } }
const CLICKS = sized(40, 2)

/** Medians in milliseconds of a click, bare and through the gateway, in alternating rounds. */
export async function timeClicks(path: string, html: string): Promise<{ bare: number; guarded: number }> {
  const bare = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
  const browser = await startChromium(path)
  try {
    const page = await bare.newPage()
    await page.setContent(html + BUTTON)
    const click = await guardedClick(browser, html + BUTTON)
    const times: { bare: number[]; guarded: number[] } = { bare: [], guarded: [] }
    for (let i = -2; i < CLICKS; i++) {
      const began = performance.now()
      await page.click('#pay')
      const middle = performance.now()
      await click()
      if (i < 0) continue
      times.bare.push(middle - began)
      times.guarded.push(performance.now() - middle)
    }
    return {
      bare: quantile(Float64Array.from(times.bare), 0.5),
      guarded: quantile(Float64Array.from(times.guarded), 0.5),
    }
  } finally {
    await browser.close()
    await bare.close()
  }
}

/** Opens the page in a guarded browser and returns one click on its button. */
async function guardedClick({ cdp }: Chromium, html: string): Promise<() => Promise<void>> {
  const guard: Guard = createGuard(cdp, () => targets)
  const pages: Target[] = []
  const targets: Targets = await watchTargets(cdp, {
    onTarget: async (target) => {
      await guard.onTarget(target)
      if (target.type === 'page') pages.push(target)
    },
  })
  const { url, headers } = await startEndpoint({ cdp, targets }, guard)
  const client = await chromium.connectOverCDP(url, { headers: { ...headers } })
  const [context] = client.contexts()
  const page: Page | undefined = context?.pages()[0] ?? (await context?.waitForEvent('page'))
  const [target] = pages
  if (!page || !target) throw new Error('the browser has no page')
  await page.setContent(html)
  const send = (method: string, params: object = {}): Promise<CdpResult> =>
    cdp.send(method, params, { session: target.session })
  const { frame } = asObject((await send('Page.getFrameTree')).frameTree)
  const { id: frameId, securityOrigin: origin } = asObject(frame)
  const hash = async (): Promise<void> => {
    const { executionContextId: contextId } = await send('Page.createIsolatedWorld', {
      frameId,
      worldName: 'tollgate-sentinel',
    })
    const known = '(globalThis.tollgateSentinel?.hashOnly().dom_hash)'
    const { result } = await send('Runtime.evaluate', { expression: known, contextId })
    if (asObject(result).value === undefined) {
      await send('Runtime.evaluate', { expression: PAGE_SCRIPT, contextId })
    }
  }
  return async () => {
    await hash()
    const bound = await guard.bind(target, { ...SEEN, origin: textOf(origin) })
    if (bound.state !== 'bound') throw new Error(`the button is ${bound.state}`)
    const { stopped } = await guard.hold({ page: target.id, elements: [bound] }, () => page.click('#pay'))
    if (stopped !== undefined) throw new Error(stopped)
    await hash()
  }
}
