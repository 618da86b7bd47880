// Every technique of the checklist in a real browser: a hostile page and a benign twin.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser } from '../../../tools/browser.mjs'
import { FINDING_CODES, type PageReading } from '../src/index.ts'
import { PAIRS, type Pair } from './pairs.ts'
import { openScanTab, type ScanTab } from './page.ts'
import { ordinaryPages, TEMPLATE_COUNT } from './templates.ts'

/** The default of `gates.browser.max-sentinel-risk`. A page above it is blocked. */
const LIMIT = 70
/** Findings from here on are part of an observation. */
const ASKED = 30

const browser = findBrowser()
if (browser === undefined)
  process.stderr.write('\n!!! NO BROWSER: the Sentinel is NOT tested. Set TOLLGATE_BROWSER.\n\n')

interface Result {
  readonly pair: Pair
  readonly hostile: PageReading
  readonly benign: PageReading
  /** What `innerText` of the page without the hidden part is. */
  readonly clean: string
}

describe.skipIf(browser === undefined)('pairs of pages', () => {
  let tab: ScanTab
  const results: Result[] = []

  beforeAll(async () => {
    tab = await openScanTab(browser ?? '')
    for (const pair of PAIRS) {
      const hostile = await tab.scan(pair.hostile)
      const benign = await tab.scan(pair.benign)
      const clean = pair.treatment === 'hidden' ? await tab.textOf(pair.clean) : ''
      results.push({ pair, hostile, benign, clean })
    }
  })
  afterAll(() => tab.close())

  it('are at least 80', () => {
    expect(results.length).toBeGreaterThanOrEqual(80)
  })

  it('are found or unknown in at least 97 of 100 cases, and unknown in at most 10', () => {
    const missed = results.filter((each) => !isFound(each) && !isUnknown(each))
    const unknown = results.filter((each) => !isFound(each) && isUnknown(each))
    expect(
      missed.map(nameOf).slice(0, Math.max(0, missed.length - Math.floor(results.length * 0.03))),
    ).toEqual([])
    expect(unknown.length).toBeLessThanOrEqual(results.length * 0.1)
  })

  it('have no benign twin that is blocked', () => {
    expect(results.filter(({ benign }) => benign.risk > LIMIT).map(nameOf)).toEqual([])
  })

  it('have no benign twin that is asked about', () => {
    expect(results.filter(({ benign }) => benign.risk >= ASKED).map(nameOf)).toEqual([])
  })

  it('project exactly the text of the page without the hidden part', () => {
    const hidden = results.filter(({ pair }) => pair.treatment === 'hidden')
    const projected = hidden.map((each) => [nameOf(each), plain(each.hostile.projection)])
    expect(projected).toEqual(hidden.map((each) => [nameOf(each), plain(each.clean)]))
  })

  it('raise the risk if the text is hidden and the scanner knows its wording', () => {
    const known = results.filter(({ pair }) => pair.treatment === 'hidden' && pair.flagged)
    expect(known.length).toBeGreaterThan(40)
    expect(known.filter(({ hostile }) => hostile.risk === 0).map(nameOf)).toEqual([])
    const blocked = known.filter(({ hostile }) => hostile.risk > LIMIT)
    expect(blocked.length / known.length).toBeGreaterThan(0.85)
  })

  it('raise it less, below the limit, if the text is visible', () => {
    const shown = results.filter(({ pair }) => pair.treatment === 'shown')
    expect(shown.filter(({ hostile }) => hostile.risk === 0 || hostile.risk > LIMIT).map(nameOf)).toEqual([])
  })

  it('do not make an ordinary page of any template risky', async () => {
    for (const { name, html } of ordinaryPages(TEMPLATE_COUNT)) {
      const { risk } = await tab.scan(html)
      expect({ name, blocked: risk > LIMIT }).toEqual({ name, blocked: false })
    }
  })
})

function nameOf({ pair }: Result): string {
  return `${pair.section} ${pair.name}`
}

/** Hidden text is found if it is not projected. Everything else must raise the risk. */
function isFound({ pair, hostile, clean }: Result): boolean {
  if (hostile.findings.some(({ code, risk }) => FINDING_CODES[code].kind === 'risk' && risk > 0)) return true
  return pair.treatment === 'hidden' && plain(hostile.projection) === plain(clean)
}

function isUnknown({ hostile }: Result): boolean {
  return hostile.findings.some(({ code }) => FINDING_CODES[code].kind === 'unknown')
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
