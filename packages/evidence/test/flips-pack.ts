// Damages a pack by one bit or by truncation. No damaged pack may pass.

import {
  cosignCheckpoint,
  noteKey,
  parseTrust,
  verifyPack,
  writePack,
  type PackRequest,
  type Report,
  type SignatureChecker,
  type Trust,
} from '../src/index.ts'
import { signatureHolds } from '../src/receipt.ts'
import { trustIn, type Pins } from './audit-story.ts'
import { collect, demoLedger, fixedKey, hash, type TestLedger } from './ledger.ts'
import { archive, bound, bytesOf, membersOf, wholeOf, type Members } from './pack-forge.ts'

/** The pack, its members, and its trust file. */
export interface Subject {
  readonly pack: Uint8Array
  readonly members: Members
  readonly trust: Trust
}

/** A damage: a flipped bit, a flipped bit with a matching manifest, or a cut. */
export type Damage =
  | { readonly kind: 'flip'; readonly at: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'bound flip'; readonly member: string; readonly at: number }

/** A pack of a whole ledger of 24 receipts. */
export async function subject(): Promise<Subject> {
  const ledger = await demoLedger()
  return subjectOf(ledger, wholeOf(ledger))
}

/** A pack of a part of it: selected receipts, a witness, a pinned checkpoint, a payload. */
export async function partSubject(): Promise<Subject> {
  const ledger = await demoLedger()
  const witness = { name: 'witness.example', key: await fixedKey('witness') }
  ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, witness, 1_767_603_700))
  const payloads = [{ hash: hash('args'), bytes: bytesOf('args') }]
  const request = { range: { start: 9, end: 20 }, selected: [0, 1, 3], since: 5, payloads }
  const witnesses = [noteKey(witness.name, witness.key.publicKey, 4)]
  return subjectOf(ledger, request, { witnesses, quorum: 1, checkpoint: await ledger.checkpointAt(5) })
}

async function subjectOf(ledger: TestLedger, request: PackRequest, pins?: Pins): Promise<Subject> {
  const pack = await collect(writePack(ledger, request))
  return { pack, members: await membersOf(pack), trust: await parseTrust(trustIn(ledger, pins)) }
}

/** The pack with this damage. */
export function damaged({ pack, members }: Subject, damage: Damage): Uint8Array {
  if (damage.kind === 'cut') return pack.subarray(0, damage.at)
  if (damage.kind === 'flip') return flipped(pack, damage.at)
  const { member, at } = damage
  return archive(
    bound(members.map((each) => (each.name === member ? { ...each, bytes: flipped(each.bytes, at) } : each))),
  )
}

/** The damages that pass, with or without a trust file. There must be none. */
export async function accepted(
  given: Subject,
  damages: Iterable<Damage>,
  auditor: 'with trust' | 'without trust' = 'with trust',
): Promise<string[]> {
  const { trust } = given
  const passed: string[] = []
  for (const damage of damages) {
    const options = { signatures, ...(auditor === 'with trust' && { trust }) }
    const report = await verifyPack(damaged(given, damage), options)
    if (!isRejected(report)) passed.push(`${JSON.stringify(damage)}: ${report.level}`)
  }
  return passed
}

/** The flips with a matching manifest: every bit of every other member. */
export function boundFlips({ members }: Subject): Damage[] {
  return members
    .filter(({ name }) => name !== 'manifest.json')
    .flatMap(({ name, bytes }) =>
      Array.from({ length: 8 * bytes.length }, (_, at): Damage => ({ kind: 'bound flip', member: name, at })),
    )
}

function isRejected({ level, exit, findings }: Report): boolean {
  const refused = (level === 'malformed' && exit === 2) || (level === 'failed' && exit === 1)
  return refused && findings.length > 0
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice()
  const at = Math.floor(bit / 8)
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8))
  return copy
}

// Caches signature checks: most receipts of a damaged pack are unchanged.
const answers = new Map<string, Promise<boolean>>()
const signatures: SignatureChecker = {
  parallel: 1,
  check: (jobs) =>
    Promise.all(
      jobs.map(({ receipt, key }) => {
        const question = `${key.id} ${receipt.id} ${Buffer.from(receipt.signature).toString('hex')}`
        const answer = answers.get(question) ?? signatureHolds(receipt, key)
        if (answers.size < 1000) answers.set(question, answer)
        return answer
      }),
    ),
}
