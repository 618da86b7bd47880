// Decides a call. Gates object; only the policy allows.

import {
  canonicalize,
  NO_HASH,
  sha256Hex,
  type ReasonCode,
  type LadderStep,
  type Verdict,
} from '@tollgate/evidence/core'
import type { Intent } from './capture.ts'
import { AFTER_POLICY, BEFORE_POLICY, DETECTORS, freeze } from '../gates/index.ts'
import type { Gate, Objection, Standing } from '../gates/gate.ts'
import { isObserved, OBSERVE } from '../admin/observing.ts'
import { firstMatch } from '../policy/evaluate.ts'
import type { Policy, Rule } from '../policy/parse/parse.ts'
import type { Snapshot } from './snapshot.ts'
import { subjectOf } from '../policy/subject.ts'

export { subjectOf } from '../policy/subject.ts'

/** The verdict, the step that decided, and the reason. */
export interface Judgement {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  /** The rule that decided, if one did. */
  readonly rule?: Rule
  /** Details for the caller. Never part of a receipt. */
  readonly detail?: string
  /** Every objection that a person is asked about, if the verdict is ESCALATE: step, reason and subject. */
  readonly asks?: readonly string[]
  /** The denial that remains after an approval, if the tool is neither pinned nor declared. */
  readonly beneath?: Judgement
}

/** The ALLOW of the policy, the only step that can allow. */
interface Grant {
  readonly verdict: 'ALLOW'
  readonly reason: ReasonCode
  readonly rule: Rule
}
/** The answer of a step. */
type StepAnswer = Grant | (Objection & { readonly rule?: Rule })

interface PolicyStep {
  readonly name: 'policy'
  standing(policy: Policy): Standing
  check(intent: Intent, snapshot: Snapshot): StepAnswer
}

const POLICY: PolicyStep = { name: 'policy', standing: () => 'active', check: askPolicy }

const NO_POLICY_STEP: PolicyStep = {
  ...POLICY,
  check: () => ({ verdict: 'DENY', reason: 'NO_POLICY_DEFINED' }),
}

/** All steps, in the order of the ladder. */
export const LADDER: readonly (Gate | PolicyStep)[] = [...BEFORE_POLICY, POLICY, ...AFTER_POLICY]

/** A step and its status. */
export interface StepStatus {
  readonly rung: LadderStep
  readonly standing: Standing
}

/** Returns the status of every step under a policy, including inactive steps. */
export function describeLadder(policy: Policy): readonly StepStatus[] {
  return LADDER.map((step) => ({ rung: step.name, standing: step.standing(policy) }))
}

const hashes = new WeakMap<Policy, string>()

/** Returns the hash of the ladder that decisions contain. */
export function ladderHash(policy: Policy): string {
  let hash = hashes.get(policy)
  if (hash === undefined) hashes.set(policy, (hash = sha256Hex(canonicalize(describeLadder(policy)))))
  return hash
}

/** The tool that is always denied. */
const CANARY = 'builtin/canary'

/** Decides. Never throws: an undecidable call is denied. */
export function decide(intent: Intent, snapshot: Snapshot, ladder: typeof LADDER = LADDER): Judgement {
  // First, because a principal over its storage limit gets nothing else recorded.
  if (snapshot.full) return { verdict: 'DENY', reason: 'STORAGE_QUOTA_EXCEEDED', rung: 'freeze' }
  if (intent.unreadable !== undefined) {
    return { verdict: 'DENY', reason: 'AMBIGUOUS_INPUT', rung: 'capture', detail: intent.unreadable }
  }
  // The proof that a hook asks: no rule and no observe mode can allow it, and its texts are not read.
  if (intent.tool === CANARY) return { verdict: 'DENY', reason: 'DENY_TOOL_NOT_FOUND', rung: 'schema' }
  // An ESCALATE waits for the remaining steps, so that people are not asked about a call that is denied anyway.
  let held: Judgement | undefined
  let granted: Judgement | undefined
  let beneath: Judgement | undefined
  for (const step of stepsUnder(snapshot.policy, ladder)) {
    const answer = askStep(step, intent, snapshot)
    if (answer === undefined) continue
    if (answer.verdict === 'DENY') {
      const denial: Judgement = { ...answer, rung: step.name }
      if (!isPinFirst(held, denial)) return denial
      beneath = denial
      continue
    }
    // One approval overrides all escalations, so the rule with the approvers is kept.
    if (answer.verdict === 'ESCALATE') held = hold(held, step.name, answer)
    else granted = { ...answer, rung: step.name }
  }
  if (held && beneath) return withBeneath(held, beneath)
  // In observe mode an escalation is denied. An approved call would otherwise not be marked as observed.
  if (held && granted?.rule === OBSERVE) return { verdict: 'DENY', reason: 'NO_RULE_MATCHED', rung: 'policy' }
  return held ?? granted ?? { verdict: 'DENY', reason: 'GATE_FAILED', rung: 'policy' }
}

/** Whether a tool must be pinned before its missing declaration matters: people pin first, and declare what they have pinned. */
function isPinFirst(held: Judgement | undefined, denial: Judgement): boolean {
  return held?.reason === 'TOOL_NOT_PINNED' && denial.reason === 'TOOL_NOT_DECLARED'
}

const UNDECLARED_TOO =
  'the policy does not declare the tool either, so an approval of this call is not enough'

/** Adds the denial that an approval does not override. The approver sees it as well. */
function withBeneath(held: Judgement, beneath: Judgement): Judgement {
  const asks = [...(held.asks ?? []), `${beneath.rung} ${beneath.reason}`]
  return { ...held, detail: UNDECLARED_TOO, asks, beneath }
}

/** Returns the steps that apply under a policy. */
export function stepsUnder({ hash }: Policy, ladder: typeof LADDER): typeof LADDER {
  // Without a policy no tools are known, but a freeze is still the more specific reason.
  return hash === NO_HASH ? WITHOUT_POLICY : ladder
}

const WITHOUT_POLICY: typeof LADDER = [freeze, NO_POLICY_STEP]

/** Adds an escalation to those before it. The first one is reported, and a person is asked about each. */
function hold(held: Judgement | undefined, rung: LadderStep, answer: StepAnswer): Judgement {
  const { verdict, reason, detail, about } = { about: undefined, detail: undefined, ...answer }
  // Every detail is reported, with the name of its step if another step is reported.
  const own = detail !== undefined && held ? `${rung}: ${detail}` : detail
  const shown = [held?.detail, own].filter((text) => text !== undefined).join('; ')
  const first = { ...(held ?? { verdict, reason, rung }), ...(shown !== '' && { detail: shown }) }
  const ask = [rung, reason, ...(about === undefined ? [] : [about])].join(' ')
  return { ...first, ...ruleOf(answer), asks: [...(held?.asks ?? []), shortened(ask)] }
}

// The maximum length in a receipt.
const MAX_ASK_LENGTH = 500

/** Shortens a text for a receipt. The hash of the whole text at the end keeps it unique. */
function shortened(ask: string): string {
  return ask.length <= MAX_ASK_LENGTH ? ask : `${ask.slice(0, MAX_ASK_LENGTH - 65)} ${sha256Hex(ask)}`
}

function ruleOf(answer: StepAnswer): { rule?: Rule } {
  return answer.rule === undefined ? {} : { rule: answer.rule }
}

/** Returns the answer of a step. A step that throws denies. */
export function askStep(
  step: (typeof LADDER)[number],
  intent: Intent,
  snapshot: Snapshot,
): StepAnswer | undefined {
  try {
    return step.check(intent, snapshot)
  } catch {
    // The error may contain argument values, so the receipt only names the step.
    return { verdict: 'DENY', reason: 'GATE_FAILED' }
  }
}

const NOT_DECLARED: StepAnswer = { verdict: 'DENY', reason: 'TOOL_NOT_DECLARED' }

function askPolicy(intent: Intent, snapshot: Snapshot): StepAnswer {
  const answer = askRules(intent, snapshot)
  if (snapshot.tool?.declared || !needsClass(answer)) return answer
  // Trust and privilege do not object on a guessed class, so a rule must not allow the call without them.
  const suffices = DETECTORS.trust.suffices(snapshot) && DETECTORS.privilege.suffices(snapshot)
  return answer.verdict !== 'DENY' && suffices ? answer : NOT_DECLARED
}

/** Whether the answer depends on the effect class, or would be another one if the tool were declared. */
function needsClass({ verdict, reason }: StepAnswer): boolean {
  return verdict !== 'DENY' || reason === 'NO_RULE_MATCHED'
}

function askRules(intent: Intent, snapshot: Snapshot): StepAnswer {
  const ruling = firstMatch(snapshot.policy, subjectOf(intent, snapshot))
  if (!ruling) {
    if (isObserved(snapshot)) return { verdict: 'ALLOW', reason: 'OBSERVE_MODE_ALLOWED', rule: OBSERVE }
    return { verdict: 'DENY', reason: 'NO_RULE_MATCHED' }
  }
  const { rule, fault } = ruling
  if (fault !== undefined) return { verdict: 'DENY', reason: 'POLICY_EVALUATION_ERROR', rule, detail: fault }
  const because = rule.because === undefined ? {} : { detail: rule.because }
  switch (rule.action) {
    case 'allow': {
      const detail = snapshot.tool?.declared?.factsFrom && DETECTORS.shell.gaps(rule, snapshot.callFacts())
      if (detail !== undefined) return { verdict: 'ESCALATE', reason: 'CALL_NOT_UNDERSTOOD', rule, detail }
      return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule }
    }
    case 'deny':
      return { verdict: 'DENY', reason: 'POLICY_VIOLATION', rule, ...because }
    case 'require':
      return { verdict: 'ESCALATE', reason: 'APPROVAL_REQUIRED', rule, ...because }
  }
}
