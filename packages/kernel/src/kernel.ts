// The kernel type. A kernel has no I/O, clock or randomness: the host application passes them in.

import type { Approvals } from './admin/approvals.ts'
import type { Catalogue } from './admin/catalogue.ts'
import type { Delegations } from './gates/delegation/delegations.ts'
import type { Freezes } from './admin/freezes.ts'
import type { LADDER } from './road/guardian.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Meter } from './road/metering.ts'
import type { Observations } from './gates/browser/observations.ts'
import type { Observing } from './admin/observing.ts'
import type { Openings } from './road/openings.ts'
import type { Policy } from './policy/parse/parse.ts'
import type { Pace } from './rates.ts'
import type { Allowance } from './ledger/session.ts'
import type { Storage } from './ledger/storage.ts'
import type { Store } from './ledger/store.ts'

/** Functions that the host application provides. */
export interface Host {
  /** Milliseconds since 1970. Times in the ledger never decrease, even if this does. */
  now(): number
  /** 32 random bytes. */
  salt(): Uint8Array
  /** Calls `run` once after `milliseconds`, unless the returned function is called first. */
  after(milliseconds: number, run: () => void): () => void
  /** Counts and times calls; undefined if calls are not measured. */
  readonly meter?: Meter
}

/** A running kernel. Treat it as an opaque handle: only functions of this package change it. */
export interface Kernel {
  readonly ledger: Ledger
  /** Called with the names of records and anchors that other writers have changed, before anything is decided on them. */
  readonly followers: Set<(names: readonly string[]) => Promise<void>>
  readonly host: Host
  readonly store: Store
  readonly tenant: string
  /** The name of this writer, if the ledger has others. */
  readonly writer: string | undefined
  readonly commit: 'plain' | 'salted'
  /** Whether calls are kept. Switched off while storage is short. */
  readonly keeping: { on: boolean }
  /** The sessions whose data was kept completely, with the time. */
  readonly seeded: Map<string, number>
  readonly quota: Pace
  readonly patience: number
  /** Milliseconds to wait before answering a principal that floods. */
  readonly floodPause: number
  /** The bytes that each principal stored today, and the principals that reached their limit. */
  readonly storage: Storage
  readonly catalogue: Catalogue
  readonly freezes: Freezes
  readonly approvals: Approvals
  readonly delegations: Delegations
  readonly openings: Openings
  readonly observations: Observations
  readonly observing: Observing
  /** The remaining denials of each principal, by tenant and name. A restart resets them. */
  readonly denials: Map<string, Allowance>
  /** The number of calls denied without a receipt, by tenant and name. Each principal in this map is frozen for flooding. */
  readonly flooding: Map<string, number>
  /** The steps of the ladder; always `LADDER`, except in tests that break a step on purpose. */
  readonly ladder: typeof LADDER
  /** The policy in force, by tenant. */
  readonly policies: Map<string, Policy>
  /** The policy of a tenant without one: it allows nothing. */
  readonly noPolicy: Policy
}

/** Returns the policy in force for a tenant, or one that allows nothing. */
export function policyOf({ policies, noPolicy }: Kernel, tenant: string): Policy {
  return policies.get(tenant) ?? noPolicy
}
