// Explains the judgement of a call: the answer of every step and rule, and what prevents the other verdict.

import type { ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import type { Destination } from '../../destinations/find.ts'
import type { Standing } from '../../gates/gate.ts'
import { askStep, decide, LADDER, stepsUnder, subjectOf, type Judgement } from '../../road/guardian.ts'
import { explain, type Explained, type Match } from '../../policy/evaluate.ts'
import type { Rule } from '../../policy/parse/parse.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { egressStatus } from '../../gates/egress/destinations.ts'

/** The answer of a step: an objection, or the ALLOW of the policy. */
export interface Word {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly detail?: string
  readonly rule?: Rule
}

/** A step, its status and its answer. */
export interface StepReport {
  readonly rung: LadderStep
  readonly standing: Standing
  /** Whether the ladder reaches it. If not, an earlier step denied, and `word` is the answer that it would give. */
  readonly asked: boolean
  /** Undefined if it does not object, or if the call is unreadable. */
  readonly word: Word | undefined
}

/** One objection that prevents an ALLOW. */
export interface Obstacle {
  readonly rung: LadderStep
  readonly verdict: Exclude<Verdict, 'ALLOW'>
  readonly reason: ReasonCode
  readonly detail?: string
  /** The rule that objects: it must no longer match, or a person must approve. */
  readonly rule?: Rule
  /** The first few destinations that are denied or need approval. */
  readonly goes?: readonly Destination[]
  /** If no rule allows the call: the rules for the tool that could, the nearest first. */
  readonly near?: readonly Explained[]
}

/** The rule that an ALLOW depends on. */
export interface Reliance {
  readonly rule: Rule
  /** The rule that would decide instead; undefined if none would, so that the call is denied. */
  readonly next: Explained | undefined
}

/** A judgement with everything that led to it. */
export interface Explanation {
  readonly judgement: Judgement
  readonly rungs: readonly StepReport[]
  /** Every rule in order; empty if the call is unreadable. */
  readonly rules: readonly Explained[]
  /**
   * Everything between the call and an ALLOW, in the order of the ladder; empty if it is allowed. A step reports one objection at a
   * time, so others may follow.
   */
  readonly obstacles: readonly Obstacle[]
  /** The rule that an ALLOW depends on; undefined for other verdicts. */
  readonly relies: Reliance | undefined
}

/** Explains a call with the steps and rules that decide it. Never throws, and changes neither intent nor snapshot. */
export function explainCall(intent: Intent, snapshot: Snapshot, ladder: typeof LADDER = LADDER): Explanation {
  const judgement = decide(intent, snapshot, ladder)
  const rungs = wordsOf(intent, snapshot, ladder)
  const rules = intent.unreadable === undefined ? rulesOf(intent, snapshot) : []
  return {
    judgement,
    rungs,
    rules,
    obstacles: judgement.verdict === 'ALLOW' ? [] : obstaclesOf(rungs, rules, snapshot),
    relies: judgement.verdict === 'ALLOW' ? relianceOf(judgement, rules) : undefined,
  }
}

function wordsOf(intent: Intent, snapshot: Snapshot, ladder: typeof LADDER): readonly StepReport[] {
  const { policy } = snapshot
  const { unreadable } = intent
  const capture = readingOf(unreadable)
  let asked = unreadable === undefined
  const others = stepsUnder(policy, ladder).map((step): StepReport => {
    const word = unreadable === undefined ? askStep(step, intent, snapshot) : undefined
    const report = { rung: step.name, standing: step.standing(policy), asked, word: word && plain(word) }
    if (word?.verdict === 'DENY') asked = false
    return report
  })
  return [capture, ...others]
}

function readingOf(unreadable: string | undefined): StepReport {
  const word: Word | undefined =
    unreadable === undefined ? undefined : { verdict: 'DENY', reason: 'AMBIGUOUS_INPUT', detail: unreadable }
  return { rung: 'capture', standing: 'active', asked: true, word }
}

function plain({ verdict, reason, detail, rule }: Word): Word {
  return { verdict, reason, ...(detail !== undefined && { detail }), ...(rule && { rule }) }
}

function rulesOf(intent: Intent, snapshot: Snapshot): readonly Explained[] {
  try {
    return explain(snapshot.policy, subjectOf(intent, snapshot))
  } catch {
    // The policy step fails for the same reason, and reports it.
    return []
  }
}

function obstaclesOf(
  rungs: readonly StepReport[],
  rules: readonly Explained[],
  snapshot: Snapshot,
): readonly Obstacle[] {
  return rungs.flatMap(({ rung, word }): readonly Obstacle[] => {
    if (!word || word.verdict === 'ALLOW') return []
    const { verdict, reason, detail, rule } = word
    const common = { rung, verdict, reason, ...(detail !== undefined && { detail }) }
    if (reason in UNWANTED) return [{ ...common, goes: unwanted(snapshot, UNWANTED[reason]) }]
    if (reason === 'NO_RULE_MATCHED') return [{ ...common, near: nearest(rules) }]
    if (!rule) return [common]
    return [{ ...common, rule }, ...(verdict === 'DENY' ? behind(rule, rules) : [])]
  })
}

const UNWANTED: Partial<Record<ReasonCode, 'ask' | 'outside'>> = {
  DATA_EGRESS_BLOCKED: 'outside',
  EGRESS_APPROVAL_REQUIRED: 'ask',
}
const MAX_SHOWN = 5

/** Returns the destinations with this status. */
function unwanted(snapshot: Snapshot, standing: 'ask' | 'outside' | undefined): readonly Destination[] {
  return snapshot
    .destinations()
    .filter((each) => egressStatus([each], snapshot) === standing)
    .slice(0, MAX_SHOWN)
}

/** Returns the obstacles after a rule that denies, up to the first rule that allows or escalates. */
function behind(rule: Rule, rules: readonly Explained[]): readonly Obstacle[] {
  const found: Obstacle[] = []
  for (const each of rules.slice(rules.findIndex((other) => other.rule === rule) + 1)) {
    const match = matchOf(each)
    if (match === 'matched' && each.rule.action === 'allow') return found
    if (match === 'matched') found.push(objectionOf(each.rule))
    else if (match === 'condition failed') found.push(failureOf(each))
    if (found.at(-1)?.verdict === 'ESCALATE') return found
  }
  return [...found, { ...NOT_GRANTED, near: nearest(rules) }]
}

const NOT_GRANTED = { rung: 'policy', verdict: 'DENY', reason: 'NO_RULE_MATCHED' } as const

function objectionOf(rule: Rule): Obstacle {
  const because = rule.because === undefined ? {} : { detail: rule.because }
  return rule.action === 'require'
    ? { rung: 'policy', verdict: 'ESCALATE', reason: 'APPROVAL_REQUIRED', rule, ...because }
    : { rung: 'policy', verdict: 'DENY', reason: 'POLICY_VIOLATION', rule, ...because }
}

function failureOf({ rule, condition }: Explained): Obstacle {
  const { fault } = condition ?? { fault: undefined }
  const detail = fault === undefined ? {} : { detail: fault }
  return { rung: 'policy', verdict: 'DENY', reason: 'POLICY_EVALUATION_ERROR', rule, ...detail }
}

/** Returns the match that a rule has, or would have. */
export function matchOf({ match, would }: Explained): Match {
  return match === 'not reached' ? (would ?? 'other tool') : match
}

const NEARNESS: readonly Match[] = [
  'condition is false',
  'condition failed',
  'other door',
  'other session',
  'other principal',
]
const MAX_NEAR = 20

/** Returns the rules for the tool that would allow or escalate if they matched, the nearest first. */
function nearest(rules: readonly Explained[]): readonly Explained[] {
  const able = rules.filter(({ rule }) => rule.action !== 'deny')
  return NEARNESS.flatMap((match) => able.filter((each) => matchOf(each) === match)).slice(0, MAX_NEAR)
}

function relianceOf({ rule }: Judgement, rules: readonly Explained[]): Reliance | undefined {
  if (!rule) return undefined
  const place = rules.findIndex((each) => each.rule === rule)
  // The rule of observe mode is not in the policy, and comes after all rules.
  const later = place < 0 ? [] : rules.slice(place + 1)
  const next = later.find((each) => ['matched', 'condition failed'].includes(matchOf(each)))
  return { rule, next }
}
