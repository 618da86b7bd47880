// A step in the history goes to the entry that was judged, or nowhere. A real page is in `door.test.ts`.

import { expect, it } from 'vitest'
import { stepOf, stepRefusal } from '../../src/browser/door/history.ts'

const [NEXT, SHOP, CART] = [
  { id: 11, url: 'https://shop.test/next' },
  { id: 14, url: 'https://shop.test/' },
  { id: 15, url: 'https://shop.test/cart' },
]
interface History {
  readonly entries: readonly { readonly id: number; readonly url: string }[]
  readonly currentIndex: number
}
const NOW: History = { entries: [NEXT, SHOP, CART], currentIndex: 1 }
const TO = 'Page.navigateToHistoryEntry'

it.each<
  readonly [string, 'back' | 'reload' | 'forward', History | undefined, string, number | undefined, boolean]
>([
  ['the entry before', 'back', NOW, TO, 11, true],
  ['the entry after', 'forward', NOW, TO, 15, true],
  ['the same entry', 'reload', NOW, 'Page.reload', undefined, true],
  ['the entry after, in a call that goes back', 'back', NOW, TO, 15, false],
  ['an entry that does not exist', 'back', NOW, TO, 99, false],
  ['no entry', 'back', NOW, TO, undefined, false],
  ['a reload, in a call that goes back', 'back', NOW, 'Page.reload', undefined, false],
  ['the same entry, in a reload', 'reload', NOW, TO, 14, false],
  [
    'an entry that the page has changed',
    'back',
    { ...NOW, entries: [{ ...NEXT, url: 'https://shop.test/pay' }, SHOP] },
    TO,
    11,
    false,
  ],
  ['an entry that the page has dropped', 'back', { entries: [SHOP, CART], currentIndex: 0 }, TO, 11, false],
  [
    'the judged entry, after the page has added one',
    'back',
    { entries: [NEXT, SHOP, CART], currentIndex: 2 },
    TO,
    11,
    true,
  ],
  [
    'a reload, after the page has added an entry',
    'reload',
    { ...NOW, currentIndex: 2 },
    'Page.reload',
    undefined,
    false,
  ],
  [
    'a reload, after the page has changed its address',
    'reload',
    { entries: [NEXT, { ...SHOP, url: 'https://shop.test/pay' }], currentIndex: 1 },
    'Page.reload',
    undefined,
    false,
  ],
  ['any entry, if the browser does not answer', 'back', undefined, TO, 11, false],
])('a server that opens %s passes or not', async (_, way, later, method, entryId, passes) => {
  let history: History | undefined = NOW
  const send = (): Promise<object> =>
    history ? Promise.resolve(history) : Promise.reject(new Error('no answer'))
  const step = await stepOf({ id: 'p', send: async () => ({ ...(await send()) }) }, way)
  history = later
  const command = { method, params: { entryId } }
  expect((await stepRefusal(step, { ...command, target: 'p' })) === undefined).toBe(passes)
  expect(await stepRefusal(step, { ...command, target: 'q' })).toContain('another entry')
})

it('a step to an entry that does not exist has no address, so it is denied', async () => {
  const step = await stepOf({ id: 'p', send: () => Promise.resolve({ ...NOW, currentIndex: 0 }) }, 'back')
  expect(step).toMatchObject({ entry: undefined, address: '' })
  expect(await stepRefusal(step, { method: TO, params: {}, target: 'p' })).toContain('another entry')
})

it('a command that does not go through the history is judged elsewhere', async () => {
  const step = await stepOf({ id: 'p', send: () => Promise.resolve({ ...NOW }) }, 'back')
  expect(await stepRefusal(step, { method: 'Page.navigate', params: {}, target: 'p' })).toBeUndefined()
  expect(await stepRefusal(undefined, { method: TO, params: {}, target: 'p' })).toBeUndefined()
})
