import { describe, expect, it } from 'vitest'
import { accepted, boundFlips, partSubject, subject, type Damage, type Subject } from './flips-pack.ts'

const HEADER_BYTES = [
  0, 60, 100, 110, 120, 124, 134, 136, 148, 154, 156, 157, 257, 263, 265, 297, 329, 345, 511,
]

/** Bits all over the pack and some in every header, at different positions in their bytes. */
function spread(given: Subject, count: number): Damage[] {
  const bits = 8 * given.pack.length
  const even = Array.from({ length: count }, (_, i) => Math.floor((i * bits) / count) + (i % 8))
  const headers = headerOffsets(given).flatMap((start) =>
    HEADER_BYTES.map((at, i) => 8 * (start + at) + (i % 8)),
  )
  return [...new Set([...even, ...headers])].filter((at) => at < bits).map((at) => ({ kind: 'flip', at }))
}

function headerOffsets({ members }: Subject): number[] {
  const offsets: number[] = []
  let at = 0
  for (const { bytes } of members) {
    offsets.push(at)
    at += 512 + 512 * Math.ceil(bytes.length / 512)
  }
  return offsets
}

/** Lengths all over the pack, and around every header. */
function cuts(given: Subject, count: number): Damage[] {
  const even = Array.from({ length: count }, (_, i) => Math.floor((i * given.pack.length) / count))
  const borders = headerOffsets(given).flatMap((start) => [
    start - 1,
    start,
    start + 1,
    start + 511,
    start + 512,
  ])
  const ends = [1, 2, 511, 512, 513, 1023, 1024, 1025].map((less) => given.pack.length - less)
  const lengths = new Set([...even, ...borders, ...ends])
  return [...lengths].filter((at) => at >= 0).map((at) => ({ kind: 'cut', at }))
}

/** A sample of the flips with a matching manifest, with some of each member. */
function boundSpread(given: Subject, count: number): Damage[] {
  const all = boundFlips(given)
  const step = Math.floor(all.length / count)
  const seen = new Map<string, number>()
  return all.filter((flip, i) => {
    if (flip.kind !== 'bound flip') return false
    const nth = seen.get(flip.member) ?? 0
    seen.set(flip.member, nth + 1)
    return i % step === 0 || (nth % 97 === 0 && nth < 970)
  })
}

// Thousands of verifications can exceed the default timeout on a busy machine.
const FIVE_MINUTES = 300_000

describe('a pack of 24 receipts', { timeout: FIVE_MINUTES }, () => {
  const given = subject()
  const flips = given.then((pack) => spread(pack, 300))

  it('passes unchanged', async () => {
    expect(await accepted(await given, [await nothing(given)])).toHaveLength(1)
  })

  it('is rejected with one bit flipped', async () => {
    expect((await flips).length).toBeGreaterThanOrEqual(300)
    expect(await accepted(await given, await flips)).toEqual([])
  })

  it('is rejected with one bit flipped, without a trust file', async () => {
    expect(await accepted(await given, await flips, 'without trust')).toEqual([])
  })

  it('is rejected with one bit flipped and a matching manifest', async () => {
    const sample = boundSpread(await given, 300)
    expect(sample.length).toBeGreaterThanOrEqual(300)
    expect(await accepted(await given, sample)).toEqual([])
    expect(await accepted(await given, sample, 'without trust')).toEqual([])
  })

  it('is rejected when it is truncated', async () => {
    const sample = cuts(await given, 200)
    expect(sample.length).toBeGreaterThanOrEqual(200)
    expect(await accepted(await given, sample)).toEqual([])
  })
})

describe('a pack with all kinds of members', { timeout: FIVE_MINUTES }, () => {
  const given = partSubject()

  it('passes unchanged', async () => {
    expect(await accepted(await given, [await nothing(given)])).toHaveLength(1)
  })

  it('is rejected with one bit flipped', async () => {
    expect(await accepted(await given, spread(await given, 100))).toEqual([])
  })

  it('is rejected with one bit flipped and a matching manifest', async () => {
    expect(await accepted(await given, boundSpread(await given, 200))).toEqual([])
  })

  it('is rejected when it is truncated', async () => {
    expect(await accepted(await given, cuts(await given, 50))).toEqual([])
  })
})

/** No damage. */
async function nothing(given: Promise<Subject>): Promise<Damage> {
  return { kind: 'cut', at: (await given).pack.length }
}
