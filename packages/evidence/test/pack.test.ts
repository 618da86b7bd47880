import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseTrust,
  readPack,
  sha256Hex,
  verifyPack,
  writePack,
  type LedgerReader,
  type PackRequest,
  type Part,
  type Payload,
} from '../src/index.ts'
import { AT, told, trustIn } from './audit-story.ts'
import { collect, demoLedger, text } from './ledger.ts'
import { archive, bytesOf, forge, membersOf, wholeOf } from './pack-forge.ts'
import { longLedger } from './pack-ledger.ts'
import { outcomeOfAsync } from './samples.ts'

const long = await longLedger()
const demo = await demoLedger()
const trust = await parseTrust(trustIn(long.ledger))
const SIZE = long.ledger.size

function packOf(request: PackRequest, ledger: LedgerReader = long.ledger): Promise<Uint8Array> {
  return collect(writePack(ledger, request))
}

async function partsOf(pack: Uint8Array): Promise<Part[]> {
  const parts: Part[] = []
  for await (const part of readPack(pack)) parts.push(part)
  return parts
}

/** The receipts of a pack, each as `index: envelope`. */
function receiptsIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'receipts') return []
    const indexes = part.bundle.runs.flatMap(({ start, end }) =>
      Array.from({ length: end - start }, (_, i) => start + i),
    )
    return part.envelopes.map((envelope, i) => `${indexes[i] ?? '?'}: ${text(envelope)}`)
  })
}

/** The requested receipts from the ledger. */
function receiptsAsked({ range, selected = [] }: PackRequest): string[] {
  const { start, end } = range ?? { start: 0, end: 0 }
  const indexes = [...selected, ...Array.from({ length: end - start }, (_, i) => start + i)]
  return indexes
    .sort((a, b) => a - b)
    .map((index) => `${index}: ${text(long.ledger.entries[index]?.envelope ?? new Uint8Array(0))}`)
}

const edge = fc.oneof(
  fc.nat({ max: SIZE }),
  fc.constantFrom(0, 1, 255, 256, 257, 511, 512, 513, SIZE - 1, SIZE),
)
const someRange = fc
  .tuple(edge, edge)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }))

/** A valid request: an optional range, some selected receipts, and the receipts that they need. */
const request = fc
  .record({
    range: fc.option(someRange, { nil: undefined }),
    picked: fc.array(fc.nat({ max: SIZE - 1 }), { maxLength: 8 }),
    since: fc.option(fc.nat({ max: SIZE }), { nil: undefined }),
  })
  .map(({ range, picked, since }): PackRequest => {
    const wanted = [...new Set([...picked, ...long.contextOf(range)])].sort((a, b) => a - b)
    const selected = wanted.filter((index) => !range || index < range.start || index >= range.end)
    return { ...(range && { range }), selected, ...(since !== undefined && { since }) }
  })

describe('a pack', () => {
  it('contains the requested receipts and verifies, for any range and selection', async () => {
    const check = async (asked: PackRequest): Promise<void> => {
      const pack = await packOf(asked)
      expect(receiptsIn(await partsOf(pack))).toEqual(receiptsAsked(asked))
      const report = await verifyPack(pack, { trust })
      expect(report.findings).toEqual([])
      expect(report.level).toBe('verified')
      expect(report.summary.receipts).toBe(receiptsAsked(asked).length)
    }
    await fc.assert(fc.asyncProperty(request, check), { seed: 1, numRuns: 40 })
  })

  it('continues any earlier checkpoint, by a proof or by the range', async () => {
    const check = async (asked: PackRequest, seen: number): Promise<void> => {
      const checkpoint = await long.ledger.checkpointAt(seen)
      const pinned = await parseTrust(trustIn(long.ledger, { checkpoint }))
      const { level, findings } = await verifyPack(await packOf({ ...asked, since: seen }), { trust: pinned })
      expect([level, findings]).toEqual(['verified', []])
    }
    const sizes = fc.integer({ min: 1, max: SIZE })
    await fc.assert(fc.asyncProperty(request, sizes, check), { seed: 2, numRuns: 15 })
  })

  it('equals the forged pack of an honest ledger', async () => {
    for (const asked of [
      wholeOf(long.ledger),
      { range: { start: 250, end: 520 }, selected: [0, 1, 40, 170] },
    ]) {
      expect(Buffer.compare(await packOf(asked), archive(await forge(long.ledger, asked)))).toBe(0)
    }
  })

  it('is read in the order of its names, the manifest before the receipts', async () => {
    const parts = await partsOf(
      await packOf({ range: { start: 255, end: 257 }, selected: [0, 1, 40, 170], since: 9 }),
    )
    const names = parts.map(({ member }) => member.name)
    expect(names).toEqual([...names].sort())
    const kinds = parts.map(({ kind }) => kind).filter((kind, i, all) => kind !== all[i - 1])
    const order = ['checkpoint', 'key', 'manifest', 'policy', 'inclusion', 'consistency', 'range', 'receipts']
    expect(kinds).toEqual(order)
  })

  it('bundles receipts by aligned blocks of 256', async () => {
    const parts = await partsOf(await packOf({ range: { start: 255, end: 513 }, selected: [0, 1, 40, 170] }))
    const bundles = parts.flatMap((part) => (part.kind === 'receipts' ? [part] : []))
    expect(bundles.map(({ member, envelopes }) => [member.name, envelopes.length])).toEqual([
      ['receipts/0000000000000000.jsonl', 5],
      ['receipts/0000000000000256.jsonl', 256],
      ['receipts/0000000000000512.jsonl', 1],
    ])
  })

  it('is read alike in chunks of any size, from any kind of source', async () => {
    const pack = await packOf({ range: { start: 250, end: 300 }, selected: [0, 1, 40, 170] })
    const whole = JSON.stringify(await verifyPack(pack, { trust }))
    const check = async (cuts: readonly number[]): Promise<void> => {
      const edges = [0, ...cuts.map((cut) => cut % pack.length).sort((a, b) => a - b), pack.length]
      const chunks = edges.slice(1).map((end, i) => pack.subarray(edges[i], end))
      expect(JSON.stringify(await verifyPack(chunks, { trust }))).toBe(whole)
      expect(JSON.stringify(await verifyPack(later(chunks), { trust }))).toBe(whole)
    }
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), check), { seed: 3, numRuns: 20 })
    const single = Array.from(pack, (byte) => Uint8Array.of(byte))
    expect(JSON.stringify(await verifyPack(single, { trust }))).toBe(whole)
    expect(JSON.stringify(await verifyPack(later(single), { trust }))).toBe(whole)
  })

  it('is read alike byte by byte when it is large', async () => {
    const pack = await packOf(wholeOf(long.ledger))
    function* single(): Generator<Uint8Array> {
      for (let at = 0; at < pack.length; at++) yield pack.subarray(at, at + 1)
    }
    expect(JSON.stringify(await verifyPack(single(), { trust }))).toBe(
      JSON.stringify(await verifyPack(pack, { trust })),
    )
  })
})

describe('a pack cannot be written', () => {
  const incomplete: [string, PackRequest][] = [
    ['without the genesis', { range: { start: 1, end: 10 } }],
    ['without the receipt that added the key of its writer', { range: { start: 2, end: 10 }, selected: [0] }],
    [
      'without the receipt that added the key of its second writer',
      { range: { start: 500, end: 510 }, selected: [0, 1] },
    ],
    ['of selected receipts without their keys', { selected: [5] }],
  ]
  it.each(incomplete)('%s', async (_, asked) => {
    expect(await outcomeOfAsync(packOf(asked))).toBe('PACK_INCOMPLETE')
  })

  const impossible: [string, PackRequest][] = [
    ['of nothing', {}],
    ['of an empty selection', { selected: [] }],
    ['of an empty range', { range: { start: 3, end: 3 } }],
    ['of a range that ends before it starts', { range: { start: 4, end: 3 } }],
    ['of a range beyond the ledger', { range: { start: 0, end: SIZE + 1 } }],
    ['of a range that starts before the ledger', { range: { start: -1, end: 3 } }],
    ['of a range that starts within an entry', { range: { start: 0.5, end: 3 } }],
    ['of a range with a NaN end', { range: { start: 0, end: Number.NaN } }],
    ['of an entry beyond the ledger', { selected: [0, 1, SIZE] }],
    ['of an entry before the ledger', { selected: [-1, 0, 1] }],
    ['of half an entry', { selected: [0, 1, 1.5] }],
    ['of entries that are not in order', { selected: [1, 0] }],
    ['of an entry twice', { selected: [0, 1, 1] }],
    ['of an entry that is in the range as well', { range: { start: 0, end: 9 }, selected: [4] }],
    ['of more selected entries than the limit', { selected: Array.from({ length: 10_001 }, (_, i) => i) }],
    ['since a size beyond the ledger', { ...wholeOf(long.ledger), since: SIZE + 1 }],
    ['since a negative size', { ...wholeOf(long.ledger), since: -1 }],
    ['since half an entry', { ...wholeOf(long.ledger), since: 1.5 }],
  ]
  it.each(impossible)('%s', async (_, asked) => {
    expect(await outcomeOfAsync(packOf(asked))).toBe('PACK_MALFORMED')
  })

  const payload: Payload = { hash: sha256Hex('{}'), bytes: bytesOf('{}') }
  const strange: [string, Payload[]][] = [
    ['the same payload twice', [payload, payload]],
    ['a payload whose name is not a hash', [{ ...payload, hash: 'args' }]],
  ]
  it.each(strange)('with %s', async (_, payloads) => {
    expect(await outcomeOfAsync(packOf({ ...wholeOf(demo), payloads }, demo))).toBe('PACK_MALFORMED')
  })

  it('with a payload that does not match its hash', async () => {
    const payloads = [{ hash: sha256Hex('{}'), bytes: bytesOf('[]') }]
    expect(await outcomeOfAsync(packOf({ ...wholeOf(demo), payloads }, demo))).toBe('PACK_MALFORMED')
  })

  it('for a checkpoint whose key is not in the pack', async () => {
    const foreign: LedgerReader = {
      ...readerOf(demo),
      checkpoint: await demo.checkpointAt(demo.size, [demo.writerKey]),
    }
    expect(await outcomeOfAsync(packOf(wholeOf(demo), foreign))).toBe('PACK_INCOMPLETE')
  })

  it('from a ledger that returns too few receipts', async () => {
    const short: LedgerReader = { ...readerOf(demo), receipts: () => [] }
    expect(await outcomeOfAsync(packOf(wholeOf(demo), short))).toBe('PACK_INCOMPLETE')
  })

  it('from a ledger that returns too many receipts', async () => {
    const reader = readerOf(demo)
    const generous: LedgerReader = { ...reader, receipts: (start) => reader.receipts(start, demo.size) }
    expect(await outcomeOfAsync(packOf({ range: { start: 0, end: 9 } }, generous))).toBe('PACK_INCOMPLETE')
  })

  it('from a ledger that changes during the write', async () => {
    let asked = 0
    const reader = readerOf(demo)
    const other = await demoLedger({ salt: 'other' })
    const moving: LedgerReader = {
      ...reader,
      receipts: (start, end) => (asked++ === 0 ? reader : other).receipts(start, end),
    }
    expect(await outcomeOfAsync(packOf(wholeOf(demo), moving))).toBe('PACK_INCOMPLETE')
  })

  it('from a ledger without a checkpoint', async () => {
    const headless: LedgerReader = { ...readerOf(demo), checkpoint: '' }
    expect(await outcomeOfAsync(packOf(wholeOf(demo), headless))).toBe('NOTE_MALFORMED')
  })
})

describe.skipIf(!hasTar())('the tar of this machine', () => {
  it('lists and extracts a pack', async () => {
    const ledger = await told()
    const pack = await packOf(
      { range: { start: AT.asked, end: AT.next }, selected: [0, 1, 2], since: 3 },
      ledger,
    )
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-pack-'))
    writeFileSync(join(folder, 'demo.pack'), pack)
    const members = await membersOf(pack)
    const listed = execFileSync('tar', ['-tf', 'demo.pack'], { cwd: folder, encoding: 'utf8' })
    expect(listed.trimEnd().split('\n')).toEqual(members.map(({ name }) => name))
    execFileSync('tar', ['-xf', 'demo.pack'], { cwd: folder })
    for (const { name, bytes } of members) {
      expect(sha256Hex(readFileSync(join(folder, name))), name).toBe(sha256Hex(bytes))
    }
    rmSync(folder, { recursive: true })
  })
})

function hasTar(): boolean {
  try {
    execFileSync('tar', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    // No tar on this machine.
    return false
  }
}

/** The reader of a ledger, as a copy to modify. */
function readerOf(ledger: LedgerReader): LedgerReader {
  return {
    checkpoint: ledger.checkpoint,
    receipts: (start, end) => ledger.receipts(start, end),
    node: (level, index) => ledger.node(level, index),
    policy: (hash) => ledger.policy(hash),
  }
}

async function* later(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}
