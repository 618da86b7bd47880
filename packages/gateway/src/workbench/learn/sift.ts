// Selects the observed calls to learn from, and explains why others are left out.

import { NEVER_OBSERVED, type EffectClass, type Json } from '@tollgate/evidence'
import type { Policy } from '@tollgate/kernel/policy'
import { holdsSecret } from '../../tools/seen.ts'
import { stricter } from '../../tools/effect-words.ts'
import { askRules, effectNow, type RuleAnswer } from './check.ts'
import { add, keyOf, type ObservedCall } from './observed.ts'

/** Calls that were left out, and why. */
export interface LeftOut {
  readonly why: string
  readonly calls: number
  readonly sessions: number
}

/** Separates the calls to learn from and those to leave out. */
export function leftOut(
  all: readonly ObservedCall[],
  policy: Policy | undefined,
): { readonly calls: readonly ObservedCall[]; readonly left: readonly LeftOut[] } {
  const unclean = new Map(
    all.filter(({ clean }) => !clean).map((call) => [sessionOf(call), call.why ?? 'not clean']),
  )
  const asOfNow = classesNow(policy)
  const calls: ObservedCall[] = []
  const left = new Map<string, ObservedCall[]>()
  for (const each of all) {
    const call = asOfNow(each)
    const flaw = unclean.get(sessionOf(call))
    const why = flaw === undefined ? againstCall(call, policy) : `their session is not usable: ${flaw}`
    if (why === undefined) calls.push(call)
    else add(left, why, call)
  }
  return {
    calls,
    left: [...left].map(([why, own]) => ({ why, calls: own.length, sessions: sessionsIn(own) })),
  }
}

/** Gives a call the stricter of the former and the current effect class of its tool. */
function classesNow(policy: Policy | undefined): (call: ObservedCall) => ObservedCall {
  const known = new Map<string, EffectClass>()
  return (call) => {
    const now = known.get(call.tool) ?? (policy ? effectNow(policy, call) : call.effect)
    if (policy) known.set(call.tool, now)
    return { ...call, effect: stricter(call.effect, now) }
  }
}

/** Identifies the session of a call. */
export function sessionOf({ tenant = '', principal, session }: ObservedCall): string {
  return JSON.stringify([tenant, principal, session])
}

function sessionsIn(calls: readonly ObservedCall[]): number {
  return new Set(calls.map(sessionOf)).size
}

function againstCall(call: ObservedCall, policy: Policy | undefined): string | undefined {
  if (NEVER_OBSERVED.has(call.effect))
    return `a tool of the effect class ${call.effect} needs a rule written by a person`
  if (!isReadable(call.args)) return 'the arguments cannot be read'
  if (holdsSecret(call.args)) return 'the arguments seem to contain a secret, which must not be in a policy'
  const answer = policy && askRules(policy, call)
  return answer && decidedBy(answer)
}

function decidedBy({ rule, action, failed }: RuleAnswer): string {
  if (failed) return `the condition of rule \`${rule}\` of the policy fails, which denies them`
  if (action === 'allow') return `rule \`${rule}\` of the policy already allows them`
  return action === 'deny'
    ? `rule \`${rule}\` of the policy denies them; change that rule if they should be allowed`
    : `rule \`${rule}\` of the policy already escalates them`
}

function isReadable(args: Json): boolean {
  try {
    return keyOf(args) !== ''
  } catch {
    // Not valid arguments of a call.
    return false
  }
}
