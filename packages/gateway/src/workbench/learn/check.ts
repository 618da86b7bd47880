// Asks the rules of a policy about an observed call, with the evaluator of the gateway. Gates are not asked.

import type { EffectClass } from '@tollgate/evidence'
import { subjectOf, type ToolCall } from '@tollgate/kernel'
import { explain, parsePolicy, type Action, type Policy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { callOf, type ObservedCall } from './observed.ts'

/** The rule that decided and its action. A failed condition denies. */
export interface RuleAnswer {
  readonly rule: string
  readonly action: Action
  readonly failed: boolean
}

/** The first rule of a policy that decides a call; undefined if none does. */
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

/** The current effect class of the tool of a call in a policy. */
export function effectNow(policy: Policy, call: ObservedCall): EffectClass {
  return tryCall(policy, callOf(call), Date.parse(call.time)).snapshot.effect
}

/** The call with the destinations that it has under a policy. `asked` has more than the call, if more was kept. */
export function withDestinations(
  policy: Policy,
  call: Omit<ObservedCall, 'destinations'>,
  asked: Partial<ToolCall> = {},
): ObservedCall {
  const bare = { ...call, destinations: [] }
  const { snapshot } = tryCall(policy, { ...callOf(bare), ...asked }, Date.parse(call.time))
  const destinations = snapshot.destinations().map(({ scheme, host, port }) => ({ scheme, host, port }))
  const facts = snapshot.tool?.declared?.factsFrom && snapshot.callFacts()
  return { ...call, destinations, ...(facts && { facts }) }
}

/** A policy with just these rules, on the tools of another one. @throws Error if the rules do not parse, which is a bug. */
export function policyOfRules(rules: string, tools: Policy['tools'] = []): Policy {
  const parsed = parsePolicy(`tollgate: 1\nname: learned\n${rules}`)
  if (!parsed.ok) {
    const [first] = parsed.mistakes
    throw new Error(`the proposed rules do not parse: line ${first?.line ?? 0}: ${first?.message ?? ''}`)
  }
  return { ...parsed.policy, tools }
}
