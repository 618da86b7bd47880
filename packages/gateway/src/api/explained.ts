// Converts an explanation to the JSON of the API: flat lists, with rule ids instead of rules.

import { adviceOf, reasonOf, type Decision, type ReasonCode, type Verdict } from '@tollgate/evidence/core'
import type { Examined, Explained, Look, Rule } from '@tollgate/kernel/policy'
import type { Explanation, Obstacle, StepReport } from '@tollgate/kernel/workbench'

type LadderStep = Decision['rung']

/** A part of a condition. The parts it contains follow it with a greater depth. */
export interface ShownPart {
  readonly depth: number
  readonly text: string
  readonly truth: 'true' | 'false' | 'failed'
  readonly joins: 'all' | 'any' | null
  readonly fault: string | null
  readonly looks: readonly {
    readonly name: string
    readonly value: string | null
    readonly missing: boolean
  }[]
}

/** A rule and its answer to the call. */
export interface ShownRule {
  readonly id: string
  readonly line: number
  readonly action: Rule['action']
  readonly because: string | null
  readonly match: Explained['match']
  readonly would: NonNullable<Explained['would']> | null
  readonly fault: string | null
  readonly parts: readonly ShownPart[]
}

/** A step and its answer to the call. */
export interface ShownStep {
  readonly rung: LadderStep
  readonly standing: StepReport['standing']
  readonly asked: boolean
  readonly verdict: Verdict | null
  readonly reason_code: ReasonCode | null
  readonly detail: string | null
  readonly rule: string | null
}

/** One objection to the call. */
export interface ShownObstacle {
  readonly rung: LadderStep
  readonly verdict: Verdict
  readonly reason_code: ReasonCode
  readonly message: string
  readonly remedy: string
  readonly detail: string | null
  readonly rule: string | null
  readonly approvers: readonly string[]
  readonly goes: readonly { readonly at: string; readonly host: string }[]
  readonly near: readonly string[]
}

/** An explanation in the form of the API. */
export interface ShownExplanation {
  readonly verdict: Verdict
  readonly reason_code: ReasonCode
  readonly message: string
  readonly remedy: string
  readonly rung: LadderStep
  readonly rule: string | null
  readonly detail: string | null
  readonly policy: string
  readonly rungs: readonly ShownStep[]
  readonly rules: readonly ShownRule[]
  readonly obstacles: readonly ShownObstacle[]
  readonly relies: { readonly rule: string; readonly next: string | null } | null
}

/** Converts an explanation. `policy` is the hash of the policy. */
export function showExplanation(explanation: Explanation, policy: string): ShownExplanation {
  const { judgement, rungs, rules, obstacles, relies } = explanation
  const { verdict, reason, rung, rule, detail } = judgement
  return {
    verdict,
    reason_code: reason,
    ...meaningOf(reason),
    rung,
    rule: rule?.id ?? null,
    detail: detail ?? null,
    policy,
    rungs: rungs.map(showStep),
    rules: rules.map(showRule),
    obstacles: obstacles.map(showObstacle),
    relies: relies ? { rule: relies.rule.id, next: relies.next?.rule.id ?? null } : null,
  }
}

function meaningOf(code: ReasonCode): { readonly message: string; readonly remedy: string } {
  const reason = reasonOf(code)
  // Agents may not ask for explanations, so commands are fine here.
  return { message: reason?.sentence ?? '', remedy: reason ? adviceOf(reason) : '' }
}

function showStep({ rung, standing, asked, word }: StepReport): ShownStep {
  return {
    rung,
    standing,
    asked,
    verdict: word?.verdict ?? null,
    reason_code: word?.reason ?? null,
    detail: word?.detail ?? null,
    rule: word?.rule?.id ?? null,
  }
}

function showRule({ rule, match, would, fault, condition }: Explained): ShownRule {
  const { id, line, action, because } = rule
  return {
    id,
    line,
    action,
    because: because ?? null,
    match,
    would: would ?? null,
    fault: fault ?? null,
    parts: condition ? flatten(condition, 0) : [],
  }
}

function flatten({ text, truth, joins, fault, looks, parts }: Examined, depth: number): readonly ShownPart[] {
  const own: ShownPart = {
    depth,
    text,
    truth: truth === 'failed' ? truth : truth ? 'true' : 'false',
    joins: joins ?? null,
    fault: fault ?? null,
    looks: looks.map(showLook),
  }
  return [own, ...parts.flatMap((part) => flatten(part, depth + 1))]
}

function showLook({ name, value, missing }: Look): ShownPart['looks'][number] {
  return { name, value: value ?? null, missing }
}

function showObstacle({ rung, verdict, reason, detail, rule, goes, near }: Obstacle): ShownObstacle {
  return {
    rung,
    verdict,
    reason_code: reason,
    ...meaningOf(reason),
    detail: detail ?? null,
    rule: rule?.id ?? null,
    approvers: rule?.approvers ?? [],
    goes: goes?.map(({ at, host }) => ({ at, host })) ?? [],
    near: near?.map((each) => each.rule.id) ?? [],
  }
}
