// The kernel: what the road runs on. It has no I/O, no clock and no randomness of its own; all of that is handed in.

import type { Approvals } from './admin/approvals.ts'
import type { Catalogue } from './admin/catalogue.ts'
import type { Delegations } from './gates/delegation/delegations.ts'
import type { Freezes } from './admin/freezes.ts'
import type { LADDER } from './road/guardian.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Observations } from './gates/browser/observations.ts'
import type { Observing } from './admin/observing.ts'
import type { Openings } from './road/openings.ts'
import type { Policy } from './policy/parse/parse.ts'
import type { Pace } from './rates.ts'
import type { Allowance } from './ledger/session.ts'
import type { Storage } from './ledger/storage.ts'
import type { Store } from './ledger/store.ts'

/** What the host hands in. */
export interface Host {
  /** Milliseconds since 1970. The ledger never goes back, whatever this says. */
  now(): number
  /** 32 random bytes. */
  salt(): Uint8Array
  /** Calls `run` once, after so many milliseconds, unless the returned function is called before. */
  after(milliseconds: number, run: () => void): () => void
}

/** A running kernel. Treat it as a handle: the functions of this package change it, and nothing else may. */
export interface Kernel {
  readonly ledger: Ledger
  readonly host: Host
  readonly store: Store
  readonly tenant: string
  readonly commit: 'plain' | 'salted'
  /** Whether calls are kept; off while there is too little room for them. */
  readonly keeping: { on: boolean }
  /** The sessions whose data was kept as a whole, and when. */
  readonly seeded: Map<string, number>
  readonly quota: Pace
  readonly patience: number
  /** Milliseconds before a principal that floods is answered. */
  readonly floodPause: number
  /** What principals have stored today, and who may store no more. */
  readonly storage: Storage
  readonly catalogue: Catalogue
  readonly freezes: Freezes
  readonly approvals: Approvals
  readonly delegations: Delegations
  readonly openings: Openings
  readonly observations: Observations
  readonly observing: Observing
  /** What is left of the denials each principal may cause, by tenant and name. A restart fills them up again. */
  readonly denials: Map<string, Allowance>
  /** How many calls were denied without a receipt, by tenant and name. Who is in here is frozen for flooding. */
  readonly flooding: Map<string, number>
  /** The rungs that are asked; always `LADDER`, except where a test breaks one on purpose. */
  readonly ladder: typeof LADDER
  /** The policy in force, by tenant. */
  readonly policies: Map<string, Policy>
  /** The policy of a tenant that has none: it allows nothing. */
  readonly noPolicy: Policy
}

/** The policy in force for a tenant; one that allows nothing if there is none. */
export function policyOf({ policies, noPolicy }: Kernel, tenant: string): Policy {
  return policies.get(tenant) ?? noPolicy
}
