// Proposes the edit of a policy that always allows one escalated call: a rule for exactly this call, and its hostnames if the egress
// gate asks about them. The edit is tested: the call is allowed, and generated calls show all that changes beside it.

import type { Decision, Json } from '@tollgate/evidence'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { tryCall, type Trial } from '@tollgate/kernel/workbench'
import { LOOSENING, type ChangeGroup } from './compare.ts'
import { compareCases, compareGenerated, createFindings } from './diff.ts'
import type { Draft } from './generate/draft.ts'
import { isObject } from './generate/shape.ts'
import { addToList, inserted, insertRule, type Insertion } from './splice.ts'
import { askRules, withDestinations } from './learn/check.ts'
import { ruleId } from './learn/names.ts'
import { callOf, NO_TENANT, type ObservedCall } from './learn/observed.ts'
import { rulesText } from './learn/print.ts'
import { exactProposals } from './learn/rule.ts'

/** An escalated call, and the steps that asked for an approval. */
export interface EscalatedCall extends Omit<ObservedCall, 'destinations' | 'clean'> {
  readonly steps: readonly string[]
}

/** A tested edit, or the reason why there is none. */
export type AlwaysProposal =
  | {
      readonly ok: true
      /** The complete changed policy. */
      readonly text: string
      readonly insertions: readonly Insertion[]
      /** The new rule; undefined if a rule allows the call already. */
      readonly rule?: string | undefined
      /** The hostnames that need no approval any more, for any call. */
      readonly hosts: readonly string[]
      /** The number of tried calls. */
      readonly tried: number
      /** Groups of calls that become looser. The call itself is one of them. */
      readonly loosened: readonly ChangeGroup[]
    }
  | { readonly ok: false; readonly why: string; readonly remedy: string }

/** A tested edit. */
export type AlwaysEdit = Extract<AlwaysProposal, { readonly ok: true }>
type NoEdit = Extract<AlwaysProposal, { readonly ok: false }>

const TRIED = 2000

/** The escalated call of a decision. `asks` has the objections of the request. */
export function escalatedCall(
  receipt: string,
  decision: Decision,
  asks: readonly string[],
  args: Json,
): EscalatedCall {
  const { time, session, principal, door, tool, effect_class: effect, tenant, rung } = decision
  const steps = asks.length === 0 ? [rung] : asks.map((each) => each.split(' ')[0] ?? '')
  return { receipt, time, session: session.id, principal, door, tool, effect, tenant, args, steps }
}

/** Proposes the edit. The same policy, call and time give the same proposal. */
export function proposeAlways(policy: Policy, escalated: EscalatedCall, time: number): AlwaysProposal {
  const other = escalated.steps.find((step) => step !== 'policy' && step !== 'egress')
  if (other !== undefined) return byGate(other)
  const call = withDestinations(policy, { ...escalated, clean: true })
  const ruled = askRules(policy, call)
  const ruling = ruled?.action === 'allow' ? { insertions: [] } : ruleFor(policy, call, ruled?.rule)
  if ('why' in ruling) return ruling
  const reason = judged(inserted(policy.text, ruling.insertions), call, time)?.reason
  const hosts = reason === 'EGRESS_APPROVAL_REQUIRED' ? hostsOf(call) : []
  const places = hosts.map((host) => addToList(policy.text, ['gates', 'egress', 'allow'], host))
  if (places.includes(undefined)) {
    return refused(
      'the policy has no list `gates.egress.allow`',
      `add \`gates.egress.allow\` with ${hosts.join(', ')}`,
    )
  }
  const insertions = [...ruling.insertions, ...places.filter((place) => place !== undefined)]
  return tested(policy, call, time, { insertions, rule: ruling.rule, hosts })
}

function byGate(step: string): NoEdit {
  return refused(
    `the check \`${step}\` asked, and it depends on more than the call, so no rule can allow it in advance`,
    'approve the call once, or change the settings of that gate in the policy',
  )
}

function refused(why: string, remedy: string): NoEdit {
  return { ok: false, why, remedy }
}

const BY_HAND = 'write a rule by hand, then run `tollgate policy test` and `tollgate policy activate`'

/** Returns the policy with a rule for exactly this call, before the rule that asks. */
function ruleFor(
  policy: Policy,
  call: ObservedCall,
  asking: string | undefined,
): { readonly insertions: readonly Insertion[]; readonly rule?: string } | NoEdit {
  const [proposal, another] = exactProposals([call])
  if (!proposal || another) {
    return refused(
      'the arguments contain the content of a file or a message, or do not fit into a condition',
      BY_HAND,
    )
  }
  if (proposal.action !== 'allow') return refused(proposal.asks.join('; '), BY_HAND)
  if (asking === undefined) {
    return refused('no rule of the policy in force asks about this call any more', 'send the call again')
  }
  const id = ruleId(call.tool, new Set(policy.rules.map((rule) => rule.id)))
  const lines = rulesText([{ ...proposal, id }])
    .split('\n')
    .slice(1)
  const rule = lines.map((line) => line.replace(/^ {2}/, '')).join('\n')
  const insertion = insertRule(policy.text, asking, rule)
  return insertion
    ? { insertions: [insertion], rule: id }
    : refused('the rules of the policy are not written with one rule per line', BY_HAND)
}

function hostsOf({ destinations }: ObservedCall): readonly string[] {
  return [...new Set(destinations.map(({ host }) => host))].sort()
}

function judged(text: string, call: ObservedCall, time: number): Trial['judgement'] | undefined {
  const parsed = parsePolicy(text)
  return parsed.ok ? tryCall(parsed.policy, callOf(call), time).judgement : undefined
}

/** Tests the edit. Returns it only if it adds nothing but the rule, and the call is allowed. */
function tested(
  before: Policy,
  call: ObservedCall,
  time: number,
  edit: Pick<AlwaysEdit, 'insertions' | 'rule' | 'hosts'>,
): AlwaysProposal {
  const text = inserted(before.text, edit.insertions)
  const parsed = parsePolicy(text)
  const others = parsed.ok ? parsed.policy.rules.filter(({ id }) => id !== edit.rule) : []
  const isSameBeside = others.map(({ id }) => id).join('\n') === before.rules.map(({ id }) => id).join('\n')
  if (!parsed.ok || !isSameBeside) return refused('the policy could not be changed safely', BY_HAND)
  const { verdict, reason } = tryCall(parsed.policy, callOf(call), time).judgement
  if (verdict !== 'ALLOW') {
    return refused(`the call would still be answered ${verdict}, ${reason}`, BY_HAND)
  }
  const findings = createFindings(before, parsed.policy)
  const drafts = draftsOf(call, time)
  compareCases(before, parsed.policy, drafts, findings)
  let tried = 0
  for (const many of compareGenerated(before, parsed.policy, TRIED, findings, drafts)) tried = many
  const loosened = findings.comparison.groups(new Set()).filter(({ change }) => LOOSENING.includes(change))
  return { ok: true, text, ...edit, tried, loosened }
}

function draftsOf(call: ObservedCall, time: number): readonly Draft[] {
  const { tool, args, principal, session, door, tenant = NO_TENANT, environment, workspace } = call
  return isObject(args)
    ? [{ tool, args, principal, session, door, tenant, environment, workspace, time }]
    : []
}
