import { describe, expect, it } from 'vitest'
import {
  linkFaults,
  nextPlace,
  NO_HASH,
  type ChainHead,
  type Common,
  type LinkContext,
} from '../src/index.ts'
import { hashOf, sampleOf, signingKey } from './samples.ts'

const { publicKey } = await signingKey()
const HEAD: ChainHead = { id: hashOf('head'), seq: 6, lamport_clock: 9, time: '2026-01-05T09:00:00.000Z' }
const GAPLESS: LinkContext = { head: HEAD, causes: [], allCauses: true, gapless: true }

/** A receipt with a valid link to the head, changed by these fields. */
function following(fields: Partial<Common> = {}, head: ChainHead | undefined = HEAD): Common {
  const time = '2026-01-05T09:00:00.000Z'
  return sampleOf('recovery', publicKey, { ...nextPlace(head, []), time, ...fields })
}

function faults(fields: Partial<Common>, context: Partial<LinkContext> = {}): readonly string[] {
  return linkFaults(following(fields), { ...GAPLESS, ...context })
}

describe('the next place', () => {
  it('of a new writer is 0', () => {
    expect(nextPlace(undefined, [])).toEqual({ seq: 0, lamport_clock: 1, prev_receipt_hash: NO_HASH })
  })

  it('follows the newest receipt', () => {
    expect(nextPlace(HEAD, [])).toEqual({ seq: 7, lamport_clock: 10, prev_receipt_hash: HEAD.id })
  })

  it('has a clock above the predecessor and above all causes', () => {
    expect(nextPlace(HEAD, [3, 20, 4]).lamport_clock).toBe(21)
    expect(nextPlace(HEAD, [3, 4]).lamport_clock).toBe(10)
    expect(nextPlace(undefined, [3]).lamport_clock).toBe(4)
  })
})

describe('a link', () => {
  it('is valid at the next place', () => {
    expect(faults({})).toEqual([])
    expect(faults({ lamport_clock: 21 }, { causes: [20] })).toEqual([])
  })

  it('is valid for the first receipt of a writer', () => {
    const first = sampleOf('recovery', publicKey)
    expect(linkFaults(first, { ...GAPLESS, head: undefined })).toEqual([])
  })

  it('is broken if it names another predecessor', () => {
    expect(faults({ prev_receipt_hash: hashOf('other') })).toEqual(['CHAIN_BROKEN'])
    expect(faults({ prev_receipt_hash: NO_HASH })).toEqual(['CHAIN_BROKEN'])
  })

  it('has a gap only if everything between was seen', () => {
    expect(faults({ seq: 8 })).toEqual(['CHAIN_GAP'])
    const behind = { seq: 8, lamport_clock: 11, prev_receipt_hash: hashOf('other') }
    expect(faults(behind, { gapless: false })).toEqual([])
    expect(faults({ ...behind, lamport_clock: 10 }, { gapless: false })).toEqual(['LAMPORT_WRONG'])
    expect(faults({ ...behind, prev_receipt_hash: NO_HASH }, { gapless: false })).toEqual(['CHAIN_BROKEN'])
  })

  it('is forked if its place was already used, seen or not', () => {
    expect(faults({ seq: 6 })).toEqual(['CHAIN_FORKED'])
    expect(faults({ seq: 0 }, { gapless: false })).toEqual(['CHAIN_FORKED'])
  })

  it('has exactly one valid clock if predecessor and causes were seen', () => {
    expect(faults({ lamport_clock: 9 })).toEqual(['LAMPORT_WRONG'])
    expect(faults({ lamport_clock: 11 })).toEqual(['LAMPORT_WRONG'])
    expect(faults({ lamport_clock: 20 }, { causes: [20] })).toEqual(['LAMPORT_WRONG'])
  })

  it('has a minimum clock if a cause or the predecessor was not seen', () => {
    expect(faults({ lamport_clock: 50 }, { allCauses: false })).toEqual([])
    expect(faults({ lamport_clock: 9 }, { allCauses: false })).toEqual(['LAMPORT_WRONG'])
    expect(faults({ seq: 9, lamport_clock: 50 }, { gapless: false })).toEqual([])
    expect(faults({ seq: 9, lamport_clock: 9 }, { gapless: false })).toEqual(['LAMPORT_WRONG'])
  })

  it('can have the same time as its predecessor, but not an earlier one', () => {
    expect(faults({ time: HEAD.time })).toEqual([])
    expect(faults({ time: '2026-01-05T08:59:59.999Z' })).toEqual(['TIME_REWOUND'])
    const old = { time: '2025-12-31T23:59:59.999Z', seq: 9, lamport_clock: 50 }
    expect(faults(old, { gapless: false })).toEqual(['TIME_REWOUND'])
  })

  it('can have several faults at once', () => {
    const wrong = { seq: 3, lamport_clock: 1, time: '2020-01-01T00:00:00.000Z' }
    expect(faults(wrong)).toEqual(['CHAIN_FORKED', 'LAMPORT_WRONG', 'TIME_REWOUND'])
  })
})
