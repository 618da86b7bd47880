// Runs cases, each on its own kernel, through the same pipeline as the gateway.

import type { Effect, ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import { enforce, type Decided, type Enforced, type Kernel, type ToolAnswer } from '@tollgate/kernel'
import { answerRequest, setFreeze } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'
import {
  expectationText,
  type CallStep,
  type Case,
  type CaseCall,
  type Expectation,
  type Step,
} from './case.ts'
import { delegate, revoke, toolCall, type CaseSending } from './case-send.ts'
import { createStages, type Stages } from './stage.ts'

/** The result of one call. */
export interface CaseOutcome {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | undefined
  readonly detail: string | undefined
  /** For an ESCALATE: the steps that escalated, with their reasons. */
  readonly asks: readonly (readonly [rung: string, reason: string])[]
  /** Which part of the result was forwarded, if the tool ran. */
  readonly delivery: Effect['delivery'] | undefined
}

export interface Failure {
  readonly line: number
  /** The number of the step, from 1, if the case has several. */
  readonly step: number | undefined
  /** The time of the case in milliseconds. */
  readonly at: number
  readonly expected: string
  readonly got: string
  /** The call and its result, if the step is a call. */
  readonly call: CaseCall | undefined
  readonly outcome: CaseOutcome | undefined
}

export interface CaseResult {
  readonly name: string
  readonly line: number
  readonly steps: number
  readonly expected: string
  readonly got: string
  readonly failure: Failure | undefined
  /** The results of all calls, in order. */
  readonly outcomes: readonly CaseOutcome[]
  readonly milliseconds: number
}

/** Runs cases under a policy, one after another. `now` measures their duration. */
export async function runCases(
  policy: Policy,
  cases: readonly Case[],
  now: () => number,
): Promise<readonly CaseResult[]> {
  const stages = await createStages(policy)
  const results: CaseResult[] = []
  for (const each of cases) results.push(await runCase(stages, each, now))
  return results
}

/** A running case. */
interface Play extends CaseSending {
  readonly outcomes: CaseOutcome[]
  /** Id of the approval request of the last call. */
  request: string | undefined
}

async function runCase(stages: Stages, each: Case, now: () => number): Promise<CaseResult> {
  const began = now()
  const { name, line, steps, tenant } = each
  const play: Play = {
    stage: await stages.open(each.at, tenant),
    tenant,
    outcomes: [],
    request: undefined,
    delegations: new Map(),
  }
  let failure: Failure | undefined
  for (const [i, step] of steps.entries()) {
    const failed = await runStep(play, step)
    const place = { line: step.line, step: steps.length > 1 ? i + 1 : undefined, at: play.stage.now() }
    if (failed) failure = { ...failed, ...place }
    if (failure) break
  }
  const { outcomes } = play
  const many = steps.length > 1
  const got = many ? 'as expected' : verdictsOf(outcomes)
  return {
    name,
    line,
    steps: steps.length,
    expected: many ? `${steps.length} steps` : expectedOf(steps[0]),
    got: failure ? failure.got : got,
    failure,
    outcomes,
    milliseconds: now() - began,
  }
}

/** The result of a call and, after an answer, of the repeated call. */
function verdictsOf([first, ...then]: readonly CaseOutcome[]): string {
  if (!first) return ''
  return [outcomeText(first), ...then.slice(-1).map(({ verdict }) => `then ${verdict}`)].join(', ')
}

function expectedOf(step: Step | undefined): string {
  return step?.does === 'call' ? expectationText(step.expect) : ''
}

/** A failure without its position. */
type Failed = Omit<Failure, 'line' | 'step' | 'at'>

async function runStep(play: Play, step: Step): Promise<Failed | undefined> {
  try {
    switch (step.does) {
      case 'call':
        return await runCall(play, step)
      case 'pause':
        play.stage.pass(step.milliseconds)
        return undefined
      case 'freeze':
        await freeze(play, step.scope, step.target, step.frozen)
        return undefined
      case 'delegate':
        await delegate(play, step)
        return undefined
      case 'revoke':
        await revoke(play, step.name)
        return undefined
    }
  } catch (fault) {
    return failed('the step to be possible', fault instanceof Error ? fault.message : 'it failed')
  }
}

function failed(expected: string, got: string): Failed {
  return { expected, got, call: undefined, outcome: undefined }
}

async function freeze(
  { stage, tenant }: Play,
  scope: 'all' | 'principal' | 'tool' | 'session',
  target: string | undefined,
  frozen: boolean,
): Promise<void> {
  const about = target === undefined ? {} : { target }
  await setFreeze(stage.kernel, { scope, ...about, tenant, frozen, by: 'user:cases' })
}

async function runCall(play: Play, step: CallStep): Promise<Failed | undefined> {
  for (let i = 0; i < step.times; i++) {
    const outcome = await send(play, step)
    const place = step.times > 1 ? `, time ${i + 1} of ${step.times}` : ''
    const wrong = judge(step, step.expect, outcome, place)
    if (wrong) return wrong
    const unanswered = await answer(play, step)
    if (unanswered) return unanswered
  }
  return undefined
}

function judge(step: CallStep, expect: Expectation, outcome: CaseOutcome, place: string): Failed | undefined {
  const { call, delivery } = step
  if (!meets(expect, outcome))
    return { expected: expectationText(expect) + place, got: outcomeText(outcome), call, outcome }
  if (delivery === undefined || outcome.delivery === undefined || outcome.delivery === delivery)
    return undefined
  return { expected: `the result ${delivery}`, got: `the result ${outcome.delivery}`, call, outcome }
}

function meets(expect: Expectation, got: CaseOutcome): boolean {
  const { verdict, rung, reason, detail } = expect
  // If several steps escalate, the first one is in the decision; an expectation may name any of them.
  const asked = [[got.rung, got.reason], ...got.asks]
  const at = asked.some((each) => (rung ?? each[0]) === each[0] && (reason ?? each[1]) === each[1])
  const says = detail === undefined || got.detail?.includes(detail) === true
  return verdict === got.verdict && isBy(expect, got) && at && says
}

/** Whether the expected rule decided. A rule whose condition failed did not, unless the case expects the failure. */
function isBy({ rule, reason }: Expectation, got: CaseOutcome): boolean {
  if (rule === undefined) return true
  return rule === got.rule && (got.reason !== FAILED || reason === FAILED)
}

const FAILED: ReasonCode = 'POLICY_EVALUATION_ERROR'
/** The reasons that a deciding rule always has. */
const PLAIN: ReadonlySet<ReasonCode> = new Set(['RULE_ALLOWED', 'POLICY_VIOLATION', 'APPROVAL_REQUIRED'])

/** The result of a call as text. */
function outcomeText({ verdict, rule, rung, reason }: CaseOutcome): string {
  const by = rule === undefined ? '' : ` by ${rule}`
  const at = rule === undefined || rung !== 'policy' ? ` at ${rung}` : ''
  return `${verdict}${by}${at}${PLAIN.has(reason) ? '' : ` for ${reason}`}`
}

/** Answers the request, if the case says so, and sends the same call again. */
async function answer(play: Play, step: CallStep): Promise<Failed | undefined> {
  if (step.cannotApprove.length === 0 && !step.answer) return undefined
  const { kernel } = play.stage
  const { request } = play
  if (request === undefined) return failed('an approval request', 'there is none')
  const say = (by: string, granted: boolean): Promise<unknown> =>
    answerRequest(kernel, { tenant: play.tenant, request, granted, approver: by, groups: [by], because: WHY })
  for (const by of step.cannotApprove) {
    if (await succeeds(say(by, true)))
      return failed(`\`${by}\` to be refused as approver`, 'the approval was accepted')
  }
  if (!step.answer) return undefined
  const { by, granted } = step.answer
  const refused = await whyNot(say(by, granted))
  if (refused !== undefined) return failed(`an answer by \`${by}\``, refused)
  const outcome = await send(play, step)
  const expect = granted ? AFTER_YES : AFTER_NO
  return judge(step, expect, outcome, `, after \`${by}\` ${granted ? 'approved' : 'denied'}`)
}

const WHY = 'required by a policy case'

const ANYTHING = { rule: undefined, rung: undefined, detail: undefined }
const AFTER_YES: Expectation = { ...ANYTHING, verdict: 'ALLOW', reason: 'APPROVAL_GRANTED' }
const AFTER_NO: Expectation = { ...ANYTHING, verdict: 'DENY', reason: 'APPROVAL_REFUSED' }

async function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return (await whyNot(promise)) === undefined
}

async function whyNot(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (fault) {
    return fault instanceof Error ? fault.message : 'it failed'
  }
}

/** Sends a call through the pipeline. If it is allowed, the tool answers as the case says. */
async function send(play: Play, step: CallStep): Promise<CaseOutcome> {
  const { kernel } = play.stage
  const { returns } = step
  const tool: ToolAnswer = {
    status: 'COMPLETED',
    output: new TextEncoder().encode(JSON.stringify(returns ?? null)),
    ...(returns !== undefined && { content: returns }),
  }
  const call = toolCall(play, step.call)
  const enforced = await enforce(kernel, call, () => Promise.resolve(tool))
  const outcome = outcomeOf(enforced, kernel)
  play.request = enforced.decided.approval
  play.outcomes.push(outcome)
  return outcome
}

function outcomeOf({ decided, effect }: Enforced, kernel: Kernel): CaseOutcome {
  const { verdict, reason, rung, rule, detail } = decided
  const known = effect?.outcome
  const delivery = known && ('delivery' in known ? known.delivery : undefined)
  return {
    verdict,
    reason,
    rung,
    rule,
    detail,
    asks: asksOf(kernel, decided),
    delivery: effect && (delivery ?? 'full'),
  }
}

function asksOf({ approvals }: Kernel, { approval }: Decided): CaseOutcome['asks'] {
  const request = approval === undefined ? undefined : approvals.find({ id: approval })
  return (request?.asks ?? []).map((ask) => {
    const [rung = '', reason = ''] = ask.split(' ')
    return [rung, reason] as const
  })
}
