// Summarizes the decisions of an answer: its receipts, their verdicts, and the size of the ledger.

import type { DecisionTally } from './request-context.ts'

// Clients accept about 16 KB of headers. The comment at the end of a stream has all receipts.
const MAX_RECEIPTS = 100

/** The summary as headers. For a stream only the size is known when the headers are sent. */
export function summaryHeaders(tally: DecisionTally | undefined, size: number): Record<string, string> {
  return {
    ...(tally && {
      'tollgate-receipts': tally.receipts.slice(0, MAX_RECEIPTS).join(','),
      'tollgate-verdicts': verdictsOf(tally),
    }),
    'tollgate-checkpoint-size': String(size),
  }
}

/** The summary as a comment at the end of a stream. */
export function summaryComment(tally: DecisionTally, size: number): string {
  const receipts = tally.receipts.join(',')
  return `: tollgate receipts=${receipts} ${verdictsOf(tally)} checkpoint-size=${size}\n\n`
}

function verdictsOf({ ALLOW, DENY, ESCALATE }: DecisionTally): string {
  return `allow=${ALLOW} deny=${DENY} escalate=${ESCALATE}`
}
