// Collects observed calls from ledger entries, with the decision, the kept call and any reason not to learn from its session.

import {
  canonicalize,
  sha256Hex,
  type Approval,
  type Decision,
  type Effect,
  type Freeze,
  type Json,
} from '@tollgate/evidence'
import { readKeptCall, whyUnreadable, type KeptCall } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import { tryCall, type TraceEntry } from '@tollgate/kernel/workbench'
import { policyOfRules } from './check.ts'
import { callOf, type ObservedCall } from './observed.ts'

/** Selects calls. All given conditions must match. */
export interface CallFilter {
  /** Also includes calls that were denied because no rule matched. */
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
  /** Calls that were denied because no rule matched, selected or not. */
  readonly denied: number
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
  let policy: string | undefined
  const soil = (session: string | undefined, why: string | undefined): void => {
    if (session !== undefined && why !== undefined && !dirt.has(session)) dirt.set(session, why)
  }
  const takeDecision = (id: string, decision: Decision, kept: string | undefined): void => {
    const session = keyOfSession(decision)
    soil(session, againstDecision(decision))
    if (decision.verdict !== 'DENY') sessions.set(id, session)
    if (decision.reason_code === 'NO_RULE_MATCHED') facts.denied++
    if (!isWanted(decision, wanted)) return
    const call = readKeptCall(kept)
    const why = whyUnreadable(kept)
    if (why !== undefined) unreadable.set(why, (unreadable.get(why) ?? 0) + 1)
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
      else if (receipt.kind === 'freeze' && receipt.frozen) frozen.add(keyOfFreeze(receipt))
    },
    policyHash: () => policy,
    finish(current) {
      const judged = current ?? policyOfRules('rules: []\n')
      const against = (decision: Decision): string | undefined =>
        dirt.get(keyOfSession(decision)) ?? againstFrozen(decision, frozen)
      return {
        ...facts,
        unreadable,
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

function againstDecision(decision: Decision): string | undefined {
  const { verdict, reason_code, findings = [], labels = [], trajectory_risk_score: risk } = decision
  if (findings.length > 0) return 'a call has findings'
  const grave = labels.find((label) => GRAVE.includes(label))
  if (grave !== undefined) return `a call had data labelled \`${grave}\``
  if (verdict === 'DENY' && reason_code !== 'NO_RULE_MATCHED') return `a call was denied, ${reason_code}`
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

function isWanted(
  decision: Decision,
  { denied = false, since = 0, session, principal, tool }: CallFilter,
): boolean {
  const { reason_code: reason } = decision
  return (
    (reason === 'OBSERVE_MODE_ALLOWED' || (denied && reason === 'NO_RULE_MATCHED')) &&
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
  const call: ObservedCall = {
    receipt: id,
    time: decision.time,
    session: decision.session.id,
    principal: decision.principal,
    door: decision.door,
    tool: decision.tool,
    effect: decision.effect_class,
    args: kept.args,
    destinations: [],
    clean: why === undefined,
    ...(why !== undefined && { why }),
    tenant: decision.tenant,
    ...(environment !== undefined && { environment }),
    ...(workspace !== undefined && { workspace }),
  }
  const asked = { ...callOf(call), ...(kept.browser && { browser: kept.browser }) }
  const { snapshot } = tryCall(policy, asked, Date.parse(decision.time))
  const destinations = snapshot.destinations().map(({ scheme, host, port }) => ({ scheme, host, port }))
  return { ...call, destinations }
}
