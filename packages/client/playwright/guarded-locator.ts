// Locators whose actions and readings the gateway decides. They have only the methods of these interfaces.

import type { Locator, Page } from 'playwright-core'
import { elementActions, type ElementActions } from './element-actions.ts'
import type { Setting } from './perform.ts'
import { readings, type Readings } from './readings.ts'

/** What an element contains. */
export interface TextOptions {
  readonly hasText?: string | RegExp
  readonly hasNotText?: string | RegExp
}

type Finder =
  | 'getByAltText'
  | 'getByLabel'
  | 'getByPlaceholder'
  | 'getByRole'
  | 'getByTestId'
  | 'getByText'
  | 'getByTitle'

/** Makes guarded locators. None of these functions touches the page. */
export type Finders = {
  readonly [F in Finder]: (...args: Parameters<Locator[F]>) => GuardedLocator
} & {
  /** @throws TypeError if the selector enters a frame. */
  locator(selector: string, options?: TextOptions): GuardedLocator
}

/** A locator whose actions and readings the gateway decides. */
export interface GuardedLocator extends Finders, ElementActions, Readings {
  filter(options: TextOptions): GuardedLocator
  first(): GuardedLocator
  last(): GuardedLocator
  nth(index: number): GuardedLocator
  /** The locator as code. */
  toString(): string
}

/** The functions that make guarded locators in a page or a locator. */
export function findersIn(setting: Setting, from: Page | Locator): Finders {
  const made = (locator: Locator): GuardedLocator => guardLocator(setting, locator)
  return {
    getByAltText: (...args) => made(from.getByAltText(...args)),
    getByLabel: (...args) => made(from.getByLabel(...args)),
    getByPlaceholder: (...args) => made(from.getByPlaceholder(...args)),
    getByRole: (...args) => made(from.getByRole(...args)),
    getByTestId: (...args) => made(from.getByTestId(...args)),
    getByText: (...args) => made(from.getByText(...args)),
    getByTitle: (...args) => made(from.getByTitle(...args)),
    locator: (selector, options = {}) => made(from.locator(ownSelector(selector), textOptions(options))),
  }
}

function guardLocator(setting: Setting, raw: Locator): GuardedLocator {
  const made = (locator: Locator): GuardedLocator => guardLocator(setting, locator)
  return Object.freeze({
    ...findersIn(setting, raw),
    ...elementActions(setting, raw),
    ...readings(setting, raw),
    filter: (options: TextOptions) => made(raw.filter(textOptions(options))),
    first: () => made(raw.first()),
    last: () => made(raw.last()),
    nth: (index: number) => made(raw.nth(index)),
    toString: () => String(raw),
  })
}

/** The guarded form of a selector: a text, not a locator that was made elsewhere. */
function ownSelector(selector: unknown): string {
  if (typeof selector === 'string' && !selector.includes('internal:control')) return selector
  throw new TypeError('a selector must be a text that stays in the page; frames are not guarded')
}

function textOptions({ hasText, hasNotText }: TextOptions): TextOptions {
  return { ...(hasText !== undefined && { hasText }), ...(hasNotText !== undefined && { hasNotText }) }
}
