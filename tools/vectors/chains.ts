// Crimes against order, committed by those who hold the keys: the tree is right and every signature holds.

import { addWriter, AT, DENIED, entryOf, POLICY, told } from '../../packages/evidence/test/audit-story.ts'
import { decision, effect, hash, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import type { Common, Receipt } from '../../packages/evidence/src/index.ts'
import { CONTEXT } from './honest.ts'
import { ADDED, BEGINNING, fails, packed, sealedCrime, type Made, type Plan } from './plan.ts'

/** A denied call whose place in the chain is not the one it should have. */
function misplaced(fields: (ledger: TestLedger, right: Receipt) => Partial<Common>): () => Promise<Made> {
  return sealedCrime((ledger) => ledger.append({ ...DENIED, ...fields(ledger, ledger.prepare(DENIED)) }))
}

/** As `misplaced`, for the first receipt of a second writer. */
function secondWriter(fields: (ledger: TestLedger) => Partial<Common>): () => Promise<Made> {
  return sealedCrime(async (ledger) => {
    const key = await addWriter(ledger, 'gw-2')
    await ledger.append({ ...DENIED, writer: 'gw-2', ...fields(ledger) }, key)
  })
}

const LATER = '2026-01-05T09:05:00.000Z'

/**
 * Two writers who conspire: the first names as its cause a receipt of the second that is appended after it. Both
 * receipts are signed and linked as they should be.
 */
export async function causeFromTheFuture(ledger: TestLedger, first: 'decision' | 'effect'): Promise<void> {
  const key = await addWriter(ledger, 'gw-2')
  const later = decision(POLICY, { writer: 'gw-2', time: LATER })
  // Made on a twin of the ledger, so that its id is known before it is appended.
  const twin = await told((going) => addWriter(going, 'gw-2'), { length: ledger.size - 1 })
  const { id, receipt } = await twin.append(later, key)
  const lamport_clock = Math.max(ledger.prepare(DENIED).lamport_clock, receipt.lamport_clock + 1)
  const draft = first === 'effect' ? effect(id) : { ...DENIED, causes: [id] }
  await ledger.append({ ...draft, lamport_clock })
  await ledger.append(later, key)
}

/** The future named in a range from the middle, where not all that came before can be seen. */
function inTheMiddle(first: 'decision' | 'effect'): () => Promise<Made> {
  return async () => {
    const ledger = await told((going) => causeFromTheFuture(going, first), BEGINNING)
    return packed(ledger, { range: { start: ADDED, end: ledger.size }, selected: CONTEXT })
  }
}

export const CHAINS: readonly Plan[] = [
  fails(
    'chain-broken',
    'a receipt links to something that is not its predecessor',
    [`CHAIN_BROKEN at ${ADDED}`],
    misplaced(() => ({ prev_receipt_hash: hash('elsewhere') })),
  ),
  fails(
    'chain-broken-at-its-beginning',
    'the first receipt of a writer claims a predecessor',
    [`CHAIN_BROKEN at ${ADDED + 1}`],
    secondWriter((ledger) => ({ prev_receipt_hash: entryOf(ledger, AT.read).id })),
  ),
  fails(
    'chain-gap',
    'a writer left out a place of its chain',
    [`CHAIN_GAP at ${ADDED}`],
    misplaced((_, right) => ({ seq: right.seq + 1 })),
  ),
  fails(
    'chain-gap-at-its-beginning',
    'the first receipts of a writer are missing',
    [`CHAIN_GAP at ${ADDED + 1}`],
    secondWriter(() => ({ seq: 3 })),
  ),
  fails(
    'chain-forked',
    'a writer used a place of its chain a second time, with clocks that fit',
    [`CHAIN_FORKED at ${ADDED}`],
    misplaced((ledger) => {
      const { seq, prev_receipt_hash } = entryOf(ledger, AT.read).receipt
      return { seq, prev_receipt_hash }
    }),
  ),
  fails(
    'clock-rewound',
    'a receipt is dated before its predecessor',
    [`TIME_REWOUND at ${ADDED}`],
    misplaced(() => ({ time: '2026-01-05T09:00:02.999Z' })),
  ),
  fails(
    'clock-rewound-lamport',
    'the Lamport clock of a receipt is that of its predecessor',
    [`LAMPORT_WRONG at ${ADDED}`],
    misplaced((_, right) => ({ lamport_clock: right.lamport_clock - 1 })),
  ),
  fails(
    'clock-ahead-lamport',
    'the Lamport clock of a receipt leaps, to hide that others came between',
    [`LAMPORT_WRONG at ${ADDED}`],
    misplaced((_, right) => ({ lamport_clock: right.lamport_clock + 1 })),
  ),
  fails(
    'clock-before-its-cause',
    'the Lamport clock of a receipt is not above that of its cause in another chain',
    [`LAMPORT_WRONG at ${ADDED + 1}`],
    secondWriter((ledger) => ({ causes: [entryOf(ledger, AT.read).id], lamport_clock: 1 })),
  ),
  fails(
    'receipt-repeated',
    'the same receipt stands in the tree twice',
    [`CHAIN_FORKED at ${ADDED + 1}`, `LAMPORT_WRONG at ${ADDED + 1}`, `RECEIPT_REPEATED at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      const { envelope } = await ledger.append(DENIED)
      ledger.appendRaw(envelope)
    }),
  ),
  fails(
    'cause-unknown',
    'a receipt follows from one that never was',
    [`CAUSE_UNKNOWN at ${ADDED}`],
    misplaced(() => ({ causes: [hash('nothing')] })),
  ),
  fails(
    'cause-from-the-future',
    'a receipt follows from one that stands after it',
    [`CAUSE_UNKNOWN at ${ADDED + 1}`],
    sealedCrime((ledger) => causeFromTheFuture(ledger, 'decision')),
  ),
  fails(
    'cause-from-the-future-in-the-middle',
    'in a range from the middle, a receipt follows from one that stands after it',
    [`CAUSE_UNKNOWN at ${ADDED + 1}`],
    inTheMiddle('decision'),
  ),
  fails(
    'effect-before-its-decision',
    'a call was made first, and decided upon afterwards',
    [`CAUSE_UNKNOWN at ${ADDED + 1}`, `EFFECT_WITHOUT_DECISION at ${ADDED + 1}`],
    sealedCrime((ledger) => causeFromTheFuture(ledger, 'effect')),
  ),
  fails(
    'effect-before-its-decision-in-the-middle',
    'in a range from the middle, a call was made first, and decided upon afterwards',
    [`CAUSE_UNKNOWN at ${ADDED + 1}`, `EFFECT_WITHOUT_DECISION at ${ADDED + 1}`],
    inTheMiddle('effect'),
  ),
]
