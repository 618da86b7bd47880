// Collects observed calls from ledger entries, with the decision, the kept call and any reason not to learn from its session.

import {
  canonicalize,
  sha256Hex,
  type Approval,
  type Decision,
  type Effect,
  type Freeze,
  type Json,
  type ReasonCode,
} from '@tollgate/evidence'
import { readKeptCall, whyUnreadable, type KeptCall } from '@tollgate/kernel'
import { FLOOD_GUARD } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import { policyOfRules, withDestinations } from './check.ts'
import type { ObservedCall } from './observed.ts'

/** Selects calls. All given conditions must match. */
export interface CallFilter {
  /** Also includes calls that were denied because no rule matched or the tool is not declared. */
  readonly denied?: boolean
  /** Not before this time, in milliseconds. */
  readonly since?: number
  readonly session?: string
  readonly principal?: string
  readonly tool?: string
}

export interface Gathered {
  readonly calls: readonly ObservedCall[]
  /** Selected calls that were not kept or do not match their receipt. */
  readonly unkept: number
  /** Selected calls that were kept but cannot be read, by cause. */
  readonly unreadable: ReadonlyMap<string, number>
  /** Selected calls beyond the limit. The oldest calls are used. */
  readonly more: number
  /** Calls that were denied because no rule matched or the tool is not declared, selected or not. */
  readonly denied: number
  /** Denied calls that match the filter and are left out, by reason code. */
  readonly rejected: ReadonlyMap<string, number>
}

/** Takes entries, in the order of the ledger. */
interface Gatherer {
  take(entry: TraceEntry): void
  /** Hash of the newest activated policy; undefined if there is none. */
  policyHash(): string | undefined
  /** Returns the results. Destinations are computed with the policy. */
  finish(policy: Policy | undefined): Gathered
}

interface FoundCall {
  readonly id: string
  readonly decision: Decision
  readonly kept: KeptCall
}

const MAX_CALLS = 100_000

export function createGatherer(wanted: CallFilter = {}): Gatherer {
  const found: FoundCall[] = []
  // The session of each decision that can have an effect or approval.
  const sessions = new Map<string, string>()
  const dirt = new Map<string, string>()
  // Nothing is learned from frozen principals and sessions, even after the freeze was lifted.
  const frozen = new Set<string>()
  const facts = { unkept: 0, more: 0, denied: 0 }
  const unreadable = new Map<string, number>()
  const rejected = new Map<string, number>()
  let policy: string | undefined
  const soil = (session: string | undefined, why: string | undefined): void => {
    if (session !== undefined && why !== undefined && !dirt.has(session)) dirt.set(session, why)
  }
  const takeDecision = (id: string, decision: Decision, kept: string | undefined): void => {
    const session = keyOfSession(decision)
    soil(session, againstDecision(decision))
    if (decision.verdict !== 'DENY') sessions.set(id, session)
    if (UNRULED.has(decision.reason_code)) facts.denied++
    if (!fitsFilter(decision, wanted)) return
    if (!isUsable(decision, wanted)) {
      if (decision.verdict === 'DENY') tally(rejected, decision.reason_code)
      return
    }
    const call = readKeptCall(kept)
    const why = whyUnreadable(kept)
    if (why !== undefined) tally(unreadable, why)
    else if (!call || !fits(call, decision)) facts.unkept++
    else if (found.length >= MAX_CALLS) facts.more++
    else found.push({ id, decision, kept: call })
  }
  return {
    take({ id, receipt, kept }) {
      if (receipt.kind === 'decision') takeDecision(id, receipt, kept)
      else if (receipt.kind === 'effect') soil(sessions.get(receipt.decision), againstEffect(receipt))
      else if (receipt.kind === 'approval') soil(sessions.get(receipt.decision), againstAnswer(receipt))
      else if (receipt.kind === 'policy') policy = receipt.policy_hash
      else if (receipt.kind === 'freeze' && isByPerson(receipt)) frozen.add(keyOfFreeze(receipt))
    },
    policyHash: () => policy,
    finish(current) {
      const judged = current ?? policyOfRules('rules: []\n')
      const against = (decision: Decision): string | undefined =>
        dirt.get(keyOfSession(decision)) ?? againstFrozen(decision, frozen)
      return {
        ...facts,
        unreadable,
        rejected,
        calls: found.map((each) => observedOf(each, against(each.decision), judged)),
      }
    },
  }
}

function keyOfSession({ tenant, principal, session }: Decision): string {
  return JSON.stringify([tenant, principal, session.id])
}

function keyOfFreeze({ tenant, scope, target = '' }: Pick<Freeze, 'tenant' | 'scope' | 'target'>): string {
  return JSON.stringify([tenant, scope, target])
}

function againstFrozen(
  { tenant, principal, session }: Decision,
  frozen: ReadonlySet<string>,
): string | undefined {
  if (frozen.has(keyOfFreeze({ tenant, scope: 'session', target: session.id }))) return 'it was frozen'
  return frozen.has(keyOfFreeze({ tenant, scope: 'principal', target: principal }))
    ? 'its principal was frozen'
    : undefined
}

// Labels that make a session unusable for learning.
const GRAVE: readonly string[] = ['secret', 'flagged', 'card', 'personal']

// The default threshold of the session-risk gate.
const TOO_RISKY = 0.38

/** Denials because the policy has no rule or no declaration. A rule can be learned from such a call. */
const UNRULED: ReadonlySet<ReasonCode> = new Set(['NO_RULE_MATCHED', 'TOOL_NOT_DECLARED'])

// After such a denial the whole session may be under attack. Any other denial leaves out only the denied call.
const HOSTILE: ReadonlySet<ReasonCode> = new Set([
  'PROMPT_INJECTION_DETECTED',
  'UNICODE_OBFUSCATION_DETECTED',
  'COMMAND_ATTACK_DETECTED',
  'TAINTED_DATA_EGRESS_DENY',
  'UNTRUSTED_VALUE_DENY',
  'IDENTITY_ISOLATION_VIOLATION',
  'DELEGATION_SCOPE_VIOLATION',
  'COGNITIVE_FIREWALL_SENTINEL_DENY',
  'SESSION_RISK_MEMORY_DENY',
])

/** Whether a person froze it. The gateway freezes a principal after too many denials; its other calls can still be used. */
function isByPerson({ frozen, by }: Freeze): boolean {
  return frozen && by !== FLOOD_GUARD
}

function tally(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function againstDecision(decision: Decision): string | undefined {
  const { verdict, reason_code, findings = [], labels = [], trajectory_risk_score: risk } = decision
  if (findings.length > 0) return 'a call has findings'
  const grave = labels.find((label) => GRAVE.includes(label))
  if (grave !== undefined) return `a call had data labelled \`${grave}\``
  if (verdict === 'DENY' && HOSTILE.has(reason_code)) return `a call was denied, ${reason_code}`
  // NaN counts as too risky.
  return Number(risk) < TOO_RISKY ? undefined : `its risk reached ${TOO_RISKY} or more`
}

function againstEffect({ delivery, findings = [], labels = [] }: Effect): string | undefined {
  if (delivery === 'withheld') return 'a result was withheld'
  if (findings.length > 0) return 'a result has findings'
  const grave = labels.find((label) => GRAVE.includes(label))
  return grave === undefined ? undefined : `a result had data labelled \`${grave}\``
}

function againstAnswer({ answer }: Approval): string | undefined {
  return answer === 'REFUSED' ? 'a person denied a call' : undefined
}

function isUsable({ reason_code: reason }: Decision, { denied = false }: CallFilter): boolean {
  return reason === 'OBSERVE_MODE_ALLOWED' || (denied && UNRULED.has(reason))
}

function fitsFilter(decision: Decision, { since = 0, session, principal, tool }: CallFilter): boolean {
  return (
    Date.parse(decision.time) >= since &&
    (session === undefined || decision.session.id === session) &&
    (principal === undefined || decision.principal === principal) &&
    (tool === undefined || decision.tool === tool)
  )
}

/** Whether the kept arguments match the commitment in the receipt. A salted commitment cannot be checked. */
function fits({ args, unreadable }: KeptCall, { args_hash, commit }: Decision): boolean {
  if (unreadable !== undefined || commit === 'raw') return false
  const text = textOf(args)
  return text !== undefined && (commit === 'salted' || sha256Hex(text) === args_hash)
}

function textOf(args: Json): string | undefined {
  try {
    return canonicalize(args)
  } catch {
    // Damaged: treated as not kept.
    return undefined
  }
}

function observedOf(
  { id, decision, kept }: FoundCall,
  why: string | undefined,
  policy: Policy,
): ObservedCall {
  const { environment, workspace } = kept.context
  const call = {
    receipt: id,
    time: decision.time,
    session: decision.session.id,
    principal: decision.principal,
    door: decision.door,
    tool: decision.tool,
    effect: decision.effect_class,
    args: kept.args,
    clean: why === undefined,
    ...(why !== undefined && { why }),
    tenant: decision.tenant,
    ...(environment !== undefined && { environment }),
    ...(workspace !== undefined && { workspace }),
    ...(kept.place && { place: kept.place }),
  }
  return withDestinations(policy, call, kept.browser ? { browser: kept.browser } : {})
}
