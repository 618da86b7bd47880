// Which observed calls are learned from, and which are not, and why.

import { NEVER_OBSERVED, type EffectClass, type Json } from '@tollgate/evidence'
import type { Policy } from '@tollgate/kernel/policy'
import { holdsSecret } from '../../tools/seen.ts'
import { stricter } from '../../tools/effect-words.ts'
import { askRules, effectNow, type RuleAnswer } from './check.ts'
import { add, keyOf, type ObservedCall } from './observed.ts'

/** Calls that were not learned from, and why. */
export interface LeftOut {
  readonly why: string
  readonly calls: number
  readonly sessions: number
}

/** Sorts out the calls that nothing is to be learned from. */
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
    const said = unclean.get(sessionOf(call))
    const why = said === undefined ? againstCall(call, policy) : `their session is not clean: ${said}`
    if (why === undefined) calls.push(call)
    else add(left, why, call)
  }
  return {
    calls,
    left: [...left].map(([why, own]) => ({ why, calls: own.length, sessions: sessionsIn(own) })),
  }
}

/** Puts a call into the stricter of the classes that its tool had then and has now. */
function classesNow(policy: Policy | undefined): (call: ObservedCall) => ObservedCall {
  const known = new Map<string, EffectClass>()
  return (call) => {
    const now = known.get(call.tool) ?? (policy ? effectNow(policy, call) : call.effect)
    if (policy) known.set(call.tool, now)
    return { ...call, effect: stricter(call.effect, now) }
  }
}

/** What tells the session of a call from all others. */
export function sessionOf({ tenant = '', principal, session }: ObservedCall): string {
  return JSON.stringify([tenant, principal, session])
}

function sessionsIn(calls: readonly ObservedCall[]): number {
  return new Set(calls.map(sessionOf)).size
}

function againstCall(call: ObservedCall, policy: Policy | undefined): string | undefined {
  if (NEVER_OBSERVED.has(call.effect))
    return `a tool of class ${call.effect} needs a rule that a person writes`
  if (!isReadable(call.args)) return 'the arguments cannot be read'
  if (holdsSecret(call.args)) return 'the arguments hold what looks like a secret, which belongs in no policy'
  const said = policy && askRules(policy, call)
  return said && decidedBy(said)
}

function decidedBy({ rule, action, failed }: RuleAnswer): string {
  if (failed) return `the condition of rule \`${rule}\` of the policy fails, which denies them`
  if (action === 'allow') return `rule \`${rule}\` of the policy allows them already`
  return action === 'deny'
    ? `rule \`${rule}\` of the policy denies them; change that rule if they should pass`
    : `rule \`${rule}\` of the policy asks a person about them already`
}

function isReadable(args: Json): boolean {
  try {
    return keyOf(args) !== ''
  } catch {
    // Nothing that a call could have had.
    return false
  }
}
