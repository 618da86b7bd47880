// The ladder of the model: the rule of every step, in order. Shares only types with the kernel.

import type { LadderStep } from '@tollgate/evidence'
import { fits } from './model-glob.ts'
import type { ModelCondition, ModelRule } from './model-policy.ts'
import {
  askDelegation,
  askPrivilege,
  askRisk,
  askTemporal,
  askTrust,
  lacksTier,
  lacksTrust,
} from './model-steps-caller.ts'
import { askCompliance, askTaint, askThreat } from './model-steps-data.ts'
import { askScope } from './model-scope.ts'
import { reachesTrust } from './model-trust.ts'
import { ask, deny, type LadderResult, type StepResult } from './model-results.ts'
import type { State } from './model.ts'

const OBSERVE: ModelRule = {
  id: 'observe',
  action: 'allow',
  answer: 'approver',
  tools: [],
  principals: [],
  sessions: [],
  doors: [],
  when: undefined,
  approvers: [],
  expires: 0,
}

const LADDER: readonly (readonly [LadderStep, (state: State) => StepResult | undefined])[] = [
  ['freeze', ({ freeze }) => freeze && deny(freeze)],
  ['schema', askSchema],
  ['context', askContext],
  ['identity', askIdentity],
  [
    'browser',
    ({ call, effect, tool }) => call.page(effect, tool?.browser, tool && !tool.offline ? call.hosts : []),
  ],
  ['egress', askEgress],
  ['taint', askTaint],
  ['threat', askThreat],
  ['delegation', askDelegation],
  ['session-risk', askRisk],
  ['trust', askTrust],
  ['privilege', askPrivilege],
  ['scope', askScope],
  ['policy', askPolicy],
  ['temporal', askTemporal],
  ['compliance', askCompliance],
]

/** The first DENY; otherwise the first ESCALATE with its rule; otherwise the answer of the policy. */
export function climb(state: State): LadderResult {
  const { call, freeze, policy } = state
  if (call.form === 'unreadable') return { ...deny('AMBIGUOUS_INPUT'), rung: 'capture' }
  if (policy.none && freeze) return { ...deny(freeze), rung: 'freeze' }
  if (policy.none) return { ...deny('NO_POLICY_DEFINED'), rung: 'policy' }
  const results = LADDER.flatMap(([rung, check]): LadderResult[] => {
    const said = call.replaced[rung]
    const result = said === 'throws' ? deny('GATE_FAILED') : (said ?? check(state))
    return result ? [{ ...result, rung }] : []
  })
  // The missing declaration of an unpinned tool waits for the pin.
  const unpinned = results.some(({ reason }) => reason === 'TOOL_NOT_PINNED')
  const beneath = unpinned ? results.find(({ reason }) => reason === 'TOOL_NOT_DECLARED') : undefined
  const denial = results.find((each) => each.verdict === 'DENY' && each !== beneath)
  const asking = results.filter(({ verdict }) => verdict === 'ESCALATE')
  const asks = asking.map(({ rung, reason, about }) => [rung, reason, ...(about ? [about] : [])].join(' '))
  if (beneath) asks.push('policy TOOL_NOT_DECLARED')
  const held = asking[0] && { ...asking[0], rule: asking.find(({ rule }) => rule)?.rule, asks, beneath }
  const granted = results.find(({ verdict }) => verdict === 'ALLOW')
  if (!denial && held && granted?.rule === OBSERVE) return { ...deny('NO_RULE_MATCHED'), rung: 'policy' }
  return denial ?? held ?? granted ?? { ...deny('GATE_FAILED'), rung: 'policy' }
}

/** Whether the contents of the call were read. The first steps deny without reading them. */
export function wasRead({ verdict, rung }: LadderResult): boolean {
  return verdict !== 'DENY' || !['capture', 'freeze', 'schema', 'context', 'identity'].includes(rung)
}

function askSchema({ call: { form }, tool, offered, pinned }: State): StepResult | undefined {
  if ((tool ?? offered ?? pinned) === undefined) return deny('DENY_TOOL_NOT_FOUND')
  if (offered && pinned && offered !== pinned) return deny('TOOL_DEFINITION_CHANGED')
  if (form === 'no object' || (form === 'misfits' && tool?.schema)) return deny('SCHEMA_VIOLATION')
  if (form === 'breaks the check' && tool?.schema) return deny('GATE_FAILED')
  return offered && !pinned ? ask('TOOL_NOT_PINNED') : undefined
}
function askContext({ call: { tenant, context }, policy }: State): StepResult | undefined {
  const { tenants, environments, workspaces } = policy.context
  const own = (context.tenant ?? tenant) === tenant && fits(tenants, tenant)
  const right = own && fits(environments, context.environment) && fits(workspaces, context.workspace)
  return right ? undefined : deny('CONTEXT_MISMATCH')
}
function askIdentity({ call: { principal, claimed } }: State): StepResult | undefined {
  if (principal === undefined) return deny('IDENTITY_MISSING')
  return (claimed ?? principal) === principal ? undefined : deny('IDENTITY_ISOLATION_VIOLATION')
}
function askEgress({ hosts, outside, policy: { egress } }: State): StepResult | undefined {
  if (outside) return deny('DATA_EGRESS_BLOCKED')
  return hosts.every((host) => egress.allow.includes(host)) ? undefined : ask('EGRESS_APPROVAL_REQUIRED')
}

const answerOf = ({ when }: ModelRule, state: State): boolean | 'throws' | undefined =>
  when === undefined || holdsFor(when, state)

/** The rule that matches a call. */
export function ruleFor(state: State): ModelRule | undefined {
  const { call, policy } = state
  return policy.rules
    .filter(({ tools, doors }) => fits(tools, call.tool) && fits(doors, call.door))
    .filter(({ principals, sessions }) => fits(principals, call.principal) && fits(sessions, call.session))
    .find((each) => answerOf(each, state) !== false)
}

function askPolicy(state: State): StepResult {
  const result = askRules(state)
  const declared = state.tool !== undefined
  if (declared || result.reason === 'POLICY_VIOLATION' || result.reason === 'POLICY_EVALUATION_ERROR')
    return result
  // The class of the tool is a guess: only those who may use the strictest class can call it.
  const stopped = result.reason === 'NO_RULE_MATCHED' || lacksTrust(state) || lacksTier(state)
  return stopped ? deny('TOOL_NOT_DECLARED') : result
}
function askRules(state: State): StepResult {
  const { policy, observed, effect, hosts, tool } = state
  const rule = ruleFor(state)
  if (!rule) {
    // A call without a hostname has an unknown destination, unless the tool is offline.
    const known =
      hosts.every((host) => policy.egress.allow.includes(host)) && (hosts.length > 0 || tool?.offline)
    const passes = observed && known && !['delete', 'pay', 'admin'].includes(effect)
    return passes
      ? { verdict: 'ALLOW', reason: 'OBSERVE_MODE_ALLOWED', rule: OBSERVE }
      : deny('NO_RULE_MATCHED')
  }
  if (answerOf(rule, state) === 'throws') return { ...deny('POLICY_EVALUATION_ERROR'), rule }
  if (rule.action === 'allow') return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule }
  return { ...(rule.action === 'deny' ? deny('POLICY_VIOLATION') : ask('APPROVAL_REQUIRED')), rule }
}
function holdsFor(
  when: ModelCondition,
  { call, policy, score, flow, tier, trust, time }: State,
): boolean | 'throws' | undefined {
  if ('answer' in when) return call.answers[when.answer]
  if ('risk' in when) return score >= when.risk
  if ('label' in when) return flow.labels.includes(when.label)
  if ('tier' in when) return tier === when.tier
  // Without trust settings every principal has a score of 500.
  return policy.trust ? reachesTrust(trust, time, policy.trust, when.trust) : when.trust <= 500
}
