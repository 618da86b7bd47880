// What the rules of a policy say to an observed call, by the evaluator of the gateway itself. Only rules are asked: what gates
// would object to is theirs to say, before and after.

import type { EffectClass } from '@tollgate/evidence'
import { subjectOf } from '@tollgate/kernel'
import { explain, parsePolicy, type Action, type Policy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { callOf, type ObservedCall } from './observed.ts'

/** What the rules said: the rule that decided, and what it does. A condition that failed denies. */
export interface RuleAnswer {
  readonly rule: string
  readonly action: Action
  readonly failed: boolean
}

/** The first rule of a policy that decides on a call; undefined if none does. */
export function askRules(policy: Policy, call: ObservedCall): RuleAnswer | undefined {
  const { intent, snapshot } = tryCall(policy, callOf(call), Date.parse(call.time))
  if (intent.unreadable !== undefined) return undefined
  const decisive = explain(policy, subjectOf(intent, snapshot)).find(
    ({ match }) => match === 'matched' || match === 'condition failed',
  )
  if (!decisive) return undefined
  const failed = decisive.match === 'condition failed'
  return { rule: decisive.rule.id, action: failed ? 'deny' : decisive.rule.action, failed }
}

/** The class that a policy has the tool of a call in now. */
export function effectNow(policy: Policy, call: ObservedCall): EffectClass {
  return tryCall(policy, callOf(call), Date.parse(call.time)).snapshot.effect
}

/** A policy of just these rules, on the tools of another one. @throws Error if they are no rules, which would be our mistake. */
export function policyOfRules(rules: string, tools: Policy['tools'] = []): Policy {
  const parsed = parsePolicy(`tollgate: 1\nname: learned\n${rules}`)
  if (!parsed.ok) {
    const [first] = parsed.mistakes
    throw new Error(`the proposed rules cannot be read: line ${first?.line ?? 0}: ${first?.message ?? ''}`)
  }
  return { ...parsed.policy, tools }
}
