// The guarded page and locators have exactly the methods of the table, and none leads around the guard.

import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/index.ts'
import { guardPage, type GuardedLocator, type GuardedPage } from '@tollgate/client/playwright'
import { findBrowser } from '../../../tools/browser.mjs'
import { LOCATOR_METHODS, PAGE_METHODS, type Treatment } from './playwright-methods.ts'

type Rows = Readonly<Record<string, Treatment>>

const browserPath = findBrowser()

describe.skipIf(browserPath === undefined)('the methods of Playwright', () => {
  let browser: Browser
  let made: readonly (readonly [
    name: string,
    raw: object,
    guarded: object,
    table: Rows,
    more: readonly string[],
  ])[]
  let page: GuardedPage
  let locator: GuardedLocator

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: browserPath ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    })
    const raw = await browser.newPage()
    // Nothing listens there, so nothing can be allowed.
    page = await guardPage(raw, {
      client: createClient({ url: 'http://127.0.0.1:9', token: 'none', retries: 0 }),
    })
    locator = page.locator('#t')
    made = [
      ['Page', raw, page, PAGE_METHODS, ['visibleText']],
      ['Locator', raw.locator('#t'), locator, LOCATOR_METHODS, []],
    ]
  })
  afterAll(() => browser.close())

  it('have a row each', () => {
    for (const [name, raw, , table] of made)
      expect([name, ...namesOf(raw)]).toEqual([name, ...Object.keys(table).sort()])
  })

  it('are there if they are guarded, and only then', () => {
    for (const [, , guarded, table, more] of made) {
      const kept = Object.entries(table).flatMap(([name, treatment]) =>
        treatment === 'refused' ? [] : [name],
      )
      expect(Object.keys(guarded).sort()).toEqual([...kept, ...more].sort())
      expect(Object.isFrozen(guarded)).toBe(true)
    }
  })

  it('do nothing if the gateway cannot be asked: no method acts or reads without it', async () => {
    await browser.contexts()[0]?.pages()[0]?.setContent('<input id="t" value="x">')
    for (const [, , guarded, table, more] of made) {
      const asked = Object.entries(table).flatMap(([name, kind]) =>
        kind === 'acts' || kind === 'reads' ? [name] : [],
      )
      for (const name of [...asked, ...more]) {
        const fault = await called(guarded, name).catch((thrown: unknown) => thrown)
        expect([name, fault]).toMatchObject([name, { code: 'gateway-unreachable' }])
      }
    }
  })

  it('of a guarded object lead only to guarded objects', () => {
    const found = [
      page.getByRole('button'),
      locator.first(),
      locator.nth(2),
      locator.filter({ hasText: 'x' }),
      locator.locator('b'),
    ]
    for (const each of found) expect(Object.keys(each).sort()).toEqual(Object.keys(locator).sort())
    expect(String(locator.first())).toBe(`locator('#t').first()`)
    for (const guarded of [page, locator]) {
      const values = Object.values(guarded) as unknown[]
      expect(values.every((value) => typeof value === 'function')).toBe(true)
    }
  })

  it('take no selector that enters a frame, and no locator that was made elsewhere', () => {
    expect(() => page.locator('iframe >> internal:control=enter-frame >> b')).toThrow(TypeError)
    // Sound: a caller without types can pass anything.
    expect(() => page.locator({ _selector: 'b' } as unknown as string)).toThrow(TypeError)
  })
})

/** The public names of an object of Playwright: of its class and its own. */
function namesOf(raw: object): readonly string[] {
  const names = new Set<string>()
  // Sound: a prototype is an object or null.
  for (
    let at: object | null = raw;
    at && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at))
      if (!name.startsWith('_') && name !== 'constructor') names.add(name)
  return [...names].sort()
}

const FILE = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') }
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  goto: ['https://shop.example/'],
  evaluate: ['1'],
  fill: ['x'],
  press: ['Enter'],
  selectOption: ['x'],
  setInputFiles: [FILE],
  getAttribute: ['id'],
}

/** Calls a method. Those of a page that act on an element take a selector first. */
async function called(guarded: object, name: string): Promise<unknown> {
  const selector =
    'goto' in guarded && /^(?:click|fill|press|selectOption|setInputFiles)$/.test(name) ? ['#t'] : []
  // Sound: every value of a guarded object is a function.
  const method = Reflect.get(guarded, name) as (...given: readonly unknown[]) => Promise<unknown>
  return method(...selector, ...(ARGUMENTS[name] ?? []))
}
