// Crimes against the tree: receipts removed, moved, changed or added, and proofs that do not fit.

import {
  addWriter,
  AT,
  DENIED,
  entryOf,
  POLICY,
  story,
  told,
  trustIn,
} from '../../packages/evidence/test/audit-story.ts'
import { decision, text, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  bytesOf,
  contentOf,
  edited,
  forge,
  forged,
  proofName,
  RECEIPTS,
  relined,
  replaced,
  without,
  type ForgeRequest,
  type Members,
} from '../../packages/evidence/test/pack-forge.ts'
import { sha256, toBase64 } from '../../packages/evidence/src/index.ts'
import { CONTEXT } from './honest.ts'
import { boundCrime, fails, unreadable, withoutTrust, type Made, type Plan } from './plan.ts'

/** A crime against the receipts of the whole story; the manifest fits the bundle. */
function linesCrime(edit: (lines: readonly string[]) => readonly string[]): () => Promise<Made> {
  return async () => {
    const ledger = await told()
    return { pack: archive(bound(relined(await forge(ledger), edit))), trust: trustIn(ledger) }
  }
}

/** The receipts of one ledger under the true head of the story. */
async function underTheTrueHead(ledger: TestLedger, request?: ForgeRequest): Promise<Made> {
  const truth = await told()
  ledger.useCheckpoint(truth.checkpoint)
  return { pack: await forged(ledger, request), trust: trustIn(truth) }
}

/** A line for each entry of a ledger. */
function linesOf({ entries }: TestLedger): string[] {
  return entries.map(({ envelope }) => text(envelope))
}

function removed(lines: readonly string[], at: number): string[] {
  return lines.filter((_, i) => i !== at)
}

function swapped(lines: readonly string[], a: number, b: number): string[] {
  return lines.map((line, i) => (i === a ? lines[b] : i === b ? lines[a] : undefined) ?? line)
}

const PART: ForgeRequest = { range: { start: AT.sent, end: AT.sentEffect }, selected: CONTEXT }
const SELECTION: ForgeRequest = { selected: [AT.genesis, AT.key, AT.readEffect, AT.denied] }
const PROOF = proofName(AT.readEffect)
const FOREIGN_HASH = toBase64(sha256('another'))

/** A crime against one side of the proof of a range. */
function rangeCrime(side: 'left' | 'right', edit: (hashes: readonly string[]) => readonly string[]) {
  return boundCrime((members) => {
    const proof = JSON.parse(contentOf(members, 'proofs/range.json')) as Record<'left' | 'right', string[]>
    return replaced(
      members,
      'proofs/range.json',
      bytesOf(JSON.stringify({ ...proof, [side]: edit(proof[side]) })),
    )
  }, PART)
}

/** A crime against the proof of a selected receipt. */
function inclusionCrime(edit: (proof: string) => string): () => Promise<Made> {
  return boundCrime((members) => edited(members, PROOF, edit), SELECTION)
}

/** A selection whose proof of one receipt is taken from another pack of the same ledger. */
function borrowedProof(lend: (ledger: TestLedger) => Promise<Members>): () => Promise<Made> {
  return async () => {
    const ledger = await told()
    const proof = contentOf(await lend(await told()), PROOF)
    const members = replaced(await forge(ledger, SELECTION), PROOF, bytesOf(proof))
    return { pack: archive(bound(members)), trust: trustIn(ledger) }
  }
}

/** Two receipts of two writers, neither of which knows of the other. */
async function concurrent(ledger: TestLedger): Promise<void> {
  const key = await addWriter(ledger, 'gw-2')
  await ledger.append({ ...DENIED, writer: 'gw-2' }, key)
  await ledger.append(DENIED)
}

export const LEAVES: readonly Plan[] = [
  fails(
    'receipt-removed-naive',
    'the denied call was taken out, and nothing else was changed',
    [
      `MEMBER_CHANGED in ${RECEIPTS}`,
      `RECEIPT_COUNT_WRONG in ${RECEIPTS}`,
      'LEAVES_WRONG',
      `CHAIN_GAP at ${AT.denied}`,
    ],
    async () => {
      const ledger = await told()
      const members = relined(await forge(ledger), (lines) => removed(lines, AT.denied))
      return { pack: archive(members), trust: trustIn(ledger) }
    },
  ),
  fails(
    'receipt-removed',
    'the denied call was taken out, and the manifest claims a range that is one shorter',
    ['LEAVES_WRONG', `CHAIN_GAP at ${AT.denied}`],
    async () => {
      const ledger = await told()
      const members = relined(await forge(ledger), (lines) => removed(lines, AT.denied))
      return {
        pack: archive(bound(members, { range: { start: 0, end: AT.sentEffect } })),
        trust: trustIn(ledger),
      }
    },
  ),
  fails(
    'receipt-removed-and-chain-rebuilt',
    'a thief of the key of the writer told the story again without the denied call, under the true head',
    ['LEAVES_WRONG'],
    async () => {
      const retold = await story({ instead: { at: AT.denied } })
      // The true last entry, so that the tree right of the claimed range is the true one.
      retold.appendRaw(entryOf(await story(), AT.sentEffect).envelope)
      return underTheTrueHead(retold, { range: { start: 0, end: AT.sentEffect } })
    },
  ),
  fails(
    'receipt-removed-without-trust',
    'the denied call was taken out, and nothing is pinned',
    ['LEAVES_WRONG', `CHAIN_GAP at ${AT.denied}`],
    async () => {
      const ledger = await told()
      const members = relined(await forge(ledger), (lines) => removed(lines, AT.denied))
      return withoutTrust(
        Promise.resolve({ pack: archive(bound(members, { range: { start: 0, end: AT.sentEffect } })) }),
      )
    },
  ),
  fails(
    'receipts-swapped',
    'an effect and a denied call have changed places',
    [
      'LEAVES_WRONG',
      'CHAIN_GAP at 4',
      'CHAIN_FORKED at 5',
      'LAMPORT_WRONG at 5',
      'TIME_REWOUND at 5',
      'CHAIN_GAP at 6',
    ],
    linesCrime((lines) => swapped(lines, AT.readEffect, AT.denied)),
  ),
  fails(
    'receipts-of-two-writers-swapped',
    'two receipts have changed places whose chains know nothing of each other',
    ['LEAVES_WRONG'],
    async () => {
      const ledger = await told(concurrent, { length: AT.read })
      const members = relined(await forge(ledger), (lines) => swapped(lines, 4, 5))
      return { pack: archive(bound(members)), trust: trustIn(ledger) }
    },
  ),
  fails(
    'receipt-rewritten-by-its-writer',
    'a thief of the key of the writer made the newest receipt anew, properly signed and linked',
    ['LEAVES_WRONG'],
    async () => underTheTrueHead(await story({ instead: { at: AT.sentEffect, draft: DENIED } })),
  ),
  fails(
    'receipt-added',
    'one receipt more than the tree has, properly signed and linked',
    [`RECEIPT_COUNT_WRONG in ${RECEIPTS}`],
    async () => {
      const longer = await told((ledger) => ledger.append(DENIED))
      return linesCrime(() => linesOf(longer))()
    },
  ),
  fails(
    'receipt-of-another-ledger-spliced',
    'the denied call was replaced by one of another ledger',
    [
      'LEAVES_WRONG',
      `RECEIPT_FOREIGN at ${AT.denied}`,
      `KEY_UNKNOWN at ${AT.denied}`,
      `CHAIN_BROKEN at ${AT.denied}`,
      `CHAIN_BROKEN at ${AT.asked}`,
    ],
    async () => {
      const other = linesOf(await story({ origin: 'ledger.example/other', salt: 'other' }))
      return linesCrime((lines) => lines.map((line, i) => (i === AT.denied ? other[i] : line) ?? line))()
    },
  ),
  fails(
    'receipt-repeated-in-the-pack',
    'the denied call stands in place of the escalated one, which is thus hidden',
    [
      'LEAVES_WRONG',
      // The same receipt again, a place in the chain lower than the one it stands at.
      'CHAIN_FORKED at 6',
      'LAMPORT_WRONG at 6',
      'RECEIPT_REPEATED at 6',
      // The approval that follows rests on the receipt that is hidden.
      'CAUSE_UNKNOWN at 7',
      'CHAIN_GAP at 7',
      'APPROVAL_WITHOUT_ESCALATION at 7',
    ],
    linesCrime((lines) => lines.map((line, i) => (i === AT.asked ? lines[AT.denied] : line) ?? line)),
  ),
  fails(
    'range-proof-left-changed',
    'a hash of the tree left of the range is another',
    ['LEAVES_WRONG'],
    rangeCrime('left', () => [FOREIGN_HASH]),
  ),
  fails(
    'range-proof-right-changed',
    'a hash of the tree right of the range is another',
    ['LEAVES_WRONG'],
    rangeCrime('right', () => [FOREIGN_HASH]),
  ),
  fails(
    'range-proof-left-surplus',
    'the proof has one hash too many on its left side',
    ['LEAVES_WRONG'],
    rangeCrime('left', (hashes) => [...hashes, FOREIGN_HASH]),
  ),
  fails(
    'range-proof-right-surplus',
    'the proof has one hash too many on its right side',
    ['LEAVES_WRONG'],
    rangeCrime('right', (hashes) => [...hashes, FOREIGN_HASH]),
  ),
  fails(
    'range-proof-right-short',
    'the proof lacks its right side',
    ['LEAVES_WRONG'],
    rangeCrime('right', () => []),
  ),
  unreadable(
    'range-proof-malformed',
    'the proof has a side that nobody knows',
    ['PACK_MALFORMED'],
    boundCrime(
      (members) => edited(members, 'proofs/range.json', (proof) => proof.replace('{', '{"above":[],')),
      PART,
    ),
  ),
  unreadable(
    'range-proof-unasked',
    'a proof of a range stands in a pack that has none',
    ['MEMBER_UNEXPECTED in proofs/range.json'],
    boundCrime(
      (members) => replaced(members, 'proofs/range.json', bytesOf('{"left":[],"right":[]}')),
      SELECTION,
    ),
  ),
  fails(
    'inclusion-proof-wrong',
    'a hash of the proof of a receipt is another',
    [`INCLUSION_WRONG at ${AT.readEffect}`],
    inclusionCrime((proof) => proof.replace(/\n[^\n ]{44}\n/, `\n${FOREIGN_HASH}\n`)),
  ),
  fails(
    'inclusion-proof-surplus',
    'the proof has one hash too many',
    [`INCLUSION_WRONG at ${AT.readEffect}`],
    inclusionCrime((proof) => proof.replace('\n\n', `\n${FOREIGN_HASH}\n\n`)),
  ),
  unreadable(
    'inclusion-proof-with-an-extra-line',
    'the proof carries a line that nothing vouches for',
    ['PACK_MALFORMED'],
    inclusionCrime((proof) => proof.replace('\nindex', '\nextra aGlkZGVu\nindex')),
  ),
  fails(
    'inclusion-proof-short',
    'the proof lacks a hash',
    [`INCLUSION_WRONG at ${AT.readEffect}`],
    inclusionCrime((proof) => proof.replace(/\n[^\n ]{44}\n\n/, '\n\n')),
  ),
  fails(
    'inclusion-proof-of-another-index',
    'the hashes of the proof are those of the next receipt',
    [`INCLUSION_WRONG at ${AT.readEffect}`],
    async () => {
      const members = await forge(await told(), SELECTION)
      const neighbours = contentOf(members, proofName(AT.denied))
      const proof = neighbours.replace(`index ${AT.denied}`, `index ${AT.readEffect}`)
      return boundCrime((honest) => replaced(honest, PROOF, bytesOf(proof)), SELECTION)()
    },
  ),
  unreadable(
    'inclusion-proof-misnamed',
    'the proof is named for another index than it states',
    ['PACK_MALFORMED'],
    inclusionCrime((proof) => proof.replace(`index ${AT.readEffect}`, `index ${AT.denied}`)),
  ),
  fails(
    'inclusion-proof-for-another-checkpoint',
    'the proof of a receipt is a true one, but leads to an older head',
    [`INCLUSION_WRONG at ${AT.readEffect} in ${PROOF}`, `INCLUSION_WRONG at ${AT.readEffect}`],
    borrowedProof(async () =>
      forge(await told(undefined, { length: AT.sent }), { selected: [AT.readEffect] }),
    ),
  ),
  fails(
    'inclusion-proof-quotes-another-checkpoint',
    'the hashes fit, but the proof quotes another head',
    [`INCLUSION_WRONG at ${AT.readEffect} in ${PROOF}`],
    borrowedProof(async (ledger) => {
      const older = await ledger.checkpointAt(AT.sent)
      return edited(await forge(ledger, SELECTION), PROOF, (proof) => proof.replace(ledger.checkpoint, older))
    }),
  ),
  unreadable(
    'inclusion-proof-malformed',
    'the proof names no index',
    ['PROOF_MALFORMED'],
    inclusionCrime((proof) => proof.replace(`index ${AT.readEffect}\n`, '')),
  ),
  unreadable(
    'inclusion-proof-missing',
    'the proof of a receipt was taken out of the pack and out of the manifest',
    [`MEMBER_MISSING in ${PROOF}`, `INCLUSION_WRONG at ${AT.readEffect}`],
    boundCrime((members) => without(members, PROOF), SELECTION),
  ),
  unreadable(
    'inclusion-proof-unasked',
    'a proof of a receipt that is not in the pack',
    [`MEMBER_UNEXPECTED in ${proofName(AT.sent)}`],
    async () => {
      const proof = contentOf(await forge(await told(), { selected: [AT.sent] }), proofName(AT.sent))
      return boundCrime((members) => replaced(members, proofName(AT.sent), bytesOf(proof)), SELECTION)()
    },
  ),
  fails(
    'selected-receipts-swapped',
    'two receipts of a selection have changed places',
    [
      `INCLUSION_WRONG at ${AT.readEffect}`,
      `INCLUSION_WRONG at ${AT.denied}`,
      `CHAIN_FORKED at ${AT.denied}`,
      `LAMPORT_WRONG at ${AT.denied}`,
      `TIME_REWOUND at ${AT.denied}`,
    ],
    boundCrime((members) => relined(members, (lines) => swapped(lines, 2, 3)), SELECTION),
  ),
  fails(
    'selected-receipt-rewritten',
    'a thief of the key of the writer made a selected receipt anew',
    [`INCLUSION_WRONG at ${AT.denied}`],
    async () => {
      const retold = await story({ instead: { at: AT.denied, draft: decision(POLICY) } })
      const line = text(entryOf(retold, AT.denied).envelope)
      return boundCrime((members) => relined(members, (lines) => [...lines.slice(0, 3), line]), SELECTION)()
    },
  ),
]
