// Stagehand with guarded actions: its `observe` proposes actions, and `guardPage` executes them. `act` would execute them itself, so it
// is not used. Stagehand's model reads the page as it is, with hidden text; the gateway decides what happens on the page.
// Needs `@browserbasehq/stagehand`, Node 22.18 and a model: `OPENAI_API_KEY`.

import process from 'node:process'
import { localBrowser, Stagehand, type Action } from '@browserbasehq/stagehand'
import { createClient, ToolDenied } from '@tollgate/client'
import { guardPage, type GuardedPage } from '@tollgate/client/playwright'
import { chromium } from 'playwright-core'
import { environment } from '../environment.ts'

const { url, token } = environment()
const [address = '', task = ''] = process.argv.slice(2)

const browser = await localBrowser.launch()
const stagehand = await Stagehand.create({
  browser,
  model: { modelName: 'openai/gpt-5.4-mini', apiKey: process.env.OPENAI_API_KEY ?? '' },
})
try {
  // The same browser, over DevTools.
  const shared = await chromium.connectOverCDP(browser.cdpUrl ?? '')
  const raw = shared.contexts()[0]?.pages()[0]
  if (!raw) throw new Error('the browser has no page')
  const client = createClient({ url, token, session: `stagehand-${Date.now()}` })
  const page = await guardPage(raw, { client, planner_ref: task })
  await page.goto(address)
  const { data: actions } = await stagehand.observe(task)
  for (const action of actions) {
    const answer = await perform(page, action).catch((fault: unknown) => fault)
    console.log(action.description, '→', answer instanceof ToolDenied ? answer.message : (answer ?? 'done'))
    if (answer instanceof Error) break
  }
} finally {
  await stagehand.close()
  await browser.close()
}

/** Executes an action that Stagehand proposes. Throws for a method that is not guarded. */
async function perform(
  page: GuardedPage,
  { selector, method, arguments: given = [] }: Action,
): Promise<unknown> {
  const target = page.locator(selector)
  const [value = ''] = given
  switch (method) {
    case 'click':
      return target.click()
    case 'fill':
    case 'type':
      return target.fill(value)
    case 'press':
      return target.press(value)
    case 'selectOption':
    case 'selectOptionFromDropdown':
      return target.selectOption(value)
    default:
      throw new Error(`the action \`${method ?? ''}\` is not guarded`)
  }
}
