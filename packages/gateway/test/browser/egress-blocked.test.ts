// Blocked requests become few receipts: one for a page load, a bounded number in a minute, and a bounded amount of memory.

import { describe, expect, test } from 'vitest'
import { createHost, type TestHost } from '../../../kernel/test/rig.ts'
import { createBlockedLog, type BlockedLoad, type BlockedLog } from '../../src/browser/egress/blocked.ts'
import type { Cause, PageLoad } from '../../src/browser/egress/pages.ts'

interface Rig {
  readonly host: TestHost
  readonly log: BlockedLog
  readonly receipts: BlockedLoad[]
  /** Reports a request of a page, as DevTools does, and blocks it. */
  readonly block: (load: PageLoad, label: string, type?: string) => void
}

function rig(): Rig {
  const host = createHost()
  const receipts: BlockedLoad[] = []
  const causes = new Map<string, Cause[]>()
  const log = createBlockedLog({
    host,
    causesOf: (label, most) => causes.get(label)?.splice(0, most) ?? [],
    record: (load) => {
      receipts.push(load)
      return Promise.resolve()
    },
  })
  return {
    ...{ host, log, receipts },
    block(load, label, type = 'image') {
      causes.set(label, [...(causes.get(label) ?? []), { load, type }])
      log.take(label)
    },
  }
}

const MINUTE = 60_000
const page = (host: string): PageLoad => ({ host })

describe('blocked requests', () => {
  test('of one page are one receipt after the page was left', () => {
    const { host, log, receipts, block } = rig()
    const load = page('shop.test')
    for (let i = 0; i < 3; i++) block(load, 'a.test')
    host.advance(1_000)
    block(load, 'b.test', 'beacon')
    log.left(load)
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toEqual([
      {
        page_host: 'shop.test',
        pages: 1,
        hosts: ['a.test', 'b.test'],
        requests: 4,
        types: ['image', 'beacon'],
      },
    ])
  })

  test('of a page that stays open are recorded after a minute', () => {
    const { host, receipts, block } = rig()
    const load = page('shop.test')
    block(load, 'a.test')
    host.advance(1_000)
    host.advance(MINUTE - 1)
    expect(receipts).toEqual([])
    host.advance(1)
    expect(receipts).toHaveLength(1)
    block(load, 'a.test')
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toHaveLength(2)
  })

  test('of two pages are not mixed, even for the same host', () => {
    const { host, receipts, block } = rig()
    block(page('one.test'), 'a.test')
    block(page('two.test'), 'a.test', 'fetch')
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts.map(({ page_host, types }) => [page_host, types])).toEqual([
      ['one.test', ['image']],
      ['two.test', ['fetch']],
    ])
  })

  test('name 20 hosts and count the others', () => {
    const { host, receipts, block } = rig()
    const load = page('shop.test')
    for (let i = 0; i < 50; i++) for (let n = 0; n < 2; n++) block(load, `h${i}.test`)
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toMatchObject([{ requests: 100, more: 60 }])
    expect(receipts[0]?.hosts).toHaveLength(20)
  })

  test('that no page reported have no page, and what Chromium sends by itself is left out', () => {
    const { host, log, receipts } = rig()
    const count = log.count()
    log.take('a.test')
    log.take('update.googleapis.com')
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toEqual([{ pages: 1, hosts: ['a.test'], requests: 1, types: [] }])
    expect(count.now()).toEqual({ requests: 1, hosts: ['a.test'], more: 0 })
  })

  test('of a page that asks for a host of the vendor are recorded', () => {
    const { host, receipts, block } = rig()
    block(page('shop.test'), 'update.googleapis.com')
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toMatchObject([{ page_host: 'shop.test', hosts: ['update.googleapis.com'] }])
  })

  test('of many page loads share a receipt above six in a minute, and none is lost', () => {
    const { host, log, receipts, block } = rig()
    let sent = 0
    for (let minute = 0; minute < 5; minute++) {
      const before = receipts.length
      for (let i = 0; i < 100; i++) {
        const load = page(`p${i}.test`)
        block(load, `h${i}.test`)
        sent++
        log.left(load)
        host.advance(600)
      }
      expect(receipts.length - before).toBeLessThanOrEqual(7)
    }
    host.advance(2_000)
    host.advance(MINUTE)
    host.advance(MINUTE)
    expect(receipts.reduce((sum, { requests }) => sum + requests, 0)).toBe(sent)
    expect(receipts.reduce((sum, { pages }) => sum + pages, 0)).toBe(sent)
    for (const { pages, page_host } of receipts) expect(page_host === undefined).toBe(pages > 1)
  })

  test('are described for the call that caused them', () => {
    const { log } = rig()
    const count = log.count()
    expect(count.text()).toBeUndefined()
    log.take('a.test')
    expect(count.text()).toBe('the egress rules blocked 1 request of the browser to `a.test`')
    for (const name of ['a', 'b', 'c', 'd']) log.take(`${name}.test`)
    expect(count.text()).toBe(
      'the egress rules blocked 5 requests of the browser to `a.test`, `b.test`, `c.test` and others',
    )
    count.end()
    log.take('a.test')
    expect(count.now().requests).toBe(5)
  })

  test('to endless hosts cost bounded memory and are all counted', () => {
    const { host, log, receipts } = rig()
    const count = log.count()
    for (let i = 0; i < 100_000; i++) log.take(`h${i}.test`)
    expect(count.now()).toMatchObject({ requests: 100_000, more: 99_980 })
    host.advance(1_000)
    host.advance(MINUTE)
    expect(receipts).toMatchObject([{ requests: 100_000, more: 99_980 }])
  })

  test('are recorded when the browser is closed, and nothing remains', async () => {
    const { host, log, receipts, block } = rig()
    block(page('one.test'), 'a.test')
    block(page('two.test'), 'b.test')
    await log.close()
    expect(receipts.map(({ page_host }) => page_host)).toEqual(['one.test', 'two.test'])
    expect(host.timers).toBe(0)
    await log.close()
    expect(receipts).toHaveLength(2)
  })
})
