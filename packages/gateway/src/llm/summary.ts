// What every answer says of the ledger: which receipts it left, what they say, and how far a checkpoint reaches that holds them.

import type { DecisionTally } from './request-context.ts'

// A client takes some 16 KB of headers; the comment at the end of a stream has all of them.
const MOST_RECEIPTS = 100

/** As headers. A stream has not got all of it when its headers go out: there only how far a checkpoint reaches. */
export function summaryHeaders(tally: DecisionTally | undefined, size: number): Record<string, string> {
  return {
    ...(tally && {
      'tollgate-receipts': tally.receipts.slice(0, MOST_RECEIPTS).join(','),
      'tollgate-verdicts': verdictsOf(tally),
    }),
    'tollgate-checkpoint-size': String(size),
  }
}

/** As a comment at the end of a stream. */
export function summaryComment(tally: DecisionTally, size: number): string {
  const receipts = tally.receipts.join(',')
  return `: tollgate receipts=${receipts} ${verdictsOf(tally)} checkpoint-size=${size}\n\n`
}

function verdictsOf({ ALLOW, DENY, ESCALATE }: DecisionTally): string {
  return `allow=${ALLOW} deny=${DENY} escalate=${ESCALATE}`
}
