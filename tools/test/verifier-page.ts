// The offline verifier in a real browser: opened from a file, without a network, and used as a person uses it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { verifyFile } from '../../packages/evidence/node/index.ts'
import { parseTrust, type Report } from '../../packages/evidence/src/index.ts'
import type { PackCase } from '../../packages/evidence/test/case.ts'
import { findBrowser } from '../browser.mjs'
import { buildVerifier } from '../verifier/build.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
]

/** The browser for these tests, or undefined: then they are skipped, loudly. */
export const browserPath: string | undefined = findBrowser()
if (browserPath === undefined) {
  process.stderr.write(
    '\n!!! NO BROWSER: the offline verifier is NOT tested. Set TOLLGATE_BROWSER to the path of one.\n\n',
  )
}

/** The files that a person gives to the page, by path. */
export interface Given {
  readonly pack?: string
  readonly trust?: string
}

/** How the page is opened. */
export interface Opening {
  readonly before?: () => void
  readonly offline?: boolean
}

/** A browser with the page. */
export class VerifierBrowser {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-verifier-'))
  /** Every request that the page has made, its own file left out. */
  readonly requests: string[] = []
  /** Faults of the page's script, and what its policy forbade. */
  readonly faults: string[] = []
  #browser: Browser | undefined
  #context: BrowserContext | undefined
  #url = ''

  async open(): Promise<void> {
    this.#url = pathToFileURL(this.write('verifier.html', await buildVerifier())).href
    this.#browser = await chromium.launch({ executablePath: browserPath ?? '', args: FLAGS })
    this.#context = await this.#browser.newContext({
      offline: true,
      acceptDownloads: true,
      reducedMotion: 'reduce',
    })
    this.#context.on('request', (request) => {
      if (request.url() !== this.#url) this.requests.push(request.url())
    })
    this.#context.on('weberror', (fault) => this.faults.push(fault.error().message))
    this.#context.on('console', (message) => this.faults.push(message.text()))
  }

  async close(): Promise<void> {
    await this.#browser?.close()
    rmSync(this.#folder, { recursive: true })
  }

  /** Writes a file and returns its path. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.#folder, name)
    writeFileSync(path, content)
    return path
  }

  /** Opens the page. `before` runs in it before its own script. */
  async page({ before, offline = true }: Opening = {}): Promise<Page> {
    if (!this.#browser || !this.#context) throw new Error('the browser is not open')
    const page = await (offline ? this.#context : this.#browser).newPage()
    // A machine with other work may take long; the runner ends a test that hangs.
    page.setDefaultTimeout(280_000)
    if (before) await page.addInitScript(before)
    await page.goto(this.#url)
    return page
  }

  /** The report that the page and the verifier of Node give on a case, in this order. */
  async bothReports(page: Page, { name, pack, trust }: PackCase): Promise<readonly [Report, Report]> {
    const path = this.write(`${name}.pack`, pack)
    if (trust !== undefined) await page.setInputFiles('#trust-input', this.write(`${name}.json`, trust))
    else if (await page.locator('#trust-remove').isVisible()) await page.click('#trust-remove')
    await give(page, { pack: path })
    const inNode = await verifyFile(path, trust === undefined ? {} : { trust: await parseTrust(trust) })
    // Sound: the page writes what `--json` prints.
    return [(await saved(page, 'Save the report')) as Report, JSON.parse(JSON.stringify(inNode)) as Report]
  }
}

/** Gives files to the page and waits for its verdict. Returns the word of the verdict. */
export async function give(page: Page, { pack, trust }: Given): Promise<string> {
  if (trust !== undefined) await page.setInputFiles('#trust-input', trust)
  if (pack !== undefined) await page.setInputFiles('#pack-input', pack)
  return verdictOf(page)
}

/** Waits until no verification is under way. Returns the word of the verdict. */
export async function verdictOf(page: Page): Promise<string> {
  await page.locator('#verdict:is(.good, .warn, .bad)').waitFor()
  return (await page.locator('#verdict .level').textContent()) ?? ''
}

/** The contents of the file that a button offers, as data. */
export async function saved(page: Page, button: string): Promise<unknown> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ])
  return JSON.parse(await readFile(await download.path(), 'utf8'))
}
