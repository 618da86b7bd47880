// A writer's chain: how its next receipt is linked, and whether a receipt is linked that way.
//
// The chain is a cross-check. It cannot show a cut tail or a rewritten history; the tree and a checkpoint do that.

import { NO_HASH, type Common } from './kinds.ts'

/** The newest receipt of a writer, as far as the next one depends on it. */
export interface ChainHead {
  readonly id: string
  readonly seq: number
  readonly lamport_clock: number
  readonly time: string
}

/** The fields that place a receipt in its writer's chain. */
export type Place = Pick<Common, 'seq' | 'lamport_clock' | 'prev_receipt_hash'>

/** What can be wrong with a link. */
export type LinkFault = 'CHAIN_BROKEN' | 'CHAIN_GAP' | 'CHAIN_FORKED' | 'LAMPORT_WRONG' | 'TIME_REWOUND'

/** The place of a writer's next receipt, given its newest and the clocks of the causes. */
export function nextPlace(head: ChainHead | undefined, causes: readonly number[]): Place {
  return {
    seq: head ? head.seq + 1 : 0,
    lamport_clock: Math.max(head?.lamport_clock ?? 0, ...causes) + 1,
    prev_receipt_hash: head?.id ?? NO_HASH,
  }
}

/** The head of a writer's chain once this receipt is its newest. */
export function chainHead({ id, receipt }: { readonly id: string; readonly receipt: Common }): ChainHead {
  const { seq, lamport_clock, time } = receipt
  return { id, seq, lamport_clock, time }
}

/** What a reader knows when it checks a link. */
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

/** Everything that is wrong with a receipt's link; empty if it is right as far as can be seen. */
export function linkFaults(receipt: Common, context: LinkContext): readonly LinkFault[] {
  const { head, causes, allCauses, gapless } = context
  const expected = nextPlace(head, causes)
  // With a gap before it, the predecessor is unknown: clocks can still be bounded, but not computed.
  const adjacent = receipt.seq === expected.seq
  // Every receipt in a gap has moved the clock on by one at least.
  const gap = gapless ? 0 : Math.max(receipt.seq - expected.seq, 0)
  const least = Math.max(expected.lamport_clock, (head?.lamport_clock ?? 0) + 1 + gap)
  const clockHolds =
    adjacent && allCauses ? receipt.lamport_clock === expected.lamport_clock : receipt.lamport_clock >= least
  // Behind a gap the predecessor is not known, but that there is one is.
  const linked = adjacent
    ? receipt.prev_receipt_hash === expected.prev_receipt_hash
    : gap === 0 || receipt.prev_receipt_hash !== NO_HASH
  const faults: LinkFault[] = []
  if (!linked) faults.push('CHAIN_BROKEN')
  if (receipt.seq > expected.seq && gapless) faults.push('CHAIN_GAP')
  if (receipt.seq < expected.seq) faults.push('CHAIN_FORKED')
  if (!clockHolds) faults.push('LAMPORT_WRONG')
  // Moments have one spelling of one length, so text order is time order.
  if (head && receipt.time < head.time) faults.push('TIME_REWOUND')
  return faults
}
