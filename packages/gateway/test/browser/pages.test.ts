import { describe, expect, it } from 'vitest'
import type { Cdp, CdpResult } from '../../src/browser/cdp.ts'
import { createPages, type OpenPages } from '../../src/browser/door/pages.ts'

/** Two open pages, of which the server uses the first one. */
async function twoPages(): Promise<OpenPages> {
  const listeners = new Map<string, (params: CdpResult) => void>()
  const cdp: Pick<Cdp, 'on' | 'send'> = {
    on: (method, session, listener) => {
      listeners.set(`${session} ${method}`, listener)
      return () => undefined
    },
    send: () => Promise.resolve({}),
  }
  // Sound: the list of pages uses nothing else.
  const pages = createPages(cdp as Cdp, 'playwright')
  for (const id of ['a', 'b']) {
    await pages.onTarget({ id, type: 'page', session: id })
    listeners.get(`${id} Page.frameNavigated`)?.({ frame: { id, loaderId: id, url: `http://${id}.test/` } })
  }
  return pages
}

const FIRST = '- 0: (current) [A](http://a.test/)\n- 1: [B](http://b.test/)'
const SECOND = '- 0: [A](http://a.test/)\n- 1: (current) [B](http://b.test/)'

describe('the page that a server uses', () => {
  it.each([
    ['the list of tabs', true, `### Result\n${SECOND}`, 'b'],
    ['the same list again', true, `### Result\n${FIRST}`, 'a'],
    ['a list with another address', true, `### Result\n${SECOND.replace('b.test/)', 'c.test/)')}`, undefined],
    [
      'a list with an address in a title',
      true,
      '### Result\n- 1: (current) [](http://b.test/)](http://c.test/)',
      undefined,
    ],
    ['a list with another place', true, '### Result\n- 7: (current) [B](http://b.test/)', undefined],
    ['a list with two current tabs', true, `### Result\n${FIRST}\n${SECOND}`, undefined],
    ['a call about the browser that lists nothing', true, '### Result\nNetwork is offline', 'a'],
    ['a failed call about tabs', true, `### Error\n${SECOND}`, 'a'],
    ['a line of a page', false, `### Result\n${SECOND}`, 'a'],
    ['the same tab in another result', false, `### Result\nx\n### Open tabs\n${FIRST}\n### Page`, 'a'],
    ['a section that a page can write', false, `### Result\n### Open tabs\n${SECOND}\n### Page`, undefined],
  ] as const)('is learned from a result, or not: %s', async (_, lists, result, id) => {
    const pages = await twoPages()
    pages.learn(result, lists)
    expect(pages.current(undefined)?.id).toBe(id)
    expect(pages.uncertain()).toBe(id === undefined)
  })

  it('is certain again after a list, or when no other page is open', async () => {
    const pages = await twoPages()
    pages.learn(`### Open tabs\n${SECOND}`, false)
    pages.learn(`### Result\n${SECOND}`, true)
    expect(pages.current(undefined)?.id).toBe('b')
    pages.learn(`### Open tabs\n${FIRST}`, false)
    expect(pages.uncertain()).toBe(true)
    pages.onGone({ id: 'b', type: 'page', session: 'b' })
    expect(pages.current(undefined)?.id).toBe('a')
  })
})
