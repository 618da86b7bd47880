// Random packs: exports of random ledgers, most of them damaged in one or more places.

import { type Made } from '../vectors/plan.ts'
import { trustIn } from '../../packages/evidence/test/audit-story.ts'
import { type TestLedger } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  forge,
  membersOf,
  relined,
  replaced,
  without,
  type Members,
} from '../../packages/evidence/test/pack-forge.ts'
import {
  canonicalBytes,
  cosignCheckpoint,
  noteKey,
  sha256Hex,
  type Json,
} from '../../packages/evidence/src/index.ts'
import { signingKey } from '../../packages/evidence/test/samples.ts'
import { readPackCases } from '../../packages/evidence/test/case.ts'
import { randomLedger } from './ledgers.ts'
import { below, oneOf, randomFrom, type Random } from './random.ts'
import { changedBytes, changedValue } from './values.ts'

const cases = readPackCases()
const witness = { name: 'witness.example/w1', key: await signingKey(2) }

/** The pack of a seed. */
export async function randomPack(seed: number): Promise<Made> {
  const random = randomFrom(seed)
  const { pack, trust } = random() < 0.3 ? oneOf(random, cases) : await exportOf(random)
  const damaged = await damage(pack, random)
  const changed = trust !== undefined && random() < 0.03 ? changedTrust(trust, random) : trust
  return { pack: damaged, ...(changed !== undefined && { trust: changed }) }
}

async function exportOf(random: Random): Promise<Made> {
  const ledger = await randomLedger(random, 30)
  const { size } = ledger
  if (random() < 0.2) {
    ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, witness, 1_769_903_999))
  }
  const since = random() < 0.3 ? 1 + below(random, Math.max(size, 1)) : undefined
  const request = { ...randomContents(size, random), ...(since !== undefined && since <= size && { since }) }
  const members = await forge(ledger, request)
  const trust = random() < 0.15 ? undefined : await randomTrust(ledger, random)
  return { pack: archive(members), ...(trust !== undefined && { trust }) }
}

function randomContents(
  size: number,
  random: Random,
): { range?: { start: number; end: number }; selected?: number[] } {
  if (size === 0) return {}
  if (random() < 0.6) return { range: { start: 0, end: size } }
  const start = below(random, size)
  const end = start + 1 + below(random, size - start)
  const hasRange = random() < 0.7
  const rate = oneOf(random, [0.2, 0.5, 1])
  const free = Array.from({ length: size }, (_, i) => i).filter((i) => !hasRange || i < start || i >= end)
  const selected = free.filter((i) => i < 3 || random() < rate)
  return { ...(hasRange && { range: { start, end } }), selected }
}

async function randomTrust(ledger: TestLedger, random: Random): Promise<string> {
  const size = below(random, ledger.size + 1)
  return trustIn(ledger, {
    ...(random() < 0.3 && { checkpoint: await ledger.checkpointAt(size) }),
    ...(random() < 0.3 && {
      witnesses: [noteKey(witness.name, witness.key.publicKey, 4)],
      quorum: below(random, 2),
    }),
  })
}

function changedTrust(trust: string, random: Random): string {
  return JSON.stringify(changedValue(JSON.parse(trust) as Json, random))
}

async function damage(pack: Uint8Array, random: Random): Promise<Uint8Array> {
  if (random() < 0.35) return pack
  if (random() < 0.15) return changedBytes(pack, random)
  let members: Members
  try {
    members = await membersOf(pack)
  } catch {
    return changedBytes(pack, random)
  }
  const rounds = 1 + below(random, 3)
  for (let i = 0; i < rounds; i++) members = damagedMembers(members, random)
  return archive(random() < 0.8 ? rebound(members) : members)
}

/** With a manifest that fits again, unless there is none to change. */
function rebound(members: Members): Members {
  try {
    return bound(members)
  } catch {
    return members
  }
}

function damagedMembers(members: Members, random: Random): Members {
  if (members.length === 0) return members
  const { name, bytes } = oneOf(random, members)
  const kind = random()
  if (kind < 0.12) return without(members, name)
  if (kind < 0.2) return replaced(members, renamed(name, random), bytes)
  if (kind < 0.3) return replaced(members, oneOf(random, members).name, bytes)
  if (kind < 0.45) return replaced(members, name, changedBytes(bytes, random))
  if (name.endsWith('.json')) return replaced(members, name, changedJson(bytes, random))
  return damagedLines(members, random)
}

function renamed(name: string, random: Random): string {
  const other = [
    'proofs/range.json',
    'proofs/consistency.json',
    'keys/a',
    `policy/${sha256Hex('x')}`,
    'zzz',
    'a',
  ]
  return random() < 0.5 ? oneOf(random, other) : name.replace(/[0-9a-f](?=[^0-9a-f]*$)/, '7')
}

function changedJson(bytes: Uint8Array, random: Random): Uint8Array {
  try {
    return canonicalBytes(changedValue(JSON.parse(Buffer.from(bytes).toString()) as Json, random))
  } catch {
    return bytes
  }
}

function damagedLines(members: Members, random: Random): Members {
  const bundles = members.filter(({ name }) => name.startsWith('receipts/'))
  if (bundles.length === 0) return members
  const edit = (lines: readonly string[]): readonly string[] => {
    const at = below(random, lines.length)
    const other = lines[below(random, lines.length)] ?? ''
    return oneOf(random, [
      lines.filter((_, i) => i !== at),
      lines.toSpliced(at, 0, other),
      lines.map((line, i) => (i === at ? other : line)),
      lines.map((line, i) =>
        i === at ? Buffer.from(changedBytes(Buffer.from(line), random)).toString('latin1') : line,
      ),
    ])
  }
  return relined(members, edit, oneOf(random, bundles).name)
}

/** The packs of `count` seeds, with their seeds as names. */
export function* randomPacks(first: number, count: number): Generator<readonly [string, Promise<Made>]> {
  for (let seed = first; seed < first + count; seed++) yield [`seed ${seed}`, randomPack(seed)]
}
