// The kinds of receipt, as types. A new need is a new kind or a new field here and in `shapes.ts`, never a second shape.

import type { ReasonCode, Verdict } from './reasons.ts'

/** What a tool does to the world, mildest first. */
export const EFFECT_CLASSES = ['read', 'write', 'delete', 'execute', 'send', 'pay', 'admin'] as const
/** What a tool does to the world. */
export type EffectClass = (typeof EFFECT_CLASSES)[number]

/** Tiers, lowest first. */
export const TIERS = ['observer', 'standard', 'elevated', 'admin'] as const
/** How much a principal is trusted with. */
export type Tier = (typeof TIERS)[number]

/** The ways a call can come in. */
export const DOORS = ['mcp', 'llm', 'hook', 'http', 'sdk', 'browser'] as const
/** The way a call came in. */
export type Door = (typeof DOORS)[number]

/** What the author of arguments is called, where it is not the principal: an MCP server that asks its client something. */
export const AUTHOR: RegExp = /^server:[a-z0-9][a-z0-9_-]{0,31}$/

/** The rungs of the ladder, in their order. */
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
/** The place on the ladder that decided. `capture` stands before it: the call could not even be read. */
export type LadderStep = (typeof LADDER_STEPS)[number]

/**
 * How a hash commits to its content: `plain` SHA-256 of the canonical bytes, `salted` (see `saltedHash`), or `raw`:
 * SHA-256 of the bytes as they came, because they were not readable.
 */
export type Commit = 'plain' | 'salted' | 'raw'

/** The fields every receipt has. */
export interface Common {
  readonly v: 1
  /** Origin of the ledger. */
  readonly ledger: string
  readonly tenant: string
  /** Who appended it: a chain of its own. */
  readonly writer: string
  /** Place in the writer's chain, from 0. */
  readonly seq: number
  /** One more than the largest of its causes' and of the writer's last. */
  readonly lamport_clock: number
  /** Id of the writer's previous receipt; 64 zeros for its first. */
  readonly prev_receipt_hash: string
  /** Ids of receipts this one follows from. */
  readonly causes: readonly string[]
  readonly time: string
  /** Id of the key that signed it. */
  readonly key: string
}

/** The first entry of a ledger. Names its key; signed by it. */
export interface Genesis extends Common {
  readonly kind: 'genesis'
  readonly public_key: string
  readonly commit: 'plain' | 'salted'
  /** The ledger that this one continues after an unrecoverable loss. */
  readonly succeeds?: { readonly ledger: string; readonly checkpoint_hash: string; readonly because: string }
}

/** A judged call. */
export interface Decision extends Common {
  readonly kind: 'decision'
  readonly principal: string
  readonly session: { readonly id: string; readonly seq: number }
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** Who wrote the arguments, if the principal did not: `server:` and the name of the MCP server that asks. */
  readonly author?: string
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
  /** Hash of the active policy text; 64 zeros while none is active. */
  readonly policy_hash: string
  /** Hash of the active rungs. */
  readonly ladder: string
  /** Hash of the session state it was decided on. */
  readonly state_hash: string
  /** Hash of that state once this decision was counted in: what the session's next one is decided on. */
  readonly next_state_hash: string
  /** Hash of all canonical inputs. */
  readonly evidence: string
  /** Id of the approval that lifted an escalation. */
  readonly approval?: string
  /** Id of the delegation it was made under. */
  readonly delegation?: string
  /** What a person is asked about: of each rung that asks its name, its reason, and what exactly. */
  readonly asks?: readonly string[]
  /** Labels that the data of the call carries. */
  readonly labels?: readonly string[]
  /** What the threat scanner found in the call, and in what came with it. */
  readonly findings?: readonly string[]
  /** Ids of the compliance rules that applied. */
  readonly compliance?: readonly string[]
  /** The tier that an approval has raised the session to, and until when. */
  readonly elevation?: { readonly tier: Tier; readonly until: string }
  /** The principal's trust from here on, if this changed it. */
  readonly trust?: string
  /** Hash of what is remembered of the session's data from here on, if this changed it. */
  readonly provenance_hash?: string
  /** Hash of the scope that the session was in; absent if it had none. */
  readonly scope_hash?: string
  /** Hash of its scope from here on, if an approval has widened it. */
  readonly next_scope_hash?: string
  /** When an advised ALLOW ends. */
  readonly expires?: string
  readonly trajectory_risk_score: string
  readonly session_centroid_hash: string
  readonly risk_accumulation_window: number
  readonly browser?: Browser
}

/** What the browser guard judged: risk, hashes and the planner's reference, never page text. */
export interface Browser {
  readonly sentinel_risk?: number
  readonly sentinel_findings: readonly string[]
  readonly dom_hash?: string
  readonly visual_text_hash?: string
  /** Digest of the plan: `sha256:` and 64 hexadecimal digits. Ledgers of version 0.1.0 may have any text here. */
  readonly planner_ref?: string
  /** Host of the page itself. */
  readonly page_host?: string
  readonly destination_host?: string
  /** Hash of all that a person would be shown of the page: URLs, hashes, plan, risk and findings. */
  readonly seen_hash?: string
  /** The same, as it was when a person approved the call. */
  readonly approved_hash?: string
}

/** What a tool did. */
export interface Effect extends Common {
  readonly kind: 'effect'
  /** Id of the decision that allowed it. */
  readonly decision: string
  readonly status: 'COMPLETED' | 'FAILED' | 'UNKNOWN' | 'CANCELLED'
  /** Why it is not known. */
  readonly cause?: 'crash' | 'timeout' | 'lost'
  readonly effect_hash?: string
  readonly commit: Commit
  readonly reported_by: 'gateway' | 'caller'
  readonly delivery: 'full' | 'redacted' | 'withheld'
  /** It came after the effect had been closed as UNKNOWN. */
  readonly late?: true
  /** Labels that the output carries. */
  readonly labels?: readonly string[]
  /** What the threat scanner found in the output. */
  readonly findings?: readonly string[]
  /** The principal's trust from here on, if this changed it. */
  readonly trust?: string
  /** Hash of what is remembered of the session's data from here on, if this changed it. */
  readonly provenance_hash?: string
}

/** A person's answer to an escalated call. */
export interface Approval extends Common {
  readonly kind: 'approval'
  /** Id of the ESCALATE decision. */
  readonly decision: string
  readonly answer: 'GRANTED' | 'REFUSED'
  /** Using it widens the scope of the session by this call. */
  readonly widen?: true
  readonly approver: string
  /** Why, in the approver's words. */
  readonly because?: string
  /** For a browser call: hash of what the approver was shown of the page, as `seen_hash` of the decision has it. */
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
  /** How many calls were denied without a receipt of their own while it was frozen. */
  readonly denials?: number
}

/** A policy activated. */
export interface PolicyActivation extends Common {
  readonly kind: 'policy'
  readonly policy_hash: string
  readonly name: string
  readonly by: string
}

/** A key entering or leaving service; signed by the ledger's key. Valid from the next index on. */
export interface KeyChange extends Common {
  readonly kind: 'key'
  readonly op: 'add' | 'retire'
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain the key may sign. */
  readonly of?: string
  readonly public_key: string
}

/** A tool definition pinned or released by a person. */
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
  readonly role: 'agent' | 'host' | 'sentinel' | 'operator' | 'admin' | 'auditor'
  readonly principal?: string
  /** Groups its holder belongs to, which rules name as approvers. */
  readonly groups?: readonly string[]
  /** When it ends by itself. */
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
 * A session opened with a scope, given another one, freed of its risk (`reset`), or closed; closing states how many decisions it held.
 * `trust` is about its principal alone: how far it is trusted begins again.
 */
export interface SessionChange extends Common {
  readonly kind: 'session'
  readonly op: 'open' | 'scope' | 'reset' | 'close' | 'trust'
  readonly session: string
  readonly principal: string
  /** Hash of the scope from here on. */
  readonly scope_hash?: string
  /** What may be told of it. */
  readonly scope?: ScopeShown
  /** Hash of what is remembered of the session from here on. */
  readonly next_state_hash?: string
  /** Who did it. */
  readonly by?: string
  /** Why a person did it. */
  readonly because?: string
  /** How many decisions it has had. */
  readonly decisions?: number
  /** How far the principal is trusted from here on. */
  readonly trust?: string
}

/** Where a scope can come from. */
export const SCOPE_SOURCES = ['host', 'user', 'proposed'] as const
/** Where a scope comes from: the application, the person it works for, or that person's words. */
export type ScopeSource = (typeof SCOPE_SOURCES)[number]

/** A scope as a receipt shows it: where data may go only as a number. What is left out is not limited. */
export interface ScopeShown {
  readonly effects?: readonly EffectClass[]
  readonly tools?: readonly string[]
  readonly sinks?: number
  readonly looked_up?: true
  readonly until?: string
  readonly by: ScopeSource
}

/** Observe mode switched on for a door or a principal, for at most a day, or off. */
export interface Observe extends Common {
  readonly kind: 'observe'
  readonly scope: 'door' | 'principal'
  readonly target: string
  readonly on: boolean
  readonly until?: string
  readonly by: string
}

/** A restart after a crash: how many open decisions it closed as UNKNOWN. */
export interface Recovery extends Common {
  readonly kind: 'recovery'
  readonly closed: number
  readonly because: string
}

/** How many calls of a principal were denied without a receipt of their own, once it had used up what it may have on a day. */
export interface Quota extends Common {
  readonly kind: 'quota'
  readonly of: 'storage'
  readonly principal: string
  /** The day, by UTC: `2026-02-01`. */
  readonly day: string
  readonly denials: number
}

/** Any receipt's payload. */
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

/** The name of a kind. */
export type Kind = Receipt['kind']

/** The rule that a decision names where no rule matched and observe mode let the call pass. No policy has one of this id. */
export const OBSERVE_RULE: string = 'observe'

/** The classes of effect that observe mode never lets pass. */
export const NEVER_OBSERVED: ReadonlySet<EffectClass> = new Set(['delete', 'pay', 'admin'])

/** `prev_receipt_hash` of a writer's first receipt, and `policy_hash` while no policy is active. */
export const NO_HASH: string = '0'.repeat(64)
