// Computes and checks the links of a writer's chain.
//
// The chain is a cross-check. Only the tree with a checkpoint detects a removed tail or a rewritten history.

import { NO_HASH, type Common } from './kinds.ts'

/** The fields of a writer's newest receipt that the next one depends on. */
export interface ChainHead {
  readonly id: string
  readonly seq: number
  readonly lamport_clock: number
  readonly time: string
}

/** The fields that place a receipt in its writer's chain. */
export type Place = Pick<Common, 'seq' | 'lamport_clock' | 'prev_receipt_hash'>

/** A problem of a link. */
export type LinkFault = 'CHAIN_BROKEN' | 'CHAIN_GAP' | 'CHAIN_FORKED' | 'LAMPORT_WRONG' | 'TIME_REWOUND'

/** The place of a writer's next receipt, from its newest receipt and the clocks of the causes. */
export function nextPlace(head: ChainHead | undefined, causes: readonly number[]): Place {
  return {
    seq: head ? head.seq + 1 : 0,
    lamport_clock: Math.max(head?.lamport_clock ?? 0, ...causes) + 1,
    prev_receipt_hash: head?.id ?? NO_HASH,
  }
}

/** The chain head after this receipt. */
export function chainHead({ id, receipt }: { readonly id: string; readonly receipt: Common }): ChainHead {
  const { seq, lamport_clock, time } = receipt
  return { id, seq, lamport_clock, time }
}

/** The receipts that were seen before the link that is checked. */
export interface LinkContext {
  /** The writer's newest receipt among those seen. */
  readonly head: ChainHead | undefined
  /** Clocks of the causes that were seen. */
  readonly causes: readonly number[]
  /** Whether all causes were seen. */
  readonly allCauses: boolean
  /** Whether every receipt between `head` (or the beginning) and this one was seen. */
  readonly gapless: boolean
}

/** All problems of a receipt's link. Empty if the link is right as far as the context shows. */
export function linkFaults(receipt: Common, context: LinkContext): readonly LinkFault[] {
  const { head, causes, allCauses, gapless } = context
  const expected = nextPlace(head, causes)
  // After a gap the predecessor is unknown: the clock then has a minimum instead of an exact value.
  const adjacent = receipt.seq === expected.seq
  // Every receipt in a gap increases the clock by at least one.
  const gap = gapless ? 0 : Math.max(receipt.seq - expected.seq, 0)
  const least = Math.max(expected.lamport_clock, (head?.lamport_clock ?? 0) + 1 + gap)
  const clockHolds =
    adjacent && allCauses ? receipt.lamport_clock === expected.lamport_clock : receipt.lamport_clock >= least
  // After a gap there is a predecessor, but its id is unknown.
  const linked = adjacent
    ? receipt.prev_receipt_hash === expected.prev_receipt_hash
    : gap === 0 || receipt.prev_receipt_hash !== NO_HASH
  const faults: LinkFault[] = []
  if (!linked) faults.push('CHAIN_BROKEN')
  if (receipt.seq > expected.seq && gapless) faults.push('CHAIN_GAP')
  if (receipt.seq < expected.seq) faults.push('CHAIN_FORKED')
  if (!clockHolds) faults.push('LAMPORT_WRONG')
  // Timestamps have a fixed length, so text order is time order.
  if (head && receipt.time < head.time) faults.push('TIME_REWOUND')
  return faults
}
