import { definitionOf } from '@tollgate/kernel/admin'
import type { Decision } from '@tollgate/evidence'
import { parseReceipt } from '@tollgate/evidence'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDenials } from '../../src/webhook/denials.ts'
import type { Contents, WebhookMessage } from '../../src/webhook/outbox.ts'
import { createQuarantineWatch } from '../../src/webhook/quarantine.ts'
import type { Gateway } from '../../src/open.ts'
import { ask } from '../gateway-rig.ts'
import { openSite } from './webhook-rig.ts'

const MINUTE = 60_000

afterEach(() => {
  vi.useRealTimers()
})

async function denialIn(gateway: Gateway): Promise<Decision> {
  await ask(gateway, 'unknown/tool')
  const { entries } = await gateway.view.page({ filter: { verdict: 'DENY' }, direction: 'back', limit: 1 })
  const receipt = entries[0] && parseReceipt(entries[0].envelope).receipt
  if (receipt?.kind !== 'decision') throw new Error('there is no denial')
  return receipt
}

// Sound: these messages are read at once, and have an object as data.
const dataOf = (message: WebhookMessage | undefined) =>
  (message?.read(false) as Contents).data as Record<string, unknown>

describe('a flood', () => {
  it('of denials becomes one message in a minute, with the number of all', async () => {
    const gateway = await openSite()
    const denial = await denialIn(gateway)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const sent: WebhookMessage[] = []
    const put = (message: WebhookMessage): void => void sent.push(message)
    const denials = createDenials({ kernel: gateway.kernel, between: MINUTE, put })
    const add = (count: number, start: number): void => {
      for (let i = start; i < start + count; i++)
        denials.add(`id ${i}`, { ...denial, tool: `unknown/${i % 50}` })
    }
    add(100, 0)
    vi.advanceTimersByTime(1000)
    for (let second = 0; second < 60; second++) {
      add(100, 100 + 100 * second)
      vi.advanceTimersByTime(1000)
    }
    expect(sent.map(({ id }) => id)).toEqual(['id 0', 'id 100'])
    const [first, second] = sent.map(dataOf)
    expect(first).toMatchObject({ count: 100, others: 60 })
    expect(first?.calls).toHaveLength(20)
    expect(second).toMatchObject({ count: 6000 })
  })

  it('of changed tools becomes one message in a minute for each server, and none is lost', async () => {
    const { kernel } = await openSite()
    vi.useFakeTimers({ toFake: ['performance'] })
    const look = createQuarantineWatch(kernel, MINUTE)
    const offer = (server: string, i: number) => kernel.catalogue.offer(`${server}/tool`, definitionOf({ i }))
    const seen = Array.from({ length: 100 }, (_, i) => {
      offer('changing', i)
      if (i === 50) offer('other', i)
      return look().map((message) => dataOf(message).server)
    })
    expect(seen.flat()).toEqual(['changing', 'other'])
    vi.advanceTimersByTime(MINUTE)
    expect(look().map((message) => dataOf(message).server)).toEqual(['changing'])
    expect(look()).toEqual([])
  })
})
