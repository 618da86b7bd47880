// Proposes rules from observed calls. Every widening is marked, and the rules are tested on every call they come from.

import type { Policy } from '@tollgate/kernel/policy'
import { askRules, policyOfRules } from './check.ts'
import { ruleId } from './names.ts'
import { add, keyOf, type ObservedCall } from './observed.ts'
import { rulesText, type ProposedRule } from './print.ts'
import { exactProposals, fineProposal, roughProposal, wayOf, type RuleProposal } from './rule.ts'
import { leftOut, type LeftOut } from './sift.ts'

export interface LearnOptions {
  /** Allows exactly the observed calls. */
  readonly exact?: boolean
  /** Calls that it already decides are left out, and its rule ids are not reused. */
  readonly policy?: Policy
}

export interface Learned {
  readonly rules: readonly ProposedRule[]
  /** The rules as YAML, beginning with `rules:`. */
  readonly text: string
  /** The calls that the rules come from. */
  readonly calls: readonly ObservedCall[]
  /** How many of them the rules allow, according to the evaluator. */
  readonly allowed: number
  /** How many of them the rules escalate. */
  readonly asked: number
  /** Receipts of calls that no proposed rule covers, because they have contents or do not fit into a condition. */
  readonly uncovered: readonly string[]
  readonly left: readonly LeftOut[]
}

/** The maximum number of tools that rules are proposed for. */
const MAX_TOOLS = 500

export function learn(all: readonly ObservedCall[], options: LearnOptions = {}): Learned {
  const { calls, left } = leftOut(all, options.policy)
  const groups = [...groupsOf(calls, options.exact === true).values()].slice(0, MAX_TOOLS)
  const taken = new Set(options.policy?.rules.map(({ id }) => id))
  const name = (proposal: RuleProposal): ProposedRule => ({ ...proposal, id: ruleId(proposal.tool, taken) })
  const rules = groups.flatMap((own) => proposalsOf(own, options.exact === true)).map(name)
  const first = tryRules(rules, calls, options.policy)
  // If a rule does not cover a call, an exact rule is added.
  const more = [...groupsOf(first.missed, true).values()].flatMap((own) => exactProposals(own)).map(name)
  const last = more.length === 0 ? first : tryRules([...rules, ...more], calls, options.policy)
  return {
    rules: [...rules, ...more],
    text: rulesText([...rules, ...more]),
    calls,
    allowed: last.allowed,
    asked: last.asked,
    uncovered: last.missed.map(({ receipt }) => receipt),
    left,
  }
}

// More rules would not be reviewed.
const MAX_EXACT = 50

/** The rules for the calls of one tool: one if it can allow them, otherwise exact rules and one that escalates similar calls. */
function proposalsOf(calls: readonly ObservedCall[], exact: boolean): readonly RuleProposal[] {
  if (exact) return exactProposals(calls)
  const fine = fineProposal(calls)
  if (fine?.action === 'allow') return [fine]
  const each = [...groupsOf(calls, true).values()].flatMap((own) => exactProposals(own)).slice(0, MAX_EXACT)
  const covered = each.reduce((sum, rule) => sum + rule.calls.length, 0)
  const beyond = fine ?? (covered < calls.length ? roughProposal(calls) : undefined)
  return beyond ? [...each, beyond] : each
}

/** Groups the calls by tool; with `exact`, also by principal, door and context. */
function groupsOf(
  calls: readonly ObservedCall[],
  exact: boolean,
): ReadonlyMap<string, readonly ObservedCall[]> {
  const groups = new Map<string, ObservedCall[]>()
  const sorted = calls.toSorted((a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0))
  for (const call of sorted) {
    add(groups, exact ? JSON.stringify([call.tool, wayOf(call)]) : call.tool, call)
  }
  return groups
}

interface TriedRules {
  readonly allowed: number
  readonly asked: number
  readonly missed: readonly ObservedCall[]
}

/** Asks the evaluator about each distinct call. */
function tryRules(
  rules: readonly ProposedRule[],
  calls: readonly ObservedCall[],
  policy: Policy | undefined,
): TriedRules {
  const learned = policyOfRules(rulesText(rules), policy?.tools)
  const known = new Map<string, string>()
  const missed: ObservedCall[] = []
  let [allowed, asked] = [0, 0]
  for (const call of calls) {
    const key = JSON.stringify([call.tool, wayOf(call), keyOf(call.args)])
    const action = known.get(key) ?? askRules(learned, call)?.action ?? 'none'
    known.set(key, action)
    if (action === 'allow') allowed++
    else if (action === 'require') asked++
    else missed.push(call)
  }
  return { allowed, asked, missed }
}
