// The offline verifier reports on every pack of the vectors as Node does.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPackCases } from '../../packages/evidence/test/case.ts'
import { browserPath, VerifierBrowser } from './verifier-page.ts'

describe.skipIf(browserPath === undefined)('the offline verifier', () => {
  const browser = new VerifierBrowser()
  let page: Page

  beforeAll(async () => {
    await browser.open()
    page = await browser.page()
  })
  afterAll(() => browser.close())

  it.each(readPackCases())('reports on $name as Node does', async (one) => {
    const [inPage, inNode] = await browser.bothReports(page, one)
    expect(inPage).toEqual(inNode)
  })
})
