// The decision. Gates object, policy grants.

import {
  canonicalize,
  NO_HASH,
  sha256Hex,
  type ReasonCode,
  type LadderStep,
  type Verdict,
} from '@tollgate/evidence/core'
import type { Intent } from './capture.ts'
import { AFTER_POLICY, BEFORE_POLICY, freeze } from '../gates/index.ts'
import type { Gate, Objection, Standing } from '../gates/gate.ts'
import { isObserved, OBSERVE } from '../admin/observing.ts'
import { firstMatch } from '../policy/evaluate.ts'
import type { Policy, Rule } from '../policy/parse/parse.ts'
import type { Snapshot } from './snapshot.ts'
import { subjectOf } from '../policy/subject.ts'

export { subjectOf } from '../policy/subject.ts'

/** What was decided, by which rung, and why. */
export interface Judgement {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  /** The rule that decided, if a rule did. */
  readonly rule?: Rule
  /** For the caller: what exactly. Never part of a receipt. */
  readonly detail?: string
  /** Everything that a person is asked about, if the verdict is ESCALATE: rung, reason and what exactly, of each objection. */
  readonly asks?: readonly string[]
}

/** What the policy rung says: the only one that can grant. */
interface Grant {
  readonly verdict: 'ALLOW'
  readonly reason: ReasonCode
  readonly rule: Rule
}
/** What a rung says. */
type PolicyWord = Grant | (Objection & { readonly rule?: Rule })

interface PolicyStep {
  readonly name: 'policy'
  standing(policy: Policy): Standing
  check(intent: Intent, snapshot: Snapshot): PolicyWord
}

const POLICY: PolicyStep = { name: 'policy', standing: () => 'active', check: askPolicy }

const NO_POLICY_STEP: PolicyStep = {
  ...POLICY,
  check: () => ({ verdict: 'DENY', reason: 'NO_POLICY_DEFINED' }),
}

/** Every rung, in the order of the ladder. */
export const LADDER: readonly (Gate | PolicyStep)[] = [...BEFORE_POLICY, POLICY, ...AFTER_POLICY]

/** A rung and how it stands. */
export interface StepStatus {
  readonly rung: LadderStep
  readonly standing: Standing
}

/** How every rung stands under a policy. Nothing is skipped silently. */
export function describeLadder(policy: Policy): readonly StepStatus[] {
  return LADDER.map((rung) => ({ rung: rung.name, standing: rung.standing(policy) }))
}

const hashes = new WeakMap<Policy, string>()

/** The hash that decisions carry for the active rungs. */
export function ladderHash(policy: Policy): string {
  let hash = hashes.get(policy)
  if (hash === undefined) hashes.set(policy, (hash = sha256Hex(canonicalize(describeLadder(policy)))))
  return hash
}

/** Decides. Never throws: what cannot be decided is denied. */
export function decide(intent: Intent, snapshot: Snapshot, ladder: typeof LADDER = LADDER): Judgement {
  // Before all else: whatever is found out about it, nothing more than this is written down.
  if (snapshot.full) return { verdict: 'DENY', reason: 'STORAGE_QUOTA_EXCEEDED', rung: 'freeze' }
  if (intent.unreadable !== undefined) {
    return { verdict: 'DENY', reason: 'AMBIGUOUS_INPUT', rung: 'capture', detail: intent.unreadable }
  }
  // An ESCALATE waits for the rest: nobody is asked to approve what would be denied anyway.
  let held: Judgement | undefined
  let granted: Judgement | undefined
  for (const rung of stepsUnder(snapshot.policy, ladder)) {
    const word = askStep(rung, intent, snapshot)
    if (word === undefined) continue
    if (word.verdict === 'DENY') return { ...word, rung: rung.name }
    // Whoever lifts the first escalation lifts them all, so the rule that names approvers stays with it.
    if (word.verdict === 'ESCALATE') held = hold(held, rung.name, word)
    else granted = { ...word, rung: rung.name }
  }
  // Nobody is asked about what no rule is for: what passed then would not say that it was only observed.
  if (held && granted?.rule === OBSERVE) return { verdict: 'DENY', reason: 'NO_RULE_MATCHED', rung: 'policy' }
  return held ?? granted ?? { verdict: 'DENY', reason: 'GATE_FAILED', rung: 'policy' }
}

/** The rungs that are asked under a policy. */
export function stepsUnder({ hash }: Policy, ladder: typeof LADDER): typeof LADDER {
  // Nothing is known about tools, but a freeze still says more than the lack of a policy.
  return hash === NO_HASH ? WITHOUT_POLICY : ladder
}

const WITHOUT_POLICY: typeof LADDER = [freeze, NO_POLICY_STEP]

/** Takes one more escalation to those that are held: the first one speaks for all, and a person is asked about each. */
function hold(held: Judgement | undefined, rung: LadderStep, word: PolicyWord): Judgement {
  const { verdict, reason, detail, about } = { about: undefined, detail: undefined, ...word }
  // The first that says what exactly is told, in its own name where another rung speaks for all.
  const said = detail !== undefined && held ? `${rung}: ${detail}` : detail
  const first = { ...(said !== undefined && { detail: said }), ...(held ?? { verdict, reason, rung }) }
  const ask = [rung, reason, ...(about === undefined ? [] : [about])].join(' ')
  return { ...first, ...ruleOf(word), asks: [...(held?.asks ?? []), shortened(ask)] }
}

// As long as a receipt can have it.
const MOST_ASKED = 500

/** What is too long for a receipt ends with the hash of all of it: no two are the same. */
function shortened(ask: string): string {
  return ask.length <= MOST_ASKED ? ask : `${ask.slice(0, MOST_ASKED - 65)} ${sha256Hex(ask)}`
}

function ruleOf(word: PolicyWord): { rule?: Rule } {
  return word.rule === undefined ? {} : { rule: word.rule }
}

/** What a rung says. One that throws objects. */
export function askStep(
  rung: (typeof LADDER)[number],
  intent: Intent,
  snapshot: Snapshot,
): PolicyWord | undefined {
  try {
    return rung.check(intent, snapshot)
  } catch {
    // Why it failed may hold argument values; the receipt names the rung.
    return { verdict: 'DENY', reason: 'GATE_FAILED' }
  }
}

function askPolicy(intent: Intent, snapshot: Snapshot): PolicyWord {
  const ruling = firstMatch(snapshot.policy, subjectOf(intent, snapshot))
  if (!ruling) {
    if (isObserved(snapshot)) return { verdict: 'ALLOW', reason: 'OBSERVE_MODE_ALLOWED', rule: OBSERVE }
    return { verdict: 'DENY', reason: 'NO_RULE_MATCHED' }
  }
  const { rule, fault } = ruling
  if (fault !== undefined) return { verdict: 'DENY', reason: 'POLICY_EVALUATION_ERROR', rule, detail: fault }
  const because = rule.because === undefined ? {} : { detail: rule.because }
  switch (rule.action) {
    case 'allow':
      return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule }
    case 'deny':
      return { verdict: 'DENY', reason: 'POLICY_VIOLATION', rule, ...because }
    case 'require':
      return { verdict: 'ESCALATE', reason: 'APPROVAL_REQUIRED', rule, ...because }
  }
}
