// `tollgate sentinel scan`: scans pages in Chromium, or only their HTML.

import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PageReading } from '@tollgate/sentinel'
import { scanHtml } from '@tollgate/sentinel/static'
import { findChromium, startChromium, type Chromium } from '../../browser/chromium.ts'
import { openTab } from '../../browser/tab.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { CommandError, complain, UsageError, type Terminal } from '../program/terminal.ts'
import { readPage } from './read-page.ts'
import { lineOf, reportOf } from './report.ts'

interface SentinelScanOptions {
  readonly static?: boolean
  readonly maxRisk: number
  readonly text?: boolean
  readonly annotate?: string
}

/** Scans pages. Returns 0 if no page exceeds the limit, 1 if one does or could not be scanned. */
export async function runScan(
  terminal: Terminal,
  options: SentinelScanOptions,
  ...given: readonly string[]
): Promise<number> {
  const pages = given.map(pageOf)
  if (options.annotate !== undefined && pages.length > 1)
    throw new UsageError('`--annotate` draws one page', 'give one page')
  const browser = await browserFor(terminal, options)
  if (options.annotate !== undefined && !browser)
    throw new CommandError(
      '`--annotate` needs Chromium',
      'install Chromium or Chrome, or set TOLLGATE_BROWSER to its path',
    )
  const forget = onInterrupt(() => browser?.close())
  let failed = 0
  try {
    for (const page of pages) {
      const reading = await attempt(page, () =>
        browser ? rendered(browser, page, terminal, options) : plain(page),
      )
      if (!reading || reading.risk > options.maxRisk) failed++
      if (reading)
        terminal.row(lineOf(page.name, reading, options.text === true), () =>
          reportOf(page.name, reading, options, terminal.paint),
        )
    }
  } finally {
    forget()
    await browser?.close()
  }
  return failed > 0 ? 1 : 0
}

/** A page to scan. */
interface PageToScan {
  /** As the user wrote it. */
  readonly name: string
  readonly url: string
  readonly isFile: boolean
}

function pageOf(name: string): PageToScan {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(name))
    return { name, url: pathToFileURL(resolve(name)).href, isFile: true }
  const url = URL.canParse(name) ? new URL(name) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { name, url: url.href, isFile: false }
  throw new UsageError(
    `\`${name}\` is not a page`,
    'give the path of a file, or an address with http:// or https://',
  )
}

async function browserFor(terminal: Terminal, options: SentinelScanOptions): Promise<Chromium | undefined> {
  if (options.static === true) return undefined
  const path = findChromium()
  if (path === undefined) {
    terminal.warn(
      'no Chromium found; only the HTML is read, which is weaker: what a style or a script could hide is unknown',
      'install Chromium or Chrome, or set TOLLGATE_BROWSER to its path',
    )
    return undefined
  }
  const browser = await started(path)
  if (browser.unsandboxed)
    terminal.warn(
      'Chromium runs without its sandbox, because this is root',
      'scan unknown pages as another user',
    )
  return browser
}

async function started(path: string): Promise<Chromium> {
  try {
    return await startChromium(path)
  } catch (fault) {
    throw new CommandError(
      fault instanceof Error ? fault.message : String(fault),
      'set TOLLGATE_BROWSER to another browser, or use `--static`',
    )
  }
}

/** The result of a scan; undefined, with a complaint, if it failed. One page does not stop the others. */
async function attempt(page: PageToScan, scan: () => Promise<PageReading>): Promise<PageReading | undefined> {
  try {
    return await scan()
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault)
    complain(new CommandError(`\`${page.name}\` was not scanned: ${why}`))
    return undefined
  }
}

async function rendered(
  browser: Chromium,
  page: PageToScan,
  terminal: Terminal,
  { annotate }: SentinelScanOptions,
): Promise<PageReading> {
  // A browser shows a directory or a missing file as a page of its own.
  if (page.isFile) await readPage(page)
  const tab = await openTab(browser.cdp, !page.isFile)
  try {
    if (!(await tab.open(page.url)))
      terminal.warn(`\`${page.name}\` is still loading; it is scanned as it is now`)
    const reading = await tab.scan()
    if (annotate !== undefined) await writeFile(annotate, await tab.picture(reading.findings))
    return reading
  } finally {
    await tab.close()
  }
}

async function plain(page: PageToScan): Promise<PageReading> {
  return scanHtml(await readPage(page), page.url)
}
