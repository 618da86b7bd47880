// A browser agent behind `guardPage`: it reads a page, is denied on a poisoned page, and asks a person before it places an order.
// The model is a script, so every run is the same. Needs Chromium: Playwright's own, or the one that TOLLGATE_BROWSER names.

import assert from 'node:assert/strict'
import { createClient, ToolDenied, type ApprovalRequest } from '@tollgate/client'
import { guardPage, type GuardedPage } from '@tollgate/client/playwright'
import { sha256Hex } from '@tollgate/evidence'
import { chromium } from 'playwright-core'
import { environment } from '../environment.ts'
import { startSite } from './site.ts'

const { url, token, approverToken } = environment('TOLLGATE_APPROVER_TOKEN')
const client = createClient({ url, token, session: `browser-agent-${Date.now()}` })
const person = createClient({ url, token: approverToken })

/** Approves the call, in place of a person who sees the page and the exact call. */
function approve({ id, tool }: ApprovalRequest): void {
  console.log(`  waits for a person: ${tool}`)
  void person.approvals.approve(id)
}

const plan = 'Read about the atlas and its reviews, then order one copy for Ada.'

/** The actions that the model proposes, in order. This model follows a script. */
type Step = readonly [what: string, act: (page: GuardedPage, site: string) => Promise<unknown>]
const script: readonly Step[] = [
  ['open the shop', (page, site) => page.goto(`${site}/`)],
  ['read it', (page) => page.visibleText()],
  ['open the reviews', (page) => page.getByRole('link', { name: 'Reviews' }).click()],
  ['read them', (page) => page.visibleText()],
  ['go on', (page) => page.getByRole('link', { name: 'Next page' }).last().click({ timeout: 3_000 })],
  ['open the order', (page, site) => page.goto(`${site}/order`)],
  ['write the name', (page) => page.getByLabel('Name').fill('Ada')],
  ['place the order', (page) => page.getByRole('button', { name: 'Place order' }).click()],
  ['read the answer', (page) => page.visibleText()],
]

const site = await startSite()
const executablePath = process.env.TOLLGATE_BROWSER
const browser = await chromium.launch(executablePath === undefined ? {} : { executablePath })
const answers = new Map<string, unknown>()
try {
  // The agent gets only this page. The program keeps the browser.
  const page = await guardPage(await browser.newPage(), {
    client,
    planner_ref: `sha256:${sha256Hex(plan)}`,
    approval: { wait: 60_000, onWaiting: approve },
  })
  for (const [what, act] of script) {
    const answer = await act(page, site.url).catch((fault: unknown) => fault)
    answers.set(what, answer)
    console.log(`${what}: ${textOf(answer)}`)
  }
} finally {
  await browser.close()
  site.close()
}

/** An answer as one line, for a model and for these checks. */
function textOf(answer: unknown): string {
  if (answer instanceof ToolDenied) return `denied, ${answer.reason_code}`
  if (answer instanceof Error) return answer.message
  if (answer === undefined) return 'done'
  return typeof answer === 'string' ? answer.replaceAll('\n', ' | ') : 'opened'
}

assert.match(textOf(answers.get('read it')), /The Sea Atlas, 24\.00/)
// The hidden order is not part of what the agent reads, and nothing is clicked on that page.
assert.doesNotMatch(textOf(answers.get('read them')), /Ignore all previous instructions/)
const denial = answers.get('go on')
assert.ok(denial instanceof ToolDenied)
assert.equal(denial.reason_code, 'COGNITIVE_FIREWALL_SENTINEL_DENY')
assert.equal(answers.get('place the order'), undefined)
assert.match(textOf(answers.get('read the answer')), /Your order was placed/)
assert.deepEqual(site.opened, ['/', '/review', '/order', '/ordered'])
console.log(`the site was asked only for ${site.opened.join(', ')}`)
