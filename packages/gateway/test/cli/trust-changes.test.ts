// Tests the trust and elevated sessions in `tollgate status`, and the receipt in `tollgate receipts show`.

import { sha256Hex, type Decision, type Effect } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { detail } from '../../src/cli/receipts/detail.ts'
import { trustChangesIn, trustChangeRows } from '../../src/cli/people/trust-changes.ts'
import type { ShownEntry } from '../../src/cli/receipts/describe.ts'
import { openTerminal } from '../../src/cli/program/terminal.ts'

const NOW = Date.UTC(2026, 0, 5, 9, 0, 0)
const DAY = 86_400_000
const { paint: PLAIN } = openTerminal(true)

function entry(index: number, receipt: Partial<Decision> | Partial<Effect>): ShownEntry {
  const time = new Date(NOW).toISOString()
  // Sound enough: the tested code reads only these members.
  return { index, id: sha256Hex(String(index)), receipt: { time, ...receipt } as Decision }
}

function decision(index: number, principal: string, more: Partial<Decision> = {}): ShownEntry {
  return entry(index, { kind: 'decision', principal, session: { id: 's', seq: 0 }, ...more })
}

const changes = (receipts: readonly ShownEntry[], halfLife: number | undefined, now: number) =>
  trustChangesIn(receipts, () => Promise.resolve(halfLife), now)

describe('trust', () => {
  test('comes from the newest decision or effect of a principal', async () => {
    const receipts = [
      entry(3, { kind: 'effect', decision: sha256Hex('2'), trust: '431.0000' }),
      decision(2, 'agent:a'),
      decision(1, 'agent:a', { trust: '430.0000' }),
      decision(0, 'agent:b', { trust: '610.5000' }),
    ]
    expect(await changes(receipts, DAY, NOW)).toHaveProperty('trust', [
      { principal: 'agent:a', points: 431 },
      { principal: 'agent:b', points: 610 },
    ])
  })

  test('returns to the initial score over time, and is then not listed', async () => {
    const receipts = [decision(0, 'agent:a', { trust: '400.0000' })]
    expect(await changes(receipts, DAY, NOW + DAY)).toHaveProperty('trust', [
      { principal: 'agent:a', points: 450 },
    ])
    expect(await changes([decision(0, 'agent:a', { trust: '500.0000' })], DAY, NOW)).toHaveProperty(
      'trust',
      [],
    )
  })

  test('is not listed without a trust gate, or for an effect whose decision is missing', async () => {
    expect(await changes([decision(0, 'agent:a', { trust: '400.0000' })], undefined, NOW)).toHaveProperty(
      'trust',
      [],
    )
    const alone = entry(1, { kind: 'effect', decision: sha256Hex('0'), trust: '400.0000' })
    expect(await changes([alone], DAY, NOW)).toHaveProperty('trust', [])
  })

  test('is computed only if a receipt changes trust', async () => {
    const asked = (): Promise<number> => Promise.reject(new Error('the policy was read'))
    expect(await trustChangesIn([decision(0, 'agent:a')], asked, NOW)).toEqual({ trust: [], raised: [] })
    await expect(trustChangesIn([decision(0, 'agent:a', { trust: '400.0000' })], asked, NOW)).rejects.toThrow(
      'read',
    )
  })

  test('lists ten principals and the number of the others', async () => {
    const receipts = Array.from({ length: 13 }, (_, i) => decision(i, `agent:${i}`, { trust: '400.0000' }))
    const [[name, value] = []] = trustChangeRows(await changes(receipts, DAY, NOW))
    expect(name).toBe('trust')
    expect(value).toMatch(/^agent:0 400 of 1000, .*agent:9 400 of 1000, and 3 more$/)
  })
})

test('an elevated session is listed until its elevation ends', async () => {
  const until = new Date(NOW + 900_000).toISOString()
  const receipts = [decision(0, 'agent:a', { elevation: { tier: 'elevated', until } })]
  const rows = trustChangeRows(await changes(receipts, DAY, NOW))
  expect(rows).toEqual([['elevated', 'agent:a in s to elevated until 2026-01-05 09:15:00Z']])
  expect(trustChangeRows(await changes(receipts, DAY, NOW + 900_001))).toEqual([])
})

describe('a receipt', () => {
  test('is shown with the meaning of its codes, important fields first', () => {
    const shown = entry(7, {
      kind: 'effect',
      writer: 'gateway',
      decision: sha256Hex('x'),
      status: 'COMPLETED',
      reported_by: 'caller',
      delivery: 'withheld',
      labels: ['personal', 'secret'],
      findings: ['IGNORE_INSTRUCTIONS', 'UNHEARD_OF'],
      trust: '499.0000',
    })
    const lines = detail(shown, PLAIN).split('\n')
    expect(lines[0]).toMatch(/^7 {2}2026-01-05 09:00:00Z {2}effect .*withheld/)
    expect(lines).toContain('delivery     withheld: the result is not forwarded')
    expect(lines).toContain('labels       personal, secret')
    expect(lines).toContain('             UNHEARD_OF')
    expect(lines).toContain('trust        499 of 1000, after this receipt')
    expect(lines.findIndex((line) => line.startsWith('writer'))).toBeGreaterThan(
      lines.findIndex((line) => line.startsWith('trust')),
    )
  })

  test('is shown without control characters', () => {
    const shown = decision(1, 'agent:\u001b[2J', {
      tool: 'x\u202e',
      verdict: 'DENY',
      labels: ['\u202ex'],
      rule: 'a\nb',
    })
    expect(detail(shown, PLAIN)).not.toMatch(/[\u001b\u202e]|^b/m)
  })
})
