// Running cases: each on a kernel of its own, by the same road that the gateway takes.

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

/** What came of one call. */
export interface CaseOutcome {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | undefined
  readonly detail: string | undefined
  /** Every rung that asked a person, with its reason, if the verdict is ESCALATE. */
  readonly asks: readonly (readonly [rung: string, reason: string])[]
  /** How much the agent saw of the answer, if the tool ran. */
  readonly delivery: Effect['delivery'] | undefined
}

/** Why a case failed. */
export interface Failure {
  readonly line: number
  /** Which step it was, from 1, if the case has several. */
  readonly step: number | undefined
  /** The moment of the case, in milliseconds. */
  readonly at: number
  readonly expected: string
  readonly got: string
  /** The call, if it was one, and what came of it. */
  readonly call: CaseCall | undefined
  readonly outcome: CaseOutcome | undefined
}

/** What came of a case. */
export interface CaseResult {
  readonly name: string
  readonly line: number
  readonly steps: number
  readonly expected: string
  readonly got: string
  readonly failure: Failure | undefined
  /** What came of every call, in order. */
  readonly outcomes: readonly CaseOutcome[]
  readonly milliseconds: number
}

/** Runs cases under a policy, one after another; `now` tells how long they take. */
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

/** A case under way. */
interface Play extends CaseSending {
  readonly outcomes: CaseOutcome[]
  /** Id of the request that the last call has opened, or waits for. */
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

/** What came of one call; and if a person was asked, of the same call again. */
function verdictsOf([first, ...then]: readonly CaseOutcome[]): string {
  if (!first) return ''
  return [outcomeText(first), ...then.slice(-1).map(({ verdict }) => `then ${verdict}`)].join(', ')
}

function expectedOf(step: Step | undefined): string {
  return step?.does === 'call' ? expectationText(step.expect) : ''
}

/** What went wrong in a step, without its place. */
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
  return { expected: `the answer ${delivery}`, got: `the answer ${outcome.delivery}`, call, outcome }
}

function meets(expect: Expectation, got: CaseOutcome): boolean {
  const { verdict, rung, reason, detail } = expect
  // Where several rungs ask, the first speaks for all; each of them is a right answer to who asked.
  const asked = [[got.rung, got.reason], ...got.asks]
  const at = asked.some((each) => (rung ?? each[0]) === each[0] && (reason ?? each[1]) === each[1])
  const says = detail === undefined || got.detail?.includes(detail) === true
  return verdict === got.verdict && isBy(expect, got) && at && says
}

/** Whether the rule that is expected decided. One whose condition failed has not, unless the case says that it fails. */
function isBy({ rule, reason }: Expectation, got: CaseOutcome): boolean {
  if (rule === undefined) return true
  return rule === got.rule && (got.reason !== FAILED || reason === FAILED)
}

const FAILED: ReasonCode = 'POLICY_EVALUATION_ERROR'
/** What a rule that decides always says. */
const PLAIN: ReadonlySet<ReasonCode> = new Set(['RULE_ALLOWED', 'POLICY_VIOLATION', 'APPROVAL_REQUIRED'])

/** What came of a call, as people read it. */
function outcomeText({ verdict, rule, rung, reason }: CaseOutcome): string {
  const by = rule === undefined ? '' : ` by ${rule}`
  const at = rule === undefined || rung !== 'policy' ? ` at ${rung}` : ''
  return `${verdict}${by}${at}${PLAIN.has(reason) ? '' : ` for ${reason}`}`
}

/** A person answers, if one is to: then the same call is sent again. */
async function answer(play: Play, step: CallStep): Promise<Failed | undefined> {
  if (step.cannotApprove.length === 0 && !step.answer) return undefined
  const { kernel } = play.stage
  const { request } = play
  if (request === undefined) return failed('a person to be asked', 'nobody is asked')
  const say = (by: string, granted: boolean): Promise<unknown> =>
    answerRequest(kernel, { tenant: play.tenant, request, granted, approver: by, groups: [by], because: WHY })
  for (const by of step.cannotApprove) {
    if (await succeeds(say(by, true))) return failed(`\`${by}\` not to be able to approve`, 'they could')
  }
  if (!step.answer) return undefined
  const { by, granted } = step.answer
  const refused = await whyNot(say(by, granted))
  if (refused !== undefined) return failed(`an answer by \`${by}\``, refused)
  const outcome = await send(play, step)
  const expect = granted ? AFTER_YES : AFTER_NO
  return judge(step, expect, outcome, `, after \`${by}\` said ${granted ? 'yes' : 'no'}`)
}

const WHY = 'a case of the policy says so'

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

/** Sends a call down the road; the tool, if it is allowed, answers as the case says. */
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
