// Why a call is judged as it is: what every rung and every rule says to it, and what stands in the way of the other verdict.

import type { ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import type { Destination } from '../../destinations/find.ts'
import type { Standing } from '../../gates/gate.ts'
import { askStep, decide, LADDER, stepsUnder, subjectOf, type Judgement } from '../../road/guardian.ts'
import { explain, type Explained, type Match } from '../../policy/evaluate.ts'
import type { Rule } from '../../policy/parse/parse.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { egressStatus } from '../../gates/egress/destinations.ts'

/** What a rung says: an objection, or the policy's grant. */
export interface Word {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly detail?: string
  readonly rule?: Rule
}

/** A rung, how it stands, and what it says. */
export interface StepReport {
  readonly rung: LadderStep
  readonly standing: Standing
  /** Whether the ladder comes to it. If not, the word is what it would say: a rung before it has denied. */
  readonly asked: boolean
  /** Undefined if it does not object. Nobody is asked about a call that cannot be read. */
  readonly word: Word | undefined
}

/** One objection that has to go before the call can pass. */
export interface Obstacle {
  readonly rung: LadderStep
  readonly verdict: Exclude<Verdict, 'ALLOW'>
  readonly reason: ReasonCode
  readonly detail?: string
  /** The rule that objects: it would have to match no longer, or a person to approve if it asks for that. */
  readonly rule?: Rule
  /** Where data would go that must not, or not without a person: the first few. */
  readonly goes?: readonly Destination[]
  /** Where no rule lets it pass: those that are for the tool and could, the nearest first. */
  readonly near?: readonly Explained[]
}

/** What an ALLOW rests on. */
export interface Reliance {
  readonly rule: Rule
  /** The rule that would decide if that one did not match; undefined if none would, and the call be denied. */
  readonly next: Explained | undefined
}

/** A judgement with all that led to it. */
export interface Explanation {
  readonly judgement: Judgement
  readonly rungs: readonly StepReport[]
  /** Every rule in order; none if the call cannot be read. */
  readonly rules: readonly Explained[]
  /**
   * Everything between the call and an ALLOW, in the order of the ladder; none if it is allowed. A rung says one thing at a
   * time: behind what it says here it may have more to say.
   */
  readonly obstacles: readonly Obstacle[]
  /** What an ALLOW rests on; undefined if it is none. */
  readonly relies: Reliance | undefined
}

/**
 * Explains a call, by the rungs and the rules that decide on it. Never throws. Nothing is counted: intent and snapshot stay as
 * they are.
 */
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
  const others = stepsUnder(policy, ladder).map((rung): StepReport => {
    const word = unreadable === undefined ? askStep(rung, intent, snapshot) : undefined
    const said = { rung: rung.name, standing: rung.standing(policy), asked, word: word && plain(word) }
    if (word?.verdict === 'DENY') asked = false
    return said
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
    // What rules look at cannot be worked out: the policy rung fails for the same reason, and says so.
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
    const told = { rung, verdict, reason, ...(detail !== undefined && { detail }) }
    if (reason in UNWANTED) return [{ ...told, goes: unwanted(snapshot, UNWANTED[reason]) }]
    if (reason === 'NO_RULE_MATCHED') return [{ ...told, near: nearest(rules) }]
    if (!rule) return [told]
    return [{ ...told, rule }, ...(verdict === 'DENY' ? behind(rule, rules) : [])]
  })
}

const UNWANTED: Partial<Record<ReasonCode, 'ask' | 'outside'>> = {
  DATA_EGRESS_BLOCKED: 'outside',
  EGRESS_APPROVAL_REQUIRED: 'ask',
}
const MOST_SHOWN = 5

/** The destinations that stand so. They were worked out before, by the rung that objects to them. */
function unwanted(snapshot: Snapshot, standing: 'ask' | 'outside' | undefined): readonly Destination[] {
  return snapshot
    .destinations()
    .filter((each) => egressStatus([each], snapshot) === standing)
    .slice(0, MOST_SHOWN)
}

/** What comes once a rule that denies matches no longer: more of them, until one lets it pass or asks a person. */
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

/** What a rule says, or would. */
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
const MOST_NEAR = 20

/** The rules for the tool that would let it pass if they matched, the nearest first. */
function nearest(rules: readonly Explained[]): readonly Explained[] {
  const able = rules.filter(({ rule }) => rule.action !== 'deny')
  return NEARNESS.flatMap((match) => able.filter((each) => matchOf(each) === match)).slice(0, MOST_NEAR)
}

function relianceOf({ rule }: Judgement, rules: readonly Explained[]): Reliance | undefined {
  if (!rule) return undefined
  const place = rules.findIndex((each) => each.rule === rule)
  // A rule of no policy, as observe mode has one, comes after all that there are.
  const later = place < 0 ? [] : rules.slice(place + 1)
  const next = later.find((each) => ['matched', 'condition failed'].includes(matchOf(each)))
  return { rule, next }
}
