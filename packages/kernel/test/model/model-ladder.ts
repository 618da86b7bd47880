// The ladder of the model: every rung's rule once more, and the order in which they count. Shares nothing but types with
// the kernel.

import type { LadderStep } from '@tollgate/evidence'
import { fits } from './model-glob.ts'
import type { ModelCondition, ModelRule } from './model-policy.ts'
import { askDelegation, askPrivilege, askRisk, askTemporal, askTrust } from './model-rungs-caller.ts'
import { askCompliance, askTaint, askThreat } from './model-rungs-data.ts'
import { askScope } from './model-scope.ts'
import { reachesTrust } from './model-trust.ts'
import { ask, deny, type SeenValues, type Word } from './model-risk-terms.ts'
import type { Scene } from './model.ts'

const OBSERVE: ModelRule = {
  id: 'observe',
  action: 'allow',
  tools: [],
  principals: [],
  sessions: [],
  doors: [],
  when: undefined,
  approvers: [],
  expires: 0,
}

const LADDER: readonly (readonly [LadderStep, (scene: Scene) => Word | undefined])[] = [
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

/** The first DENY; if there is none, the first ESCALATE, with the rule that asks; else what the policy says. */
export function climb(scene: Scene): SeenValues {
  const { call, freeze, policy } = scene
  if (call.form === 'unreadable') return { ...deny('AMBIGUOUS_INPUT'), rung: 'capture' }
  if (policy.none && freeze) return { ...deny(freeze), rung: 'freeze' }
  if (policy.none) return { ...deny('NO_POLICY_DEFINED'), rung: 'policy' }
  const words = LADDER.flatMap(([rung, check]): SeenValues[] => {
    const said = call.replaced[rung]
    const word = said === 'throws' ? deny('GATE_FAILED') : (said ?? check(scene))
    return word ? [{ ...word, rung }] : []
  })
  const denial = words.find(({ verdict }) => verdict === 'DENY')
  const asking = words.filter(({ verdict }) => verdict === 'ESCALATE')
  const asks = asking.map(({ rung, reason, about }) => [rung, reason, ...(about ? [about] : [])].join(' '))
  const held = asking[0] && { ...asking[0], rule: asking.find(({ rule }) => rule)?.rule, asks }
  const granted = words.find(({ verdict }) => verdict === 'ALLOW')
  if (!denial && held && granted?.rule === OBSERVE) return { ...deny('NO_RULE_MATCHED'), rung: 'policy' }
  return denial ?? held ?? granted ?? { ...deny('GATE_FAILED'), rung: 'policy' }
}

/** Whether anybody looked into the call: what is stopped at the door is not read. */
export function wasRead({ verdict, rung }: SeenValues): boolean {
  return verdict !== 'DENY' || !['capture', 'freeze', 'schema', 'context', 'identity'].includes(rung)
}

function askSchema({ call: { form }, tool, offered, pinned }: Scene): Word | undefined {
  if ((tool ?? offered ?? pinned) === undefined) return deny('DENY_TOOL_NOT_FOUND')
  if (offered && pinned && offered !== pinned) return deny('TOOL_DEFINITION_CHANGED')
  if (form === 'no object' || (form === 'misfits' && tool?.schema)) return deny('SCHEMA_VIOLATION')
  if (form === 'breaks the check' && tool?.schema) return deny('GATE_FAILED')
  return offered && !pinned ? ask('TOOL_NOT_PINNED') : undefined
}
function askContext({ call: { tenant, context }, policy }: Scene): Word | undefined {
  const { tenants, environments, workspaces } = policy.context
  const own = (context.tenant ?? tenant) === tenant && fits(tenants, tenant)
  const right = own && fits(environments, context.environment) && fits(workspaces, context.workspace)
  return right ? undefined : deny('CONTEXT_MISMATCH')
}
function askIdentity({ call: { principal, claimed } }: Scene): Word | undefined {
  if (principal === undefined) return deny('IDENTITY_MISSING')
  return (claimed ?? principal) === principal ? undefined : deny('IDENTITY_ISOLATION_VIOLATION')
}
function askEgress({ hosts, outside, policy: { egress } }: Scene): Word | undefined {
  if (outside) return deny('DATA_EGRESS_BLOCKED')
  return hosts.every((host) => egress.allow.includes(host)) ? undefined : ask('EGRESS_APPROVAL_REQUIRED')
}

const answerOf = ({ when }: ModelRule, scene: Scene): boolean | 'throws' | undefined =>
  when === undefined || holdsFor(when, scene)

/** The rule that speaks of a call. */
export function ruleFor(scene: Scene): ModelRule | undefined {
  const { call, policy } = scene
  return policy.rules
    .filter(({ tools, doors }) => fits(tools, call.tool) && fits(doors, call.door))
    .filter(({ principals, sessions }) => fits(principals, call.principal) && fits(sessions, call.session))
    .find((each) => answerOf(each, scene) !== false)
}

function askPolicy(scene: Scene): Word {
  const { policy, observed, effect, hosts, tool } = scene
  const rule = ruleFor(scene)
  if (!rule) {
    // Where a call goes that says nothing of it, nobody knows, unless the tool reaches nothing at all.
    const known =
      hosts.every((host) => policy.egress.allow.includes(host)) && (hosts.length > 0 || tool?.offline)
    const passes = observed && known && !['delete', 'pay', 'admin'].includes(effect)
    return passes
      ? { verdict: 'ALLOW', reason: 'OBSERVE_MODE_ALLOWED', rule: OBSERVE }
      : deny('NO_RULE_MATCHED')
  }
  if (answerOf(rule, scene) === 'throws') return { ...deny('POLICY_EVALUATION_ERROR'), rule }
  if (rule.action === 'allow') return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule }
  return { ...(rule.action === 'deny' ? deny('POLICY_VIOLATION') : ask('APPROVAL_REQUIRED')), rule }
}
function holdsFor(
  when: ModelCondition,
  { call, policy, score, flow, tier, trust, time }: Scene,
): boolean | 'throws' | undefined {
  if ('answer' in when) return call.answers[when.answer]
  if ('risk' in when) return score >= when.risk
  if ('label' in when) return flow.labels.includes(when.label)
  if ('tier' in when) return tier === when.tier
  // Whom nobody keeps a score of stands in the middle.
  return policy.trust ? reachesTrust(trust, time, policy.trust, when.trust) : when.trust <= 500
}
