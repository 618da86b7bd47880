// The memory of the model between calls and across restarts.

import type { ModelPolicy } from './model-policy.ts'
import type { Grant } from './model-delegation.ts'
import { FULL, type Buckets } from './model-limits.ts'
import type { Bucket, Leak, Pace } from './model-risk.ts'
import type { ModelScope } from './model-scope.ts'
import { NO_DATA, type Data } from './model-taint.ts'
import type { Raised, Trust } from './model-trust.ts'
import { NO_HISTORY } from './model-history.ts'
import type { LadderResult } from './model-results.ts'
import type { Lost, Seen } from './model-world.ts'

export const NOBODY = '(nobody)'
const NO_LEAK: Leak = { sum: 0, at: 0, turns: 0 }

export interface SessionMemory {
  readonly seq: number
  readonly turns: number
  readonly average: number
  readonly leak: Leak
  readonly sensitive: boolean
  /** The time of the last call that needed an approval. */
  readonly suspect: number
  readonly denials: number
  readonly limits: Buckets
  readonly raised: Raised | undefined
  readonly scope: ModelScope | undefined
  /** A record exists that can be lost. */
  readonly kept: boolean
  readonly broken: boolean
}
export const NEW_SESSION: SessionMemory = {
  seq: 0,
  turns: 0,
  average: 0,
  leak: NO_LEAK,
  sensitive: false,
  suspect: 0,
  denials: 0,
  limits: FULL,
  raised: undefined,
  scope: undefined,
  kept: false,
  broken: false,
}
export const NEW_PRINCIPAL = {
  leak: NO_LEAK,
  sensitiveAt: 0,
  history: NO_HISTORY,
  limits: FULL,
  broken: false,
}
export const NEW_TENANT = { limits: FULL, broken: false }

/** A request for an approval, with its answer if there is one. */
export interface Request extends Pick<LadderResult, 'reason' | 'rung' | 'rule' | 'asks'> {
  readonly owner: string
  readonly tenant: string
  readonly principal: string
  readonly binding: string
  readonly delegation: number | undefined
  readonly seen: Seen | undefined
  readonly opened: number
  readonly until: number
  readonly answer?: { readonly granted: boolean; readonly widen: boolean; readonly until: number }
}

/** An allowed call. `late`: it was closed as unknown, and a late report may follow. */
export interface Opening {
  readonly whose: Whose
  readonly tool: string
  readonly assurance: 'enforced' | 'advised'
  readonly until: number
  readonly state: 'open' | 'late' | 'closed'
}

type Whose = Omit<Lost, 'kind'>

export const ownerOf = ({ tenant, principal }: Pick<Whose, 'tenant' | 'principal'>): string =>
  `principal ${tenant} ${principal ?? NOBODY}`
/** A generated session id uses the memory of its principal. */
export const remembered = (session: string, principal: string | undefined): string =>
  session.startsWith('mcp:') ? (principal ?? NOBODY) : session
export const sessionOf = (whose: Whose): string =>
  `${ownerOf(whose)} ${remembered(whose.session, whose.principal)}`

/** The whole memory. A record that was never written is in no map, and cannot be lost. */
export class Memory {
  readonly nothing: ModelPolicy
  readonly quota: Pace
  /** By tenant. */
  readonly policies = new Map<string, ModelPolicy>()
  /** The time of the newest turn. It never moves backwards. */
  time = 0
  readonly offers = new Map<string, string>()
  readonly pins = new Map<string, string>()
  readonly frozen = new Set<string>()
  /** The start and end of observe mode, by its target. */
  readonly observed = new Map<string, { readonly since: number; readonly until: number }>()
  readonly flooding = new Set<string>()
  readonly denials = new Map<string, Bucket>()
  readonly sessions = new Map<string, SessionMemory>()
  readonly data = new Map<string, Data>()
  readonly principals = new Map<string, typeof NEW_PRINCIPAL>()
  readonly tenants = new Map<string, typeof NEW_TENANT>()
  readonly trust = new Map<string, Trust>()
  readonly grants = new Map<number, Grant>()
  /** By number. A used request is removed. */
  readonly requests: (Request | undefined)[] = []
  /** By number. */
  readonly openings: Opening[] = []

  /** `nothing` is the policy of tenants without one. */
  constructor(nothing: ModelPolicy, quota: Pace) {
    this.nothing = nothing
    this.quota = quota
  }

  policyFor(tenant: string): ModelPolicy {
    return this.policies.get(tenant) ?? this.nothing
  }

  /** Forgets offers and quotas, which are not stored. The owner of a lost record is broken from now on. */
  restart(lost: Lost | undefined, delegation: number | undefined, written: number): void {
    this.policies.clear()
    this.offers.clear()
    this.denials.clear()
    if (lost) this.#lose(lost)
    for (const [number, grant] of this.grants) {
      if (grant.planted || grant.until < written) this.grants.delete(number)
      else if (number === delegation) this.grants.set(number, { ...grant, revoked: true })
    }
  }

  #lose(lost: Lost): void {
    const [name, owner] = [sessionOf(lost), ownerOf(lost)]
    const { kept, seq } = this.sessions.get(name) ?? NEW_SESSION
    const there = {
      session: kept && (() => this.sessions.set(name, { ...NEW_SESSION, seq, kept, broken: true })),
      provenance: this.data.has(name) && (() => this.data.set(name, { ...NO_DATA, broken: true })),
      principal:
        this.principals.has(owner) && (() => this.principals.set(owner, { ...NEW_PRINCIPAL, broken: true })),
      tenant:
        this.tenants.has(lost.tenant) &&
        (() => this.tenants.set(lost.tenant, { ...NEW_TENANT, broken: true })),
    }[lost.kind]
    if (there) there()
  }

  /** Closes a session and removes its records. Returns whether it existed. */
  close(whose: Whose, clock: number): boolean {
    this.time = Math.max(this.time, clock)
    const { seq, scope } = this.sessions.get(sessionOf(whose)) ?? NEW_SESSION
    this.data.delete(sessionOf(whose))
    this.sessions.set(sessionOf(whose), { ...NEW_SESSION, seq })
    return seq > 0 || scope !== undefined
  }
}
