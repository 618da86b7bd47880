// Every page in both themes and three widths: nothing is wider than the screen, and axe finds no fault. With TOLLGATE_PICTURES set to a
// folder, also makes a picture of each.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserPath, ConsoleBrowser, signIn, startGateway, type ConsoleRig } from './rig.ts'
import { tellStory, type Story } from './story.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const THEMES = ['light', 'dark'] as const
const WIDTHS = [360, 768, 1440] as const
const { TOLLGATE_PICTURES: folder, TOLLGATE_PICTURES_OF: only = '' } = process.env

describe.skipIf(browserPath === undefined)('the pages of the console', () => {
  let rig: ConsoleRig
  let browser: ConsoleBrowser
  let story: Story

  beforeAll(async () => {
    rig = await startGateway()
    browser = new ConsoleBrowser(rig.url)
    await browser.open()
    story = await tellStory(rig)
  })
  afterAll(async () => {
    await browser.close()
    await rig.close()
  })

  describe.each(THEMES)('%s', (theme) => {
    it.each(WIDTHS)('fit into %i pixels and have no fault that axe finds', async (width) => {
      const context = await browser.context({
        colorScheme: theme,
        bypassCSP: true,
        viewport: { width, height: width === 360 ? 760 : 900 },
      })
      const page = await context.newPage()
      await page.goto(`${rig.url}/console`)
      expect(await faultsOf(page, `sign-in-${width}-${theme}`)).toEqual([])
      await signIn(page, story.admin)
      for (const [name, path] of Object.entries(story.places)) {
        if (!name.startsWith(only)) continue
        await page.goto(rig.url + path)
        await page.locator('main[data-ready="true"]').waitFor()
        expect.soft(await faultsOf(page, `${name}-${width}-${theme}`), name).toEqual([])
      }
      await context.close()
    })
  })
})

async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) })
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    interface Violation {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }
    const { violations } = await axe.run()
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
    return [
      ...violations.flatMap(({ id, nodes }) =>
        nodes
          .slice(0, 3)
          .map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      ),
      ...(wide > 0 ? [`${wide} pixels too wide`] : []),
    ]
  })
}
