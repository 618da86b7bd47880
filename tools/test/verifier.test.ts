// The offline verifier: `npm run verifier`. `verifier.deep.ts` compares its reports on all packs.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatTrust, parseTrust, writePack } from '../../packages/evidence/src/index.ts'
import { readPackCase } from '../../packages/evidence/test/case.ts'
import {
  begin,
  collect,
  createLedger,
  decision,
  POLICY_TEXT,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { archive, bytesOf, membersOf, replaced } from '../../packages/evidence/test/pack-forge.ts'
import { buildVerifier } from '../verifier/build.ts'
import { browserPath, give, saved, VerifierBrowser, verdictOf } from './verifier-page.ts'

const demo = (name: string): string => fileURLToPath(new URL(`../../vectors/demo/${name}`, import.meta.url))
const PACK = demo('demo.pack')
const TAMPERED = demo('tampered.pack')
const TRUST = demo('trust.json')

describe('the file', () => {
  it('is the same for the same sources, and names nothing outside of itself', async () => {
    const page = await buildVerifier()
    expect(await buildVerifier()).toBe(page)
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? []
    const [, script = ''] = /<script>([^]*?)<\/script>/.exec(page) ?? []
    expect(script.length).toBeGreaterThan(50_000)
    const markup = page.replace(style, '').replace(script, '')
    expect(markup).not.toMatch(/\b(?:src|action|srcset)=|https?:/)
    expect(markup.match(/href="[^"]{5}/g)).toEqual(['href="data:'])
    expect(markup).toContain(`script-src 'sha256-${sha256(script)}'; style-src 'sha256-${sha256(style)}'`)
  })

  it('never writes markup from text', async () => {
    expect(await buildVerifier()).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/,
    )
  })
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

describe.skipIf(browserPath === undefined)('from a file, without a network', () => {
  const browser = new VerifierBrowser()
  let page: Page

  beforeAll(async () => {
    await browser.open()
    page = await browser.page()
  })
  afterAll(() => browser.close())

  const rowTexts = (): Promise<readonly string[]> => page.locator('#rows .row').allInnerTexts()
  const entries = (): Promise<readonly string[]> => page.locator('#rows .c-index').allInnerTexts()

  it('a pack is at first of unknown origin, and verified as soon as the trust file is there', async () => {
    expect(await give(page, { pack: PACK })).toBe('INTEGRITY ONLY')
    expect(await page.locator('#verdict .advice').innerText()).toContain('Drop the trust file')
    expect(await page.locator('#standing').innerText()).toBe('origin not proved')
    await page.setInputFiles('#trust-input', TRUST)
    await page.locator('#verdict.good').waitFor()
    expect(await verdictOf(page)).toBe('VERIFIED')
    expect(await page.locator('#verdict .proved li').count()).toBe(4)
    expect(await page.locator('#count').innerText()).toBe('24')
  })

  it('offers a trust file that pins the checkpoint', async () => {
    const trust = await parseTrust(JSON.stringify(await saved(page, 'Save a trust file')))
    expect(trust.checkpoint?.size).toBe(24)
  })

  it('shows who approved a call, and finds it by that name', async () => {
    await page.getByLabel('Approved by').fill('operator:bob')
    expect(await entries()).toEqual(['10', '11', '12', '13'])
    expect((await rowTexts()).every((text) => text.includes('approved by operator:bob'))).toBe(true)
    await page.getByRole('combobox', { name: 'Verdict' }).selectOption('ALLOW')
    expect(await entries()).toEqual(['12'])
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Entry 12' }).press('Enter')
    await page.getByRole('button', { name: 'entry 11, approval, GRANTED' }).first().click()
    expect(await page.locator('#detail-title').innerText()).toBe('Entry 11, approval')
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('#detail-title').innerText()).toBe('Entry 12, decision')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.locator('#count', { hasText: /^24$/ }).waitFor()
  })

  it('a tampered pack is not to be relied on, and findings are on their receipts', async () => {
    expect(await give(page, { pack: TAMPERED })).toBe('FAILED')
    expect(await page.locator('#verdict').innerText()).toContain(
      'Do not rely on this pack. Its contents below are unverified claims.',
    )
    expect(await page.getByRole('button', { name: 'Save a trust file' }).count()).toBe(0)
    await page.getByLabel('Only with findings').check()
    expect(await entries()).toEqual(['9', '10'])
    expect((await rowTexts())[0]).toContain('SIGNATURE_WRONG')
    await page.getByRole('button', { name: 'entry 10', exact: true }).click()
    expect(await page.locator('#detail .findings').innerText()).toContain('CHAIN_BROKEN')
    expect(await page.locator('#detail .standing').innerText()).toBe('unverified claims')
    await page.keyboard.press('Escape')
    await page.locator('#detail').waitFor({ state: 'hidden' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('entry 10')
  })

  it('an entry that cannot be read has a row with its finding', async () => {
    const [inPage, inNode] = await browser.bothReports(page, readPackCase('kind-unknown'))
    expect(inPage).toEqual(inNode)
    const unreadable = page.locator('#rows .row', { hasText: 'unreadable' })
    expect(await unreadable.first().innerText()).toContain('RECEIPT_KIND_UNKNOWN')
  })

  it.each([
    ['text', 'this is not a pack'],
    ['nothing', ''],
    ['a trust file', readFileSync(TRUST)],
    ['half a pack', readFileSync(PACK).subarray(0, 30_000)],
  ])('%s is malformed', async (name, content) => {
    expect(await give(page, { pack: browser.write(name, content) })).toBe('MALFORMED')
  })

  it('60 MiB of brackets as the manifest are malformed', async () => {
    const members = await membersOf(readFileSync(PACK))
    const flood = bytesOf(`[${'[],'.repeat(20 << 20)}[]]`)
    const pack = browser.write('flood.pack', archive(replaced(members, 'manifest.json', flood)))
    expect(await give(page, { pack, trust: TRUST })).toBe('MALFORMED')
    // A verification that is under way ends when another file comes.
    await page.setInputFiles('#pack-input', pack)
    expect(await give(page, { pack: PACK })).toBe('VERIFIED')
    expect(await page.locator('#count').innerText()).toBe('24')
  })

  it('a wrong trust file means that nothing is checked', async () => {
    const trust = browser.write('wrong.json', '{ "tollgate_trust": 1, "ledger": "a.example/b", "keys": [] }')
    expect(await give(page, { trust })).toBe('NOT CHECKED')
    expect(await page.locator('#verdict .say').innerText()).toContain('`keys` is empty')
    expect(await page.locator('#receipts').isVisible()).toBe(false)
    await page.click('#trust-remove')
    expect(await verdictOf(page)).toBe('INTEGRITY ONLY')
  })

  it('text in receipts stays text', async () => {
    const ledger = await hostileLedger()
    const pack = browser.write('hostile.pack', await packOf(ledger))
    expect(await give(page, { pack, trust: browser.write('hostile.json', trustOf(ledger)) })).toBe('VERIFIED')
    const row = page.locator('#rows .row', { hasText: 'ESCALATE' })
    expect(await row.locator('.c-principal').innerText()).toContain(IMAGE)
    expect(await row.locator('.c-who').innerText()).toContain('</span><script>')
    // A character that turns the direction of writing could make a name look like another one.
    expect(await row.locator('.c-tool').innerText()).toBe('mail/·dnes')
    await row.click()
    expect(await page.locator('#detail').innerText()).toContain(IMAGE)
    expect(await page.locator('main img, dialog img, main script, dialog script').count()).toBe(0)
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    await page.keyboard.press('Escape')
  })

  it('files can be dropped, both at once, but not two packs', async () => {
    const [trust, pack] = [readFileSync(TRUST, 'latin1'), readFileSync(PACK, 'latin1')]
    const fresh = await browser.page()
    await fresh.evaluate(dropFiles, [trust, pack])
    expect(await verdictOf(fresh)).toBe('VERIFIED')
    await fresh.evaluate(dropFiles, [pack, pack])
    await fresh.locator('#verdict.bad').waitFor()
    expect(await fresh.locator('#verdict .say').innerText()).toContain('More than one file of a kind')
    expect(await fresh.locator('#receipts').isVisible()).toBe(false)
    await fresh.close()
  })

  it('without workers the page itself verifies', async () => {
    const alone = await browser.page({
      before: () => {
        Object.assign(globalThis, {
          Worker: function refused() {
            throw new DOMException('refused', 'SecurityError')
          },
        })
      },
    })
    const [inPage, inNode] = await browser.bothReports(alone, readPackCase('approval-expired'))
    expect(inPage).toEqual(inNode)
    await alone.close()
  })

  it.each(['approval-of-a-page', 'tail-cut-with-an-older-checkpoint'])(
    'reports on %s as Node does',
    async (name) => {
      const [inPage, inNode] = await browser.bothReports(page, readPackCase(name))
      expect(inPage).toEqual(inNode)
    },
  )

  it('holds only the rows near the screen', async () => {
    const ledger = await createLedger()
    await begin(ledger)
    const policy = ledger.keepPolicy(POLICY_TEXT)
    await ledger.append({ kind: 'policy', policy_hash: policy, name: 'demo', by: 'admin:ann' })
    for (let seq = 0; seq < 200; seq++) {
      await ledger.append(
        decision(policy, { session: { id: 's-1', seq }, verdict: 'DENY', reason_code: 'NO_RULE_MATCHED' }),
      )
    }
    await ledger.sealHead()
    await give(page, { pack: browser.write('long.pack', await packOf(ledger)) })
    expect(await page.locator('#count').innerText()).toBe('203')
    expect((await entries()).length).toBeLessThan(60)
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await page.getByRole('button', { name: 'Entry 202' }).waitFor()
    expect((await entries()).length).toBeLessThan(60)
  })

  it('made no request, and its script had no fault', () => {
    expect(browser.requests.filter((url) => !url.startsWith('blob:null/'))).toEqual([])
    expect(browser.faults).toEqual([])
  })

  it('the policy refuses connections, code from text, and markup from text, also with a network', async () => {
    let asked = 0
    const server = createServer((_, response) => response.end(String(asked++)))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    // Sound: a server that listens on a port has one.
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const online = await browser.page({ offline: false })
    expect(await online.evaluate(tryEverything, url)).toEqual({
      done: [],
      forbidden: ['connect-src', 'img-src', ...Array<string>(3).fill('require-trusted-types-for')],
    })
    server.close()
    expect(asked).toBe(0)
  })
})

/** Runs in the page: drops files with these bytes on it. */
function dropFiles(contents: readonly string[]): void {
  const dataTransfer = new DataTransfer()
  for (const content of contents) {
    dataTransfer.items.add(new File([Uint8Array.from(content, (c) => c.charCodeAt(0))], 'dropped'))
  }
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
}

/** Runs in the page: tries what its policy forbids. Returns what could be done, and which rules forbade the rest. */
async function tryEverything(url: string): Promise<{ done: string[]; forbidden: string[] }> {
  const done: string[] = []
  const forbidden: string[] = []
  const attempt = async (name: string, work: () => unknown): Promise<void> => {
    const violation = new Promise<string>((resolve) => {
      const listener = (event: SecurityPolicyViolationEvent): void => resolve(event.effectiveDirective)
      document.addEventListener('securitypolicyviolation', listener, { once: true })
    })
    try {
      await work()
      done.push(name)
    } catch {
      forbidden.push(await violation)
    }
  }
  await attempt('fetch', () => fetch(url))
  await attempt('image', () => Object.assign(new Image(), { src: url }).decode())
  await attempt('code', () => (document.createElement('script').text = 'globalThis.hit = 1'))
  await attempt('markup', () => (document.body.innerHTML = '<b>markup</b>'))
  await attempt('worker', () => new Worker('data:text/javascript,1'))
  return { done, forbidden }
}

const IMAGE = '<img src=x onerror="globalThis.hit=1">'

/** A ledger whose names are meant to be read as markup. */
async function hostileLedger(): Promise<TestLedger> {
  const ledger = await createLedger()
  await begin(ledger)
  const policy = ledger.keepPolicy(POLICY_TEXT)
  await ledger.append({ kind: 'policy', policy_hash: policy, name: IMAGE, by: IMAGE })
  const names = { principal: IMAGE, session: { id: IMAGE, seq: 0 }, tool: 'mail/\u{202e}dnes' }
  const asked = await ledger.append(
    decision(policy, { ...names, verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED', rule: IMAGE }),
  )
  await ledger.append({
    kind: 'approval',
    decision: asked.id,
    causes: [asked.id],
    answer: 'REFUSED',
    approver: '"><b>bob</b>',
    because: '</span><script>globalThis.hit=1</script>',
    expires: '2026-01-05T10:00:00.000Z',
  })
  await ledger.sealHead()
  return ledger
}

function packOf(ledger: TestLedger): Promise<Uint8Array> {
  return collect(writePack(ledger, { range: { start: 0, end: ledger.size } }))
}

function trustOf(ledger: TestLedger): string {
  return formatTrust({ ledger: ledger.origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0 })
}
