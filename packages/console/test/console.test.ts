// The console in a real browser, on a real gateway: what people do with it.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SHOP } from './story.ts'
import { browserPath, ConsoleBrowser, signIn, startGateway, type ConsoleRig } from './rig.ts'

describe.skipIf(browserPath === undefined)('the console', () => {
  let rig: ConsoleRig
  let browser: ConsoleBrowser
  let operator: string
  let page: Page

  beforeAll(async () => {
    rig = await startGateway()
    browser = new ConsoleBrowser(rig.url)
    await browser.open()
    operator = await rig.token('operator', 'user:olga', ['sales'])
    page = await browser.signedIn(operator)
  })
  afterAll(async () => {
    await browser.close()
    await rig.close()
  })

  const open = (path: string): Promise<unknown> => page.goto(`${rig.url}/console/${path}`)

  describe('sign-in', () => {
    it('keeps the token out of the browser', async () => {
      const [cookie, ...others] = await page.context().cookies()
      expect(others).toEqual([])
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/console' })
      const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
      expect(kept + (cookie?.value ?? '')).not.toContain(operator.slice(-20))
    })

    it('refuses the tokens of programs', async () => {
      const other = await (await browser.context()).newPage()
      await other.goto(`${rig.url}/console`)
      for (const role of ['agent', 'host', 'sentinel', 'metrics'] as const) {
        await other.getByLabel('Token').fill(await rig.token(role, `agent:${role}`))
        await other.getByRole('button', { name: 'Sign in' }).click()
        // A host is an agent that may also open sessions.
        const shown = role === 'host' ? 'agent' : role
        await other.getByText(`The token has the role \`${shown}\`.`).waitFor()
      }
      expect(await other.context().cookies()).toEqual([])
      await other.context().close()
    })

    it('survives a reload, and is shared by the tabs of a browser', async () => {
      await page.reload()
      await page.getByText('user:olga').waitFor()
      const tab = await page.context().newPage()
      await tab.goto(`${rig.url}/console`)
      await tab.getByText('user:olga').waitFor()
      await tab.close()
    })

    it('ends in every tab at sign-out, and at the gateway', async () => {
      const token = await rig.token('auditor', 'user:aude')
      const first = await browser.signedIn(token)
      const second = await first.context().newPage()
      await second.goto(`${rig.url}/console`)
      await second.getByRole('navigation', { name: 'Pages' }).waitFor()
      const [cookie] = await first.context().cookies()
      const key = await first.evaluate(() => localStorage.getItem('tollgate-console-key') ?? '')
      await first.getByRole('button', { name: 'Sign out' }).click()
      await first.getByLabel('Token').waitFor()
      await second.getByLabel('Token').waitFor()
      const headers = { cookie: `${cookie?.name ?? ''}=${cookie?.value ?? ''}`, 'tollgate-console': key }
      expect((await fetch(`${rig.url}/console/api/v1/status`, { headers })).status).toBe(401)
      await first.context().close()
    })

    it('ends at once if the token is revoked', async () => {
      const token = await rig.token('operator', 'user:gone')
      const other = await browser.signedIn(token)
      const [info] = rig.gateway.tokens.list().filter(({ principal }) => principal === 'user:gone')
      await rig.gateway.tokens.revoke(info?.hash ?? '', 'test')
      await other.reload()
      await other.getByText('Your session has ended').waitFor()
      await signIn(other, operator)
      await other.context().close()
    })
  })

  describe('approvals', () => {
    it('a request appears at once, and the agent continues after the approval', async () => {
      await open('approvals')
      await page.getByText('Nothing waits for you').waitFor()
      const args = { to: 'ann@news.example.org', text: 'Hello' }
      const asked = await rig.call('mail/send', args)
      expect(asked.verdict).toBe('ESCALATE')
      await page.getByRole('link', { name: /mail\/send/ }).click()
      const detail = page.getByRole('region', { name: 'Request', exact: true })
      await detail.getByText('"ann@news.example.org"').waitFor()
      expect(await detail.innerText()).toMatch(/EGRESS_APPROVAL_REQUIRED[^]*egress[^]*policy/)
      await page.getByLabel('Reason').fill('partner asked for it')
      await page.getByRole('button', { name: 'Approve once' }).click()
      await detail.getByText('Approved by user:olga.').waitFor()
      expect(await rig.call('mail/send', args)).toMatchObject({
        verdict: 'ALLOW',
        reason_code: 'APPROVAL_GRANTED',
      })
      await page.getByText('Nothing waits for you').waitFor()
    })

    it('a denied call stays denied', async () => {
      const args = { to: 'bob@news.example.org' }
      const asked = await rig.call('mail/send', args)
      await open(`approvals/${asked.approval ?? ''}`)
      await page.getByRole('button', { name: 'Deny' }).click()
      await page.getByText('Denied by user:olga.').waitFor()
      expect(await rig.call('mail/send', args, { approval: asked.approval ?? '' })).toMatchObject({
        verdict: 'DENY',
        reason_code: 'APPROVAL_REFUSED',
      })
    })

    it('a person whom the rule does not name cannot answer, and an auditor can only look', async () => {
      const asked = await rig.call('pay/invoice', { invoice: '1' })
      const place = `/console/approvals/${asked.approval ?? ''}`
      await page.goto(rig.url + place)
      await page.getByText('The rule names who may answer: finance').waitFor()
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
      const auditor = await browser.signedIn(await rig.token('auditor', 'user:aude'), place)
      await auditor.getByText('Your role may look, but not answer.').waitFor()
      expect(await auditor.getByRole('button', { name: /Approve|Deny/ }).count()).toBe(0)
      expect(await auditor.locator('main').innerText()).not.toContain('"invoice"')
      await auditor.context().close()
      const finance = await browser.signedIn(await rig.token('operator', 'user:fin', ['finance']), place)
      await finance.getByRole('button', { name: 'Approve once' }).click()
      await finance.getByText('Approved by user:fin.').waitFor()
      await finance.context().close()
    })

    it('shows address, risk and findings of a browser call', async () => {
      const asked = await rig.click({ element: 'Buy' }, SHOP)
      await open(`approvals/${asked.approval ?? ''}`)
      const block = page.locator('section', { hasText: 'Web page' }).last()
      await block.getByText(SHOP.url).waitFor()
      expect(await block.innerText()).toMatch(/20 of 100[^]*HIDDEN_TEXT/)
    })

    it('approves nothing before all arguments were on the screen, also on a phone', async () => {
      const lines = Array.from({ length: 200 }, (_, i) => `line ${i}`)
      const asked = await rig.call('mail/send', { to: 'ann@news.example.org', text: lines })
      const phone = await browser.signedIn(operator, `/console/approvals/${asked.approval ?? ''}`, {
        viewport: { width: 360, height: 700 },
        hasTouch: true,
      })
      const approve = phone.getByRole('button', { name: 'Approve once' })
      await phone.getByText('"line 3"').waitFor()
      expect(await approve.isDisabled()).toBe(true)
      await phone.getByLabel('Reason').scrollIntoViewIfNeeded()
      await approve.click()
      await phone.getByText('Approved by user:olga.').waitFor()
      await phone.context().close()
    })
  })

  it('no page had a fault, and none reached another host', () => {
    expect(browser.faults).toEqual([])
    expect(browser.strangers).toEqual([])
  })
})
