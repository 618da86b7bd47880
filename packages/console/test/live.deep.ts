// The live page under load: 200 decisions a second for a minute. No call is missing, the main thread is free half of the time, and the
// memory stays flat.

import process from 'node:process'
import { expect, it } from 'vitest'
import { ask } from '../../gateway/test/gateway-rig.ts'
import { browserPath, ConsoleBrowser, startGateway } from './rig.ts'

const RATE = 200
const SECONDS = 60
const EVERY_MS = 50

it.skipIf(browserPath === undefined)(
  'shows every one of 200 decisions a second, with time to spare',
  async () => {
    const rig = await startGateway()
    const browser = new ConsoleBrowser(rig.url)
    await browser.open()
    const page = await browser.signedIn(await rig.token('auditor', 'user:aude'), '/console/live')
    await page.getByText('decisions as they happen').waitFor()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const metrics = async (): Promise<ReadonlyMap<string, number>> => {
      await devtools.send('HeapProfiler.collectGarbage')
      const { metrics: all } = await devtools.send('Performance.getMetrics')
      return new Map(all.map(({ name, value }) => [name, value]))
    }
    const ids: string[] = []
    const send = async (seconds: number): Promise<void> => {
      const begin = performance.now()
      for (let sent = 0; sent < RATE * seconds;) {
        const due = Math.min(RATE * seconds, Math.ceil(((performance.now() - begin) / 1000) * RATE))
        const calls = Array.from({ length: Math.max(0, due - sent) }, () => ask(rig.gateway))
        for (const { decided } of await Promise.all(calls)) ids.push(decided.receipt ?? '')
        sent += calls.length
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
      }
    }
    await send(10)
    const before = await metrics()
    const began = performance.now()
    await send(SECONDS)
    const seconds = (performance.now() - began) / 1000
    const newest = ids.at(-1) ?? ''
    await page.locator(`a[href="/console/call/${newest}"]`).waitFor()
    const after = await metrics()
    const busy = ((after.get('TaskDuration') ?? 0) - (before.get('TaskDuration') ?? 0)) / seconds
    const grown = ((after.get('JSHeapUsedSize') ?? 0) - (before.get('JSHeapUsedSize') ?? 0)) / 1e6
    const rows = Number(await page.locator('.calls li').first().getAttribute('aria-setsize'))
    process.stderr.write(
      `\n${ids.length} decisions, ${((RATE * SECONDS) / seconds).toFixed(0)} a second: busy ${(100 * busy).toFixed(0)} %, ${grown.toFixed(1)} MB more\n`,
    )
    expect(rows).toBe(ids.length)
    expect(busy).toBeLessThan(0.5)
    // Each kept call has its receipt; the list keeps at most 20,000.
    expect(grown).toBeLessThan(60)
    await browser.close()
    await rig.close()
  },
)
