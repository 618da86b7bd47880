// Readings of the elements of a page. Every result is inspected before the agent gets it.

import type { Locator } from 'playwright-core'
import { perform, type ActionOptions, type Setting } from './perform.ts'

/** Readings of elements. Their texts are inspected, but a person need not be able to see them. */
export interface Readings {
  innerText(options?: ActionOptions): Promise<string>
  textContent(options?: ActionOptions): Promise<string | null>
  inputValue(options?: ActionOptions): Promise<string>
  getAttribute(name: string, options?: ActionOptions): Promise<string | null>
  ariaSnapshot(options?: ActionOptions): Promise<string>
  isVisible(options?: ActionOptions): Promise<boolean>
  isEnabled(options?: ActionOptions): Promise<boolean>
  isChecked(options?: ActionOptions): Promise<boolean>
  screenshot(options?: ActionOptions): Promise<Uint8Array>
  /** The text of every element that the locator finds. */
  allInnerTexts(options?: ActionOptions): Promise<readonly string[]>
  /** How many elements the locator finds. */
  count(options?: ActionOptions): Promise<number>
  /** Waits until the element is visible. */
  waitFor(options?: ActionOptions): Promise<void>
}

/** The readings of the elements of a locator. */
export function readings(setting: Setting, locator: Locator): Readings {
  const read = async <R>(
    method: keyof Readings,
    run: (timeout: number) => Promise<R>,
    options: ActionOptions | undefined,
    more: object = {},
  ): Promise<R> => {
    const args = { method, locator: String(locator), ...more }
    return perform(setting, { tool: 'read', args, holds: 'address', run }, options)
  }
  return {
    innerText: (options) => read('innerText', (timeout) => locator.innerText({ timeout }), options),
    textContent: (options) => read('textContent', (timeout) => locator.textContent({ timeout }), options),
    inputValue: (options) => read('inputValue', (timeout) => locator.inputValue({ timeout }), options),
    getAttribute: (name, options) =>
      read('getAttribute', (timeout) => locator.getAttribute(name, { timeout }), options, { name }),
    ariaSnapshot: (options) => read('ariaSnapshot', (timeout) => locator.ariaSnapshot({ timeout }), options),
    isVisible: (options) => read('isVisible', () => locator.isVisible(), options),
    isEnabled: (options) => read('isEnabled', (timeout) => locator.isEnabled({ timeout }), options),
    isChecked: (options) => read('isChecked', (timeout) => locator.isChecked({ timeout }), options),
    screenshot: (options) => read('screenshot', (timeout) => locator.screenshot({ timeout }), options),
    allInnerTexts: (options) => read('allInnerTexts', () => locator.allInnerTexts(), options),
    count: (options) => read('count', () => locator.count(), options),
    waitFor: (options) => read('waitFor', (timeout) => locator.waitFor({ timeout }), options),
  }
}
