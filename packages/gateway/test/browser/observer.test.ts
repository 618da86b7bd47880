// When the gateway scans a page again. Real pages are in `door.test.ts`.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createObserver, type PageSession } from '../../src/browser/door/observer.ts'

const HASH = 'a'.repeat(64)

/** A page with one document, which counts its scans. */
function page(): {
  readonly session: PageSession
  readonly state: { scans: number; document: string; dom: string }
} {
  const state = { scans: 0, document: 'one', dom: HASH }
  const answers: Readonly<Record<string, (expression: string) => object>> = {
    'Page.getFrameTree': () => ({
      frameTree: { frame: { id: 'main', loaderId: state.document, securityOrigin: 'https://shop.test' } },
    }),
    'Page.createIsolatedWorld': () => ({ executionContextId: 1 }),
    'Runtime.evaluate': (expression) => {
      const hash = { url: 'https://shop.test/', dom_hash: state.dom, layout: '' }
      if (expression.includes('hashOnly')) return { result: { value: hash } }
      state.scans++
      const seen = { ...hash, visual_text_hash: HASH, risk: 0, findings: [], projection: '' }
      return { result: { value: seen } }
    },
  }
  const send: PageSession['send'] = (method, params = {}) =>
    Promise.resolve({ ...answers[method]?.('expression' in params ? String(params.expression) : '') })
  return { session: { session: 's', send }, state }
}

let now = 0
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now))
afterEach(() => void vi.restoreAllMocks())

it.each([
  ['is not scanned again at once', () => undefined, 1],
  [
    'is scanned again after ten seconds, because a style rule can change unseen',
    () => void (now += 10_001),
    2,
  ],
  [
    'is scanned again if its content changed',
    (state: { dom: string }) => void (state.dom = 'b'.repeat(64)),
    2,
  ],
  [
    'is scanned again if it is another document',
    (state: { document: string }) => void (state.document = 'two'),
    2,
  ],
])('a page %s', async (_, change, scans) => {
  const { session, state } = page()
  const observer = createObserver()
  await observer.observe([session])
  change(state)
  await observer.observe([session])
  expect(state.scans).toBe(scans)
})
