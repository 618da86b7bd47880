// A page of Playwright whose actions the gateway decides.

import { canonicalize } from '@tollgate/evidence'
import type { Page } from 'playwright-core'
import type { Client, GuardOptions } from '../src/index.ts'
import type { ElementActions } from './element-actions.ts'
import { findersIn, type Finders } from './guarded-locator.ts'
import { createObserver } from './observer.ts'
import { perform, type ActionOptions, type Setting } from './perform.ts'

/** The options of `guardPage`. */
export interface PageGuardOptions extends Omit<GuardOptions, 'onDenied' | 'onUnreported'> {
  readonly client: Pick<Client, 'guard'>
  /** A client with a token of the role `sentinel`. It posts the observations, so that they are not claims of the agent. */
  readonly sentinel?: Pick<Client, 'postObservation'>
  /** The digest of the plan, for every action that names none, or a function that returns it. */
  readonly planner_ref?: string | (() => string | undefined)
  /** The first part of the names of the tools, such as `browser` of `browser/click`. Default `browser`. */
  readonly prefix?: string
}

/** What `goto` returns. */
export interface Visit {
  /** The address of the page that was opened, after redirects. */
  readonly url: string
  readonly status: number | null
}

type OnSelector = {
  readonly [A in 'click' | 'fill' | 'press' | 'selectOption' | 'setInputFiles']: (
    selector: string,
    ...args: Parameters<ElementActions[A]>
  ) => ReturnType<ElementActions[A]>
}

/** A page whose actions and readings the gateway decides. It has only these methods, and none of them leads to the page itself. */
export interface GuardedPage extends Finders, OnSelector {
  /** Opens a page. @throws TypeError if the address is not a whole URL. */
  goto(url: string, options?: ActionOptions): Promise<Visit>
  /**
   * Evaluates an expression in the page. A function is sent as text, so it cannot use variables of the program; its argument is plain
   * JSON data. Returns JSON data.
   */
  evaluate(
    script: string | ((argument: never) => unknown),
    argument?: unknown,
    options?: ActionOptions,
  ): Promise<unknown>
  /** The text of the page that a person could read. Hidden text is not part of it. */
  visibleText(options?: ActionOptions): Promise<string>
  title(options?: ActionOptions): Promise<string>
  url(options?: ActionOptions): Promise<string>
  ariaSnapshot(options?: ActionOptions): Promise<string>
  screenshot(options?: ActionOptions): Promise<Uint8Array>
}

/**
 * Guards a page of Chromium. The gateway decides every action and every reading of the returned page, with an observation of the
 * Sentinel. An action is executed only if the page and the target are still the judged ones; otherwise it throws `PageChanged`.
 * Give an agent only the returned page.
 *
 * @throws TollgateError `page-unreadable` if the page does not answer. An error of Playwright if the browser is not Chromium.
 */
export async function guardPage(page: Page, options: PageGuardOptions): Promise<GuardedPage> {
  const { client, sentinel, planner_ref, prefix = 'browser', ...guard } = options
  const observer = await createObserver(await page.context().newCDPSession(page))
  const plan = typeof planner_ref === 'string' ? () => planner_ref : planner_ref
  const setting: Setting = { page, observer, client, sentinel, planner_ref: plan, prefix, options: guard }
  const at = (selector: string) => finders.locator(selector)
  const finders = findersIn(setting, page)
  return Object.freeze<GuardedPage>({
    ...finders,
    click: (selector, ...args) => at(selector).click(...args),
    fill: (selector, ...args) => at(selector).fill(...args),
    press: (selector, ...args) => at(selector).press(...args),
    selectOption: (selector, ...args) => at(selector).selectOption(...args),
    setInputFiles: (selector, ...args) => at(selector).setInputFiles(...args),
    goto: (url, given) => visit(setting, url, given),
    evaluate: (script, argument, given) => evaluate(setting, script, argument, given),
    ...pageReadings(setting),
  })
}

type PageReadings = Pick<GuardedPage, 'visibleText' | 'title' | 'url' | 'ariaSnapshot' | 'screenshot'>

function pageReadings(setting: Setting): PageReadings {
  const { page, observer } = setting
  const read = async <R>(
    method: keyof PageReadings,
    run: (timeout: number) => Promise<R>,
    options?: ActionOptions,
  ): Promise<R> => perform(setting, { tool: 'read', args: { method }, holds: 'address', run }, options)
  return {
    visibleText: (options) => read('visibleText', () => observer.visibleText(), options),
    title: (options) => read('title', () => page.title(), options),
    url: (options) => read('url', () => Promise.resolve(page.url()), options),
    ariaSnapshot: (options) => read('ariaSnapshot', (timeout) => page.ariaSnapshot({ timeout }), options),
    screenshot: (options) => read('screenshot', (timeout) => page.screenshot({ timeout }), options),
  }
}

async function visit(setting: Setting, url: string, options?: ActionOptions): Promise<Visit> {
  // A relative address means what the browser context makes of it.
  if (!URL.canParse(url)) throw new TypeError('`goto` needs a whole URL')
  const { page } = setting
  const run = async (timeout: number): Promise<Visit> => {
    const answer = await page.goto(url, { timeout })
    return { url: page.url(), status: answer?.status() ?? null }
  }
  return perform(setting, { tool: 'goto', args: { url }, holds: 'nothing', destination: url, run }, options)
}

async function evaluate(
  setting: Setting,
  script: string | ((argument: never) => unknown),
  argument: unknown,
  options?: ActionOptions,
): Promise<unknown> {
  const isExpression = typeof script === 'string'
  const given = argument === undefined ? undefined : canonicalize(argument)
  // The judged text is what the page evaluates.
  const text = isExpression ? script : `(${String(script)})(${given ?? ''})`
  const run = async (): Promise<unknown> => setting.page.evaluate<unknown>(text)
  return perform(setting, { tool: 'evaluate', args: { script: text }, holds: 'page', run }, options)
}
