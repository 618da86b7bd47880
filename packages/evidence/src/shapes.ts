// The fields of every kind of receipt, and the rules between them.

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
import {
  AUTHOR,
  DOORS,
  EFFECT_CLASSES,
  NEVER_OBSERVED,
  NO_HASH,
  OBSERVE_RULE,
  LADDER_STEPS,
  MAX_BLOCKED_HOSTS,
  SCOPE_SOURCES,
  TARGET_STATES,
  TIERS,
  type Approval,
  type Blocked,
  type Browser,
  type Common,
  type Decision,
  type Delegation,
  type Effect,
  type Freeze,
  type Genesis,
  type KeyChange,
  type Kind,
  type Observe,
  type Pin,
  type PolicyActivation,
  type Quota,
  type Receipt,
  type Recovery,
  type ScopeShown,
  type SessionChange,
  type TokenChange,
} from './kinds.ts'
import { reasonOf, VERDICTS } from './reasons.ts'

type Own<R extends Receipt> = Readonly<Record<Exclude<keyof R, keyof Common>, Field>>

const name = text(256)
const sentence = text(500)
const day = form('a day such as `2026-02-01`', /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/)
const writer = form('a name of a-z, 0-9, dot and dash, at most 63 long', /^[a-z0-9][a-z0-9.-]{0,62}$/)
const origin = textThat('the name of a ledger', isOrigin)
const commit = word('plain', 'salted', 'raw')
const label = form('a label of a-z, 0-9 and dash, at most 32 long', /^[a-z][a-z0-9-]{0,31}$/)
const finding = form('a finding code', /^[A-Z][A-Z0-9_]{0,63}$/)
const ruleId = text(100)
const requestType = form('a type of request such as `image`', /^[a-z]{1,24}$/)
const author = form('`server:` and the name of a server', AUTHOR)

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
  sentinel_findings: list(finding, 32),
  dom_hash: optional(hash),
  visual_text_hash: optional(hash),
  planner_ref: optional(name),
  planner_derived: optional(only(true)),
  page_host: optional(text(260)),
  destination_host: optional(text(260)),
  target_state: optional(word(...TARGET_STATES)),
  target_hash: optional(hash),
  without_egress: optional(only(true)),
  seen_hash: optional(hash),
  approved_hash: optional(hash),
} satisfies Readonly<Record<keyof Browser, Field>>

const scope = {
  effects: optional(list(word(...EFFECT_CLASSES), EFFECT_CLASSES.length)),
  tools: optional(list(name, 256)),
  sinks: optional(count(1 << 16)),
  looked_up: optional(only(true)),
  until: optional(moment),
  by: word(...SCOPE_SOURCES),
} satisfies Readonly<Record<keyof ScopeShown, Field>>

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
    author: optional(author),
    person: optional(name),
    tool: name,
    effect_class: word(...EFFECT_CLASSES),
    args_hash: hash,
    commit,
    definition_hash: optional(hash),
    verdict: word(...VERDICTS),
    reason_code: textThat('a reason code of the table', (code) => reasonOf(code) !== undefined),
    rung: word(...LADDER_STEPS),
    rule: optional(ruleId),
    policy_hash: hash,
    ladder: hash,
    state_hash: hash,
    next_state_hash: hash,
    evidence: hash,
    approval: optional(hash),
    delegation: optional(hash),
    asks: optional(list(sentence, 16)),
    labels: optional(list(label, 32)),
    findings: optional(list(finding, 32)),
    compliance: optional(list(ruleId, 16)),
    elevation: optional(record({ tier: word(...TIERS), until: moment })),
    trust: optional(decimal),
    provenance_hash: optional(hash),
    scope_hash: optional(hash),
    next_scope_hash: optional(hash),
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
    labels: optional(list(label, 32)),
    findings: optional(list(finding, 32)),
    trust: optional(decimal),
    provenance_hash: optional(hash),
  } satisfies Own<Effect>,
  approval: {
    kind: word('approval'),
    decision: hash,
    answer: word('GRANTED', 'REFUSED'),
    widen: optional(only(true)),
    approver: name,
    because: optional(sentence),
    seen_hash: optional(hash),
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
    role: word('agent', 'host', 'sentinel', 'operator', 'admin', 'auditor', 'metrics'),
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
    parent: optional(hash),
    expires: moment,
    by: name,
  } satisfies Own<Delegation>,
  session: {
    kind: word('session'),
    op: word('open', 'scope', 'reset', 'close', 'trust'),
    session: name,
    principal: name,
    scope_hash: optional(hash),
    scope: optional(record(scope)),
    next_state_hash: optional(hash),
    by: optional(name),
    because: optional(sentence),
    decisions: optional(count()),
    trust: optional(decimal),
  } satisfies Own<SessionChange>,
  observe: {
    kind: word('observe'),
    scope: word('door', 'principal'),
    target: name,
    on: flag,
    until: optional(moment),
    by: name,
  } satisfies Own<Observe>,
  recovery: {
    kind: word('recovery'),
    closed: count(),
    because: sentence,
  } satisfies Own<Recovery>,
  quota: {
    kind: word('quota'),
    of: word('storage'),
    principal: name,
    day,
    denials: count(),
  } satisfies Own<Quota>,
  blocked: {
    kind: word('blocked'),
    principal: name,
    session: name,
    page_host: optional(text(260)),
    pages: count(),
    hosts: list(text(260), MAX_BLOCKED_HOSTS),
    requests: count(),
    more: optional(count()),
    types: list(requestType, 16),
  } satisfies Own<Blocked>,
} satisfies Record<Kind, Fields>

/** The names of all kinds. */
// Sound: `satisfies` above checks that the keys are the kinds.
export const KINDS: readonly Kind[] = Object.keys(own) as Kind[]

/** The shape of every kind, with the common fields. */
// Sound: built from all kinds.
export const SHAPES: Readonly<Record<Kind, Shape>> = Object.fromEntries(
  KINDS.map((kind): [Kind, Shape] => [kind, shape({ ...common, ...own[kind] })]),
) as Record<Kind, Shape>

/** Describes a contradiction between valid fields of a receipt; undefined if there is none. */
export function contradictionIn(receipt: Receipt): string | undefined {
  switch (receipt.kind) {
    case 'decision':
      return contradictionInDecision(receipt)
    case 'effect':
      return contradictionInEffect(receipt)
    case 'freeze':
      return (
        needs((receipt.scope === 'all') !== (receipt.target !== undefined), '`target` belongs to a scope') ??
        needs(!receipt.frozen || receipt.denials === undefined, '`denials` belongs to lifting')
      )
    case 'key':
      return needs((receipt.role === 'writer') === (receipt.of !== undefined), '`of` belongs to writers')
    case 'session':
      return contradictionInSession(receipt)
    case 'approval':
      return needs(receipt.widen === undefined || receipt.answer === 'GRANTED', '`widen` belongs to GRANTED')
    case 'observe':
      return contradictionInObserve(receipt)
    case 'blocked':
      return contradictionInBlocked(receipt)
    case 'genesis':
    case 'policy':
    case 'pin':
    case 'token':
    case 'delegation':
    case 'recovery':
    case 'quota':
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
      '`expires` belongs to an advised ALLOW',
    ) ??
    needs(
      decision.policy_hash !== NO_HASH || decision.verdict === 'DENY',
      'without a policy the verdict must be DENY',
    ) ??
    needs(
      (decision.reason_code === 'APPROVAL_GRANTED') === (decision.approval !== undefined),
      '`approval` belongs to APPROVAL_GRANTED',
    ) ??
    needs(
      decision.reason_code !== 'ASKED_IN_CLIENT' ||
        (decision.door === 'hook' && decision.assurance === 'advised' && decision.rung === 'policy'),
      'ASKED_IN_CLIENT belongs to an advised decision of the policy at the door `hook`',
    ) ??
    needs(decision.verdict === 'ESCALATE' || decision.asks === undefined, '`asks` belongs to ESCALATE') ??
    needs(
      (decision.reason_code === 'OBSERVE_MODE_ALLOWED') === (decision.rule === OBSERVE_RULE),
      'the rule `observe` belongs to OBSERVE_MODE_ALLOWED',
    ) ??
    needs(
      decision.rule !== OBSERVE_RULE || !NEVER_OBSERVED.has(decision.effect_class),
      'observe mode does not allow this effect class',
    ) ??
    needs(
      decision.elevation === undefined || (decision.approval !== undefined && decision.rung === 'privilege'),
      '`elevation` belongs to an approval at the step `privilege`',
    ) ??
    needs(
      decision.next_scope_hash === undefined || decision.approval !== undefined,
      '`next_scope_hash` belongs to an approval',
    ) ??
    needs(
      decision.browser?.approved_hash === undefined || decision.approval !== undefined,
      '`approved_hash` belongs to an approval',
    )
  )
}

type ChangeField = Exclude<keyof Own<SessionChange>, 'kind' | 'op' | 'session' | 'principal'>

const SCOPED: readonly ChangeField[] = ['scope_hash', 'scope', 'next_state_hash', 'by', 'decisions']
const BY_A_PERSON: readonly ChangeField[] = ['by', 'because']

/** The allowed sets of further fields for each change of a session. */
const CHANGE_FIELDS: Readonly<Record<SessionChange['op'], readonly (readonly ChangeField[])[]>> = {
  open: [[], ['scope_hash'], SCOPED],
  scope: [SCOPED],
  reset: [['next_state_hash', 'decisions', ...BY_A_PERSON]],
  close: [['decisions'], ['decisions', ...BY_A_PERSON]],
  trust: [['trust', ...BY_A_PERSON]],
}

const ALL_CHANGE_FIELDS: readonly ChangeField[] = [...new Set(Object.values(CHANGE_FIELDS).flat(2))]

function contradictionInSession(change: SessionChange): string | undefined {
  const lists = CHANGE_FIELDS[change.op]
  const present = ALL_CHANGE_FIELDS.filter((name) => change[name] !== undefined)
  const fits = lists.some(
    (list) => list.length === present.length && present.every((name) => list.includes(name)),
  )
  const known = lists.map((list) => list.map((name) => `\`${name}\``).join(', ') || 'nothing else')
  return needs(fits, `\`op\` \`${change.op}\` requires ${known.join('; or ')}`)
}

const DAY = 86_400_000

function contradictionInObserve({ scope, target, on, until, time }: Observe): string | undefined {
  return (
    needs(on === (until !== undefined), '`until` belongs to switching on') ??
    needs(
      until === undefined || Date.parse(until) <= Date.parse(time) + DAY,
      'observe mode is limited to a day',
    ) ??
    needs(scope !== 'door' || DOORS.some((door) => door === target), '`target` is not a door')
  )
}

function contradictionInEffect({ status, cause, effect_hash, late }: Effect): string | undefined {
  const ended = status === 'COMPLETED' || status === 'FAILED'
  return (
    needs((status === 'UNKNOWN') === (cause !== undefined), '`cause` belongs to UNKNOWN') ??
    needs(status !== 'COMPLETED' || effect_hash !== undefined, 'COMPLETED needs `effect_hash`') ??
    needs(ended || effect_hash === undefined, '`effect_hash` belongs to COMPLETED and FAILED') ??
    needs(ended || late === undefined, '`late` belongs to COMPLETED and FAILED')
  )
}

function contradictionInBlocked({ page_host, pages, hosts, requests, more }: Blocked): string | undefined {
  return (
    needs(hosts.length > 0, '`hosts` is empty') ??
    needs(requests >= hosts.length + (more ?? 0), '`requests` is smaller than the number of hosts') ??
    needs(
      more === undefined || hosts.length === MAX_BLOCKED_HOSTS,
      `\`more\` belongs to ${MAX_BLOCKED_HOSTS} hosts`,
    ) ??
    needs(page_host === undefined || pages === 1, '`page_host` belongs to one page load')
  )
}

function needs(holds: boolean, problem: string): string | undefined {
  return holds ? undefined : problem
}
