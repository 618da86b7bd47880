// Every page in both themes and three widths: nothing is wider than the screen, and axe finds no fault. With TOLLGATE_PICTURES set to a
// folder, also makes a picture of each.

import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf } from './axe.ts'
import { browserPath, ConsoleBrowser, signIn, startGateway, type ConsoleRig } from './rig.ts'
import { tellStory, type Story } from './story.ts'

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
      await picture(page, `sign-in-${width}-${theme}`)
      expect.soft(await faultsOf(page)).toEqual([])
      await signIn(page, story.admin)
      for (const [name, path] of Object.entries(story.places)) {
        if (!name.startsWith(only)) continue
        await page.goto(rig.url + path)
        await page.locator('main[data-ready="true"]').waitFor()
        await picture(page, `${name}-${width}-${theme}`)
        expect.soft(await faultsOf(page), name).toEqual([])
      }
      await context.close()
    })
  })
})

async function picture(page: Page, name: string): Promise<void> {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) })
}
