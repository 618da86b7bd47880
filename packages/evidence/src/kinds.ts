// The kinds of receipt: for each its type, its field table and the rules between fields. A new need is a new kind or a
// new field in this file, never a second shape.

import { isOrigin } from './checkpoint.ts'
import {
  bytes32,
  count,
  decimal,
  flag,
  form,
  hash,
  list,
  moment,
  only,
  optional,
  record,
  shape,
  text,
  textThat,
  word,
  type Field,
  type Fields,
  type Shape,
} from './fields.ts'
import { reasonOf, VERDICTS, type ReasonCode, type Verdict } from './reasons.ts'

/** What a tool does to the world, mildest first. */
export const EFFECT_CLASSES = ['read', 'write', 'delete', 'execute', 'send', 'pay', 'admin'] as const
/** What a tool does to the world. */
export type EffectClass = (typeof EFFECT_CLASSES)[number]

/** The ways a call can come in. */
export const DOORS = ['mcp', 'llm', 'hook', 'http', 'sdk', 'browser'] as const
/** The way a call came in. */
export type Door = (typeof DOORS)[number]

/** The rungs of the ladder, in their order. */
export const RUNGS = [
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
export type Rung = (typeof RUNGS)[number]

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
  readonly tool: string
  readonly effect_class: EffectClass
  readonly args_hash: string
  readonly commit: Commit
  /** Hash of the pinned tool definition. */
  readonly definition_hash?: string
  readonly verdict: Verdict
  readonly reason_code: ReasonCode
  readonly rung: Rung
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
  readonly planner_ref?: string
  readonly destination_host?: string
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
}

/** A person's answer to an escalated call. */
export interface Approval extends Common {
  readonly kind: 'approval'
  /** Id of the ESCALATE decision. */
  readonly decision: string
  readonly answer: 'GRANTED' | 'REFUSED'
  readonly approver: string
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
  readonly role: 'agent' | 'sentinel' | 'operator' | 'admin' | 'auditor'
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
  readonly expires: string
}

/** A session opened or closed; closing states how many decisions it held. */
export interface SessionChange extends Common {
  readonly kind: 'session'
  readonly op: 'open' | 'close'
  readonly session: string
  readonly principal: string
  readonly scope_hash?: string
  readonly decisions?: number
}

/** Observe mode switched on for a time, or off. */
export interface Observe extends Common {
  readonly kind: 'observe'
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

/** The name of a kind. */
export type Kind = Receipt['kind']

/** `prev_receipt_hash` of a writer's first receipt, and `policy_hash` while no policy is active. */
export const NO_HASH: string = '0'.repeat(64)

type Own<R extends Receipt> = Readonly<Record<Exclude<keyof R, keyof Common>, Field>>

const name = text(256)
const sentence = text(500)
const writer = form('a name of a-z, 0-9, dot and dash, at most 63 long', /^[a-z0-9][a-z0-9.-]{0,62}$/)
const origin = textThat('the name of a ledger', isOrigin)
const commit = word('plain', 'salted', 'raw')

const common = {
  v: only(1),
  ledger: origin,
  tenant: name,
  writer,
  seq: count(),
  lamport_clock: count(),
  prev_receipt_hash: hash,
  causes: list(hash, 16),
  time: moment,
  key: hash,
} satisfies Readonly<Record<keyof Common, Field>>

const browser = {
  sentinel_risk: optional(count(100)),
  sentinel_findings: list(form('a finding code', /^[A-Z][A-Z0-9_]{0,63}$/), 32),
  dom_hash: optional(hash),
  visual_text_hash: optional(hash),
  planner_ref: optional(name),
  destination_host: optional(text(260)),
} satisfies Readonly<Record<keyof Browser, Field>>

const own = {
  genesis: {
    kind: word('genesis'),
    public_key: bytes32,
    commit: word('plain', 'salted'),
    succeeds: optional(record({ ledger: origin, checkpoint_hash: hash, because: sentence })),
  } satisfies Own<Genesis>,
  decision: {
    kind: word('decision'),
    principal: name,
    session: record({ id: name, seq: count() }),
    door: word(...DOORS),
    assurance: word('enforced', 'advised'),
    tool: name,
    effect_class: word(...EFFECT_CLASSES),
    args_hash: hash,
    commit,
    definition_hash: optional(hash),
    verdict: word(...VERDICTS),
    reason_code: textThat('a reason code of the table', (code) => reasonOf(code) !== undefined),
    rung: word(...RUNGS),
    rule: optional(text(100)),
    policy_hash: hash,
    ladder: hash,
    state_hash: hash,
    next_state_hash: hash,
    evidence: hash,
    approval: optional(hash),
    delegation: optional(hash),
    expires: optional(moment),
    trajectory_risk_score: decimal,
    session_centroid_hash: hash,
    risk_accumulation_window: count(10_000),
    browser: optional(record(browser)),
  } satisfies Own<Decision>,
  effect: {
    kind: word('effect'),
    decision: hash,
    status: word('COMPLETED', 'FAILED', 'UNKNOWN', 'CANCELLED'),
    cause: optional(word('crash', 'timeout', 'lost')),
    effect_hash: optional(hash),
    commit,
    reported_by: word('gateway', 'caller'),
    delivery: word('full', 'redacted', 'withheld'),
    late: optional(only(true)),
  } satisfies Own<Effect>,
  approval: {
    kind: word('approval'),
    decision: hash,
    answer: word('GRANTED', 'REFUSED'),
    approver: name,
    expires: moment,
  } satisfies Own<Approval>,
  freeze: {
    kind: word('freeze'),
    scope: word('all', 'principal', 'tool', 'session'),
    target: optional(name),
    frozen: flag,
    by: name,
    because: optional(sentence),
    denials: optional(count()),
  } satisfies Own<Freeze>,
  policy: {
    kind: word('policy'),
    policy_hash: hash,
    name,
    by: name,
  } satisfies Own<PolicyActivation>,
  key: {
    kind: word('key'),
    op: word('add', 'retire'),
    role: word('ledger', 'writer'),
    of: optional(writer),
    public_key: bytes32,
  } satisfies Own<KeyChange>,
  pin: {
    kind: word('pin'),
    op: word('pin', 'unpin'),
    tool: name,
    definition_hash: hash,
    by: name,
  } satisfies Own<Pin>,
  token: {
    kind: word('token'),
    op: word('issue', 'revoke'),
    token_hash: hash,
    role: word('agent', 'sentinel', 'operator', 'admin', 'auditor'),
    principal: optional(name),
    groups: optional(list(name, 32)),
    expires: optional(moment),
    by: name,
  } satisfies Own<TokenChange>,
  delegation: {
    kind: word('delegation'),
    op: word('grant', 'revoke'),
    delegation_hash: hash,
    delegator: name,
    delegate: name,
    expires: moment,
  } satisfies Own<Delegation>,
  session: {
    kind: word('session'),
    op: word('open', 'close'),
    session: name,
    principal: name,
    scope_hash: optional(hash),
    decisions: optional(count()),
  } satisfies Own<SessionChange>,
  observe: {
    kind: word('observe'),
    on: flag,
    until: optional(moment),
    by: name,
  } satisfies Own<Observe>,
  recovery: {
    kind: word('recovery'),
    closed: count(),
    because: sentence,
  } satisfies Own<Recovery>,
} satisfies Record<Kind, Fields>

/** The names of all kinds. */
// Sound: the table has exactly the kinds as its keys, checked above.
export const KINDS: readonly Kind[] = Object.keys(own) as Kind[]

/** The shape of every kind, the common fields included. */
// Sound: built from every kind there is.
export const SHAPES: Readonly<Record<Kind, Shape>> = Object.fromEntries(
  KINDS.map((kind): [Kind, Shape] => [kind, shape({ ...common, ...own[kind] })]),
) as Record<Kind, Shape>

/** What is wrong between the fields of a receipt, each being right by itself; undefined if nothing is. */
export function contradictionIn(receipt: Receipt): string | undefined {
  switch (receipt.kind) {
    case 'decision':
      return contradictionInDecision(receipt)
    case 'effect':
      return contradictionInEffect(receipt)
    case 'freeze':
      return (
        needs((receipt.scope === 'all') !== (receipt.target !== undefined), '`target` goes with a scope') ??
        needs(!receipt.frozen || receipt.denials === undefined, '`denials` goes with lifting')
      )
    case 'key':
      return needs((receipt.role === 'writer') === (receipt.of !== undefined), '`of` goes with writers')
    case 'session':
      return needs(
        (receipt.op === 'close') === (receipt.decisions !== undefined),
        '`decisions` goes with closing',
      )
    case 'observe':
      return needs(receipt.on === (receipt.until !== undefined), '`until` goes with switching on')
    case 'genesis':
    case 'approval':
    case 'policy':
    case 'pin':
    case 'token':
    case 'delegation':
    case 'recovery':
      return undefined
  }
}

function contradictionInDecision(decision: Decision): string | undefined {
  return (
    needs(
      reasonOf(decision.reason_code)?.verdict === decision.verdict,
      '`reason_code` belongs to another verdict',
    ) ??
    needs(
      (decision.verdict === 'ALLOW' && decision.assurance === 'advised') === (decision.expires !== undefined),
      '`expires` goes with an advised ALLOW',
    ) ??
    needs(
      decision.policy_hash !== NO_HASH || decision.verdict === 'DENY',
      'without a policy only DENY is possible',
    ) ??
    needs(
      (decision.reason_code === 'APPROVAL_GRANTED') === (decision.approval !== undefined),
      '`approval` goes with APPROVAL_GRANTED',
    )
  )
}

function contradictionInEffect({ status, cause, effect_hash, late }: Effect): string | undefined {
  const ended = status === 'COMPLETED' || status === 'FAILED'
  return (
    needs((status === 'UNKNOWN') === (cause !== undefined), '`cause` goes with UNKNOWN') ??
    needs(status !== 'COMPLETED' || effect_hash !== undefined, 'COMPLETED needs `effect_hash`') ??
    needs(ended || effect_hash === undefined, '`effect_hash` goes with an effect that ended') ??
    needs(ended || late === undefined, '`late` goes with an effect that ended')
  )
}

function needs(held: boolean, otherwise: string): string | undefined {
  return held ? undefined : otherwise
}
