// Two hundred ordinary pages, none of which may be blocked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser } from '../../../tools/browser.mjs'
import { openScanTab, type ScanTab } from './page.ts'
import { ordinaryPages } from './templates.ts'

const LIMIT = 70
const browser = findBrowser()

describe.skipIf(browser === undefined)('ordinary pages', () => {
  let tab: ScanTab
  beforeAll(async () => void (tab = await openScanTab(browser ?? '')))
  afterAll(() => tab.close())

  it('are not blocked', async () => {
    const blocked: string[] = []
    for (const { name, html } of ordinaryPages(200)) {
      const { risk } = await tab.scan(html)
      if (risk > LIMIT) blocked.push(`${name} ${risk}`)
    }
    expect(blocked).toEqual([])
  })
})
