// Makes the pictures of docs/browser-guard.md: the attack page of the shop as a person sees it, and as an agent reads it with and without
// the Sentinel. Run it after a change of the page: `npx tsx examples/browser-agent/pictures.ts`.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageReading } from '@tollgate/sentinel'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { chromium, type Page } from 'playwright-core'
import { startSite } from './site.ts'

const [folder = fileURLToPath(new URL('../../docs/images', import.meta.url))] = process.argv.slice(2)
const SIZE = { width: 640, height: 300 }

/** Reads the page as the Sentinel does. */
async function read(page: Page): Promise<PageReading> {
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `${PAGE_SCRIPT};tollgateSentinel.scan()`,
    contextId: world.executionContextId,
    returnByValue: true,
  })
  // Sound: `scan` returns it.
  return result.value as PageReading
}

/** A page that shows both texts. Lines that a person cannot see are marked. */
function comparison(raw: readonly string[], { projection, risk, findings }: PageReading): string {
  const seen = projection.split('\n')
  const line = (text: string): string =>
    `<p${seen.includes(text) ? '' : ' class="hidden"'}>${escaped(text)}</p>`
  const codes = findings.filter((finding) => finding.risk > 0).map(({ code }) => code)
  return `<!doctype html><style>body{font:13px/1.45 monospace;margin:16px;color:#222}div{display:flex;gap:16px}section{flex:1}
    h2{font:bold 14px sans-serif;margin:0 0 6px}p{margin:2px 0;overflow-wrap:anywhere}.hidden{background:#ffd7d7}</style>
    <div><section><h2>The text that an agent reads</h2>${raw.map(line).join('')}</section>
    <section><h2>The text behind the Sentinel</h2>${seen.map((text) => `<p>${escaped(text)}</p>`).join('')}</section></div>
    <h2 style="margin-top:14px">Risk ${risk}: ${codes.join(', ')}</h2>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

const site = await startSite()
const executablePath = process.env.TOLLGATE_BROWSER
const browser = await chromium.launch(executablePath === undefined ? {} : { executablePath })
try {
  mkdirSync(folder, { recursive: true })
  const page = await browser.newPage({ viewport: SIZE })
  await page.goto(`${site.url}/review`)
  await page.screenshot({ path: join(folder, 'attack-page-person.png') })
  const text = await page.locator('body').innerText()
  const raw = text.split('\n').filter((line) => line.trim() !== '')
  const html = comparison(raw, await read(page))
  await page.setContent(html)
  await page.screenshot({ path: join(folder, 'attack-page-agent.png') })
} finally {
  await browser.close()
  site.close()
}
