// Counts the receipts of a pack for the summary of its report.

import type { Receipt } from './kinds.ts'
import type { Summary } from './report.ts'

/** Counts receipts. */
export class Tally {
  receipts = 0
  readonly #kinds: Record<string, number> = {}
  readonly #verdicts: Record<string, number> = {}
  readonly #effects: Record<string, number> = {}
  #first: string | undefined
  #last: string | undefined

  take(receipt: Receipt): void {
    add(this.#kinds, receipt.kind)
    if (receipt.kind === 'decision') add(this.#verdicts, receipt.verdict)
    if (receipt.kind === 'effect') add(this.#effects, receipt.status)
    if (this.#first === undefined || receipt.time < this.#first) this.#first = receipt.time
    if (this.#last === undefined || receipt.time > this.#last) this.#last = receipt.time
  }

  summary(open: number): Summary {
    return {
      receipts: this.receipts,
      kinds: this.#kinds,
      verdicts: this.#verdicts,
      effects: this.#effects,
      open,
      ...(this.#first !== undefined && { first_time: this.#first }),
      ...(this.#last !== undefined && { last_time: this.#last }),
    }
  }
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
