// The ladder of the model: every rung's rule once more, and the order in which they count. Shares nothing but types with
// the kernel.

import type { ReasonCode, Rung, Verdict } from '@tollgate/evidence'
import type { ModelRule } from './model-world.ts'
import type { Scene } from './model.ts'
import { fill, nameOf } from './model-risk.ts'

/** What a rung says. */
export interface Word {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rule?: ModelRule | undefined
}
/** What was decided, and by which rung. */
export type Heard = Word & { readonly rung: Rung }

/** Whether a name fits a pattern in which `*` stands for anything. */
export function matches(pattern: string, name: string): boolean {
  if (pattern === '' || (name === '' && !pattern.startsWith('*'))) return name === pattern
  if (!pattern.startsWith('*'))
    return pattern.startsWith(name.charAt(0)) && matches(pattern.slice(1), name.slice(1))
  return matches(pattern.slice(1), name) || (name !== '' && matches(pattern, name.slice(1)))
}
function fits(patterns: readonly string[], name = '(nobody)'): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matches(pattern, name))
}

/** A denial. */
export const deny = (reason: ReasonCode): Word => ({ verdict: 'DENY', reason })
const ask = (reason: ReasonCode): Word => ({ verdict: 'ESCALATE', reason })
const silent = (): undefined => undefined

const LADDER: readonly (readonly [Rung, (scene: Scene) => Word | undefined])[] = [
  ['freeze', ({ freeze }) => freeze && deny(freeze)],
  ['schema', askSchema],
  ['context', askContext],
  ['identity', askIdentity],
  [
    'browser',
    ({ call, effect, tool }) => call.page(effect, tool?.browser, tool && !tool.offline ? call.hosts : []),
  ],
  ['egress', askEgress],
  ['taint', silent],
  ['threat', silent],
  ['delegation', silent],
  ['session-risk', askRisk],
  ['trust', silent],
  ['privilege', silent],
  ['scope', silent],
  ['policy', askPolicy],
  ['temporal', askRates],
  ['compliance', silent],
]

/** The first DENY; if there is none, the first ESCALATE, with the rule that asks; else what the policy says. */
export function climb(scene: Scene): Heard {
  const { call, freeze, policy } = scene
  if (call.form === 'unreadable') return { ...deny('AMBIGUOUS_INPUT'), rung: 'capture' }
  if (policy.none && freeze) return { ...deny(freeze), rung: 'freeze' }
  if (policy.none) return { ...deny('NO_POLICY_DEFINED'), rung: 'policy' }
  const words = LADDER.flatMap(([rung, check]): Heard[] => {
    const said = call.replaced[rung]
    const word = said === 'throws' ? deny('GATE_FAILED') : (said ?? check(scene))
    return word ? [{ ...word, rung }] : []
  })
  const denial = words.find(({ verdict }) => verdict === 'DENY')
  const asking = words.filter(({ verdict }) => verdict === 'ESCALATE')
  const held = asking[0] && { ...asking[0], rule: asking.find(({ rule }) => rule)?.rule }
  const granted = words.find(({ verdict }) => verdict === 'ALLOW')
  return denial ?? held ?? granted ?? { ...deny('GATE_FAILED'), rung: 'policy' }
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
function askRisk({ call, session, principal, effect, tooRisky }: Scene): Word | undefined {
  if ((session.broken || principal.broken) && (effect !== 'read' || call.acts)) return deny('STATE_MISMATCH')
  return tooRisky ? deny('SESSION_RISK_MEMORY_DENY') : undefined
}
function askPolicy({ call, policy, score }: Scene): Word {
  const answer = ({ when }: ModelRule): boolean | 'throws' | undefined =>
    when === undefined || ('risk' in when ? score >= when.risk : call.answers[when.answer])
  const rule = policy.rules
    .filter(({ tools, doors }) => fits(tools, call.tool) && fits(doors, call.door))
    .filter(({ principals, sessions }) => fits(principals, call.principal) && fits(sessions, call.session))
    .find((each) => answer(each) !== false)
  if (!rule) return deny('NO_RULE_MATCHED')
  if (answer(rule) === 'throws') return { ...deny('POLICY_EVALUATION_ERROR'), rule }
  if (rule.action === 'allow') return { verdict: 'ALLOW', reason: 'RULE_ALLOWED', rule }
  return { ...(rule.action === 'deny' ? deny('POLICY_VIOLATION') : ask('APPROVAL_REQUIRED')), rule }
}
function askRates({ call, policy, principal, time }: Scene): Word | undefined {
  const own = policy.rates.filter(({ tools }) => matches(tools, call.tool))
  const spent = own.some((rate) => fill(rate, principal.rates.get(nameOf(rate)), time).left < rate.period)
  return spent ? deny('TEMPORAL_INTERVENTION') : undefined
}
