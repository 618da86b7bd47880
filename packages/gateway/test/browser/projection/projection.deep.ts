// The precision of projected snapshots: over all hostile pages of the Sentinel, and over ordinary pages.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE } from '../../../../sentinel/test/wordings.ts'
import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { PAIRS } from '../../../../sentinel/test/pairs.ts'
import { ordinaryPages } from '../../../../sentinel/test/templates.ts'
import { findChromium } from '../../../src/browser/chromium.ts'
import { openProjected, type Projected } from './rig.ts'

const path = findChromium()
const PAGES = 100

describe.skipIf(path === undefined)('projected snapshots', () => {
  let projected: Projected
  beforeAll(async () => {
    projected = await openProjected(path ?? '')
  })
  afterAll(() => projected.close())

  async function wordsOf(isProjected: boolean): Promise<readonly (readonly string[])[]> {
    const texts = [
      await projected.playwright(isProjected),
      (await projected.devtools(isProjected)).join('\n'),
    ]
    return texts.map((text) => text.match(/[\p{L}\p{N}]{2,}/gu) ?? [])
  }

  test('have none of the text that hostile pages hide', async () => {
    const leaked: string[] = []
    for (const { hostile, treatment, name } of PAIRS) {
      if (treatment !== 'hidden') continue
      await projected.page.setContent(hostile)
      const texts = [await projected.playwright(), (await projected.devtools()).join(' ')]
      for (const [i, text] of texts.entries()) {
        if (HOSTILE.some((each) => text.includes(each.slice(0, 24)))) leaked.push(`${i} ${name}`)
      }
    }
    expect(leaked).toEqual([])
  })

  test('keep at least 99 of 100 visible words of ordinary pages', async () => {
    const [all, kept] = [
      [0, 0],
      [0, 0],
    ]
    for (const { html } of ordinaryPages(PAGES)) {
      await projected.page.setContent(html)
      const text = await projected.page.evaluate<string>(`${PAGE_SCRIPT};tollgateSentinel.scan().projection`)
      const visible = new Set(text.match(/[\p{L}\p{N}]{2,}/gu) ?? [])
      const [before, after] = [await wordsOf(false), await wordsOf(true)]
      for (const i of [0, 1]) {
        const wanted = new Set((before[i] ?? []).filter((word) => visible.has(word)))
        const found = new Set(after[i])
        all[i] = (all[i] ?? 0) + wanted.size
        kept[i] = (kept[i] ?? 0) + [...wanted].filter((word) => found.has(word)).length
      }
    }
    const shares = kept.map((count, i) => count / (all[i] ?? 1))
    process.stdout.write(
      `visible words kept: playwright ${shares[0] ?? 0}, devtools ${shares[1] ?? 0} of ${all.join(', ')}\n`,
    )
    for (const share of shares) expect(share).toBeGreaterThan(0.99)
  })
})
