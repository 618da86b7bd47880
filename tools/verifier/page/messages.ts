// The messages between the page and its worker.

import type { Report } from '../../../packages/evidence/src/index.ts'

/** The files to verify. */
export interface Job {
  readonly pack: Blob
  readonly trust: Blob | undefined
}

/** A receipt as the pack claims it; `text` is its JSON. */
export interface Claim {
  readonly index: number
  readonly id: string
  readonly text: string
}

/** What a verification tells the page, in this order. After `done` or `stopped` nothing follows. */
export type Told =
  | { readonly type: 'ready' }
  | {
      readonly type: 'progress'
      readonly bytes: number
      readonly receipts: number
      readonly claims: readonly Claim[]
    }
  | { readonly type: 'done'; readonly report: Report; readonly newTrust?: string }
  /** Nothing was checked, or not everything: there is no report. */
  | { readonly type: 'stopped'; readonly why: string }
