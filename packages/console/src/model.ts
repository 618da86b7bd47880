// The answers of the gateway, as far as the console shows them.

import type { Json, Receipt } from '@tollgate/evidence'

/** A request for an approval. */
export interface ApprovalRequest {
  readonly id: string
  readonly principal: string
  readonly session: string
  readonly tool: string
  readonly effect_class?: string
  readonly reason_code: string
  readonly rung: string
  readonly rule: string | null
  /** The objections that an approval overrides. */
  readonly asks: readonly string[]
  readonly args_hash: string
  /** Missing if the person may not read them, or if they are lost. */
  readonly arguments?: Json
  readonly page?: ShownPage
  readonly delegation: string | null
  readonly approvers: readonly string[]
  readonly reason_required: boolean
  readonly opened?: string
  readonly until: string | null
  readonly status: 'waiting' | 'granted' | 'refused' | 'timed_out' | 'expired' | 'used'
  readonly approver: string | null
  readonly because: string | null
}

/** The page of a browser call. */
export interface ShownPage {
  readonly url?: string | null
  readonly destination?: string | null
  readonly page_host?: string
  readonly destination_host?: string
  readonly target?: {
    readonly state: string
    readonly role: string
    readonly name: string
    readonly origin: string
  }
  readonly target_state?: string
  readonly sentinel_risk?: number
  readonly sentinel_findings: readonly string[]
  readonly planner_derived?: boolean
  readonly without_egress?: boolean
}

/** A freeze in force. */
export interface Frozen {
  readonly scope: 'all' | 'principal' | 'tool' | 'session'
  readonly target: string | null
  readonly by: string
  readonly because: string | null
  readonly since: string
}

/** A receipt with its place in the ledger. */
export interface Entry {
  readonly index: number
  readonly id: string
  readonly receipt: Receipt
}
