// The types of all receipts. A new kind or field goes here and into `shapes.ts`.

import type { ReasonCode, Verdict } from './reasons.ts'

/** The effect classes, mildest first. */
export const EFFECT_CLASSES = ['read', 'write', 'delete', 'execute', 'send', 'pay', 'admin'] as const
/** The effect class of a tool. */
export type EffectClass = (typeof EFFECT_CLASSES)[number]

/** The tiers of principals, lowest first. */
export const TIERS = ['observer', 'standard', 'elevated', 'admin'] as const
/** The tier of a principal. */
export type Tier = (typeof TIERS)[number]

/** The doors that receipts name. */
export const DOORS = ['mcp', 'llm', 'hook', 'http', 'sdk', 'browser'] as const
/** The door of a call. */
export type Door = (typeof DOORS)[number]

/** The form of `author`: an MCP server that wrote the arguments instead of the principal. */
export const AUTHOR: RegExp = /^server:[a-z0-9][a-z0-9_-]{0,31}$/

/** The steps of the ladder, in order. */
export const LADDER_STEPS = [
  'capture',
  'freeze',
  'schema',
  'context',
  'identity',
  'browser',
  'egress',
  'taint',
  'threat',
  'delegation',
  'session-risk',
  'trust',
  'privilege',
  'scope',
  'policy',
  'temporal',
  'compliance',
] as const
/** The step that decided. `capture` means that the call could not be read. */
export type LadderStep = (typeof LADDER_STEPS)[number]

/**
 * How a hash commits to its content: `plain` is the SHA-256 of the canonical bytes, `salted` is `saltedHash`, `raw` is the
 * SHA-256 of unreadable bytes as received.
 */
export type Commit = 'plain' | 'salted' | 'raw'

/** The fields every receipt has. */
export interface Common {
  readonly v: 1
  /** Origin of the ledger. */
  readonly ledger: string
  readonly tenant: string
  /** The writer that appended it. Each writer has its own chain. */
  readonly writer: string
  /** Position in the chain of the writer, from 0. */
  readonly seq: number
  /** One more than the largest clock of its causes and of the writer's previous receipt. */
  readonly lamport_clock: number
  /** Id of the writer's previous receipt; 64 zeros for the first. */
  readonly prev_receipt_hash: string
  /** Ids of the receipts that caused this one. */
  readonly causes: readonly string[]
  readonly time: string
  /** Id of the key that signed it. */
  readonly key: string
}

/** The first entry of a ledger. It names the key of the ledger and is signed with it. */
export interface Genesis extends Common {
  readonly kind: 'genesis'
  readonly public_key: string
  readonly commit: 'plain' | 'salted'
  /** The ledger that this one replaces after an unrecoverable loss. */
  readonly succeeds?: { readonly ledger: string; readonly checkpoint_hash: string; readonly because: string }
}

/** The decision on a call. */
export interface Decision extends Common {
  readonly kind: 'decision'
  readonly principal: string
  readonly session: { readonly id: string; readonly seq: number }
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** `server:` and the name of the MCP server that wrote the arguments, if the principal did not. */
  readonly author?: string
  /** The person that the principal acts for, if the issuer of its access token names one. */
  readonly person?: string
  readonly tool: string
  readonly effect_class: EffectClass
  readonly args_hash: string
  readonly commit: Commit
  /** Hash of the pinned tool definition. */
  readonly definition_hash?: string
  readonly verdict: Verdict
  readonly reason_code: ReasonCode
  readonly rung: LadderStep
  readonly rule?: string
  /** Hash of the active policy text; 64 zeros if no policy is active. */
  readonly policy_hash: string
  /** Hash of the active steps. */
  readonly ladder: string
  /** Hash of the session state before this decision. */
  readonly state_hash: string
  /** Hash of the session state after this decision. */
  readonly next_state_hash: string
  /** Hash of all canonical inputs. */
  readonly evidence: string
  /** Id of the approval that this decision uses. */
  readonly approval?: string
  /** Id of the delegation that the call was made under. */
  readonly delegation?: string
  /** The objections to approve: for each its step, its reason code and its detail. */
  readonly asks?: readonly string[]
  /** Labels of the data in the call. */
  readonly labels?: readonly string[]
  /** Findings of the threat scanner in the call and in its sources. */
  readonly findings?: readonly string[]
  /** Ids of the compliance rules that applied. */
  readonly compliance?: readonly string[]
  /** The tier that an approval raised the session to, and its end. */
  readonly elevation?: { readonly tier: Tier; readonly until: string }
  /** The new trust of the principal, if this receipt changed it. */
  readonly trust?: string
  /** Hash of the new provenance of the session, if this receipt changed it. */
  readonly provenance_hash?: string
  /** Hash of the scope of the session; missing if it had none. */
  readonly scope_hash?: string
  /** Hash of the new scope, if an approval widened it. */
  readonly next_scope_hash?: string
  /** When an advised ALLOW expires. */
  readonly expires?: string
  readonly trajectory_risk_score: string
  readonly session_centroid_hash: string
  readonly risk_accumulation_window: number
  readonly browser?: Browser
}

/** How the element that a browser call names relates to the element that the agent saw. */
export const TARGET_STATES = ['bound', 'covered', 'moved', 'replaced', 'other-origin', 'unresolved'] as const
/** How the element that a browser call names relates to the element that the agent saw. */
export type TargetState = (typeof TARGET_STATES)[number]

/** The input of the browser guard: risk, hashes and the planner reference, never page text. */
export interface Browser {
  readonly sentinel_risk?: number
  readonly sentinel_findings: readonly string[]
  readonly dom_hash?: string
  readonly visual_text_hash?: string
  /** Digest of the plan: `sha256:` and 64 hexadecimal digits. Ledgers of version 0.1.0 can have any text here. */
  readonly planner_ref?: string
  /** The gateway derived the planner reference from the call: no planner gave one. */
  readonly planner_derived?: true
  /** Hostname of the page. */
  readonly page_host?: string
  readonly destination_host?: string
  /** The state of the element that the call acts on, if the gateway drives the browser. */
  readonly target_state?: TargetState
  /** Hash of its role, name, origin and box. */
  readonly target_hash?: string
  /** The gateway only attached to the browser and does not control its network. */
  readonly without_egress?: true
  /** Hash of what an approver sees of the page: URLs, hashes, plan, risk and findings. */
  readonly seen_hash?: string
  /** `seen_hash` at the time of the approval. */
  readonly approved_hash?: string
}

/** The outcome of an allowed call. */
export interface Effect extends Common {
  readonly kind: 'effect'
  /** Id of the decision that allowed it. */
  readonly decision: string
  readonly status: 'COMPLETED' | 'FAILED' | 'UNKNOWN' | 'CANCELLED'
  /** Why the outcome is UNKNOWN. */
  readonly cause?: 'crash' | 'timeout' | 'lost'
  readonly effect_hash?: string
  readonly commit: Commit
  readonly reported_by: 'gateway' | 'caller'
  readonly delivery: 'full' | 'redacted' | 'withheld'
  /** Set if the effect was already closed as UNKNOWN. */
  readonly late?: true
  /** Labels of the output. */
  readonly labels?: readonly string[]
  /** Findings of the threat scanner in the output. */
  readonly findings?: readonly string[]
  /** The new trust of the principal, if this receipt changed it. */
  readonly trust?: string
  /** Hash of the new provenance of the session, if this receipt changed it. */
  readonly provenance_hash?: string
}

/** A person's answer to an escalated call. */
export interface Approval extends Common {
  readonly kind: 'approval'
  /** Id of the ESCALATE decision. */
  readonly decision: string
  readonly answer: 'GRANTED' | 'REFUSED'
  /** Set if the approved call widens the scope of the session. */
  readonly widen?: true
  readonly approver: string
  /** The reason that the approver gave. */
  readonly because?: string
  /** For a browser call: `seen_hash` of the decision that the approver saw. */
  readonly seen_hash?: string
  readonly expires: string
}

/** A freeze set or lifted. */
export interface Freeze extends Common {
  readonly kind: 'freeze'
  readonly scope: 'all' | 'principal' | 'tool' | 'session'
  readonly target?: string
  readonly frozen: boolean
  readonly by: string
  readonly because?: string
  /** Number of calls that were denied without a receipt during the freeze. */
  readonly denials?: number
}

/** A policy activated. */
export interface PolicyActivation extends Common {
  readonly kind: 'policy'
  readonly policy_hash: string
  readonly name: string
  readonly by: string
}

/** A key added or retired, from the next index on. Signed by the key of the ledger. */
export interface KeyChange extends Common {
  readonly kind: 'key'
  readonly op: 'add' | 'retire'
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain the key signs. */
  readonly of?: string
  readonly public_key: string
}

/** A tool definition pinned or unpinned by a person. */
export interface Pin extends Common {
  readonly kind: 'pin'
  readonly op: 'pin' | 'unpin'
  readonly tool: string
  readonly definition_hash: string
  readonly by: string
}

/** An access token issued or revoked. */
export interface TokenChange extends Common {
  readonly kind: 'token'
  readonly op: 'issue' | 'revoke'
  /** SHA-256 of the token. */
  readonly token_hash: string
  readonly role: 'agent' | 'host' | 'sentinel' | 'operator' | 'admin' | 'auditor' | 'metrics'
  readonly principal?: string
  /** Groups of its owner. Rules name groups as approvers. */
  readonly groups?: readonly string[]
  /** When the token expires. */
  readonly expires?: string
  readonly by: string
}

/** A delegation registered or revoked. */
export interface Delegation extends Common {
  readonly kind: 'delegation'
  readonly op: 'grant' | 'revoke'
  /** SHA-256 of the signed delegation statement. */
  readonly delegation_hash: string
  readonly delegator: string
  readonly delegate: string
  /** Id of the delegation that this one narrows. */
  readonly parent?: string
  readonly expires: string
  readonly by: string
}

/**
 * A session opened with a scope, given a new scope, cleared of its risk (`reset`) or closed. `trust` resets the trust of its
 * principal.
 */
export interface SessionChange extends Common {
  readonly kind: 'session'
  readonly op: 'open' | 'scope' | 'reset' | 'close' | 'trust'
  readonly session: string
  readonly principal: string
  /** Hash of the new scope. */
  readonly scope_hash?: string
  /** The public part of the scope. */
  readonly scope?: ScopeShown
  /** Hash of the session state after the change. */
  readonly next_state_hash?: string
  /** The author of the change. */
  readonly by?: string
  /** Why a person made the change. */
  readonly because?: string
  /** Number of decisions of the session. */
  readonly decisions?: number
  /** The trust of the principal after the change. */
  readonly trust?: string
}

/** The sources of a scope. */
export const SCOPE_SOURCES = ['host', 'user', 'proposed'] as const
/** The source of a scope: the host application, the user, or a proposal from the user's words. */
export type ScopeSource = (typeof SCOPE_SOURCES)[number]

/** A scope in a receipt. `sinks` is only the number of allowed targets. A missing member is not limited. */
export interface ScopeShown {
  readonly effects?: readonly EffectClass[]
  readonly tools?: readonly string[]
  readonly sinks?: number
  readonly looked_up?: true
  readonly until?: string
  readonly by: ScopeSource
}

/** Observe mode switched on for a door or a principal for at most a day, or switched off. */
export interface Observe extends Common {
  readonly kind: 'observe'
  readonly scope: 'door' | 'principal'
  readonly target: string
  readonly on: boolean
  readonly until?: string
  readonly by: string
}

/** A restart after a crash, with the number of decisions closed as UNKNOWN. */
export interface Recovery extends Common {
  readonly kind: 'recovery'
  readonly closed: number
  readonly because: string
}

/** Number of calls of a principal that were denied without a receipt on one day, because its storage was used up. */
export interface Quota extends Common {
  readonly kind: 'quota'
  readonly of: 'storage'
  readonly principal: string
  /** The day in UTC: `2026-02-01`. */
  readonly day: string
  readonly denials: number
}

/** Requests of a guarded browser that the egress rules refused during one page load. They are not charged to the agent. */
export interface Blocked extends Common {
  readonly kind: 'blocked'
  readonly principal: string
  readonly session: string
  /** Host of the page; missing if the browser sent the requests without a page, and for several page loads. */
  readonly page_host?: string
  /** The number of page loads that it covers: more than one if there were too many receipts in a minute. */
  readonly pages: number
  /** The first 20 hosts, with a port if it is not 80 or 443. */
  readonly hosts: readonly string[]
  readonly requests: number
  /** How many of the requests went to other hosts than the first 20. */
  readonly more?: number
  /** Types of the requests, as far as the browser reported them. */
  readonly types: readonly string[]
}

/** The payload of a receipt. */
export type Receipt =
  | Genesis
  | Decision
  | Effect
  | Approval
  | Freeze
  | PolicyActivation
  | KeyChange
  | Pin
  | TokenChange
  | Delegation
  | SessionChange
  | Observe
  | Recovery
  | Quota
  | Blocked

/** The name of a kind. */
export type Kind = Receipt['kind']

/** The rule id of a decision that observe mode allowed. No policy can use this id. */
export const OBSERVE_RULE: string = 'observe'

/** How many hosts a `blocked` receipt names. */
export const MAX_BLOCKED_HOSTS = 20

/** The effect classes that observe mode never allows. */
export const NEVER_OBSERVED: ReadonlySet<EffectClass> = new Set(['delete', 'pay', 'admin'])

/** `prev_receipt_hash` of a writer's first receipt, and `policy_hash` if no policy is active. */
export const NO_HASH: string = '0'.repeat(64)
