// Compares two rules by their text: whether they are equal, whether one only restricts the other, and whether both can match
// the same call.

import { conditionText, type Rule } from '@tollgate/kernel/policy'
import type { NamePattern } from './generate/names.ts'

/** The effect of a rule as one text, independent of formatting. */
export function ruleText({ id, action, tools, principals, sessions, doors, when }: Rule): string {
  const lists = [tools, principals, sessions].map(sourcesOf)
  return JSON.stringify([id, action, ...lists, doors.toSorted(), when ? conditionText(when.source) : null])
}

function sourcesOf(patterns: readonly NamePattern[]): readonly string[] {
  return [...new Set(patterns.map(({ source }) => source))].sort()
}

/** Whether the new rule certainly allows nothing that the old one in the same position did not allow. */
export function isNarrower(old: Rule, now: Rule): boolean {
  // The old rule allowed everything it matched. With a condition that is not certain, because a failing condition denies.
  if (old.action === 'allow' && !old.when && covers(old, now)) return true
  // The new rule denies or escalates everything that the old one matched.
  return now.action !== 'allow' && (!now.when || textOf(old) === textOf(now)) && covers(now, old)
}

function textOf({ when }: Rule): string {
  return when ? conditionText(when.source) : ''
}

/** Whether the first rule matches every call that the second matches, judged by names. */
function covers(wide: Rule, narrow: Rule): boolean {
  return (
    holds(wide.tools, narrow.tools) &&
    (wide.principals.length === 0 ||
      (narrow.principals.length > 0 && holds(wide.principals, narrow.principals))) &&
    (wide.sessions.length === 0 || (narrow.sessions.length > 0 && holds(wide.sessions, narrow.sessions))) &&
    (wide.doors.length === 0 ||
      (narrow.doors.length > 0 && narrow.doors.every((door) => wide.doors.includes(door))))
  )
}

function holds(wide: readonly NamePattern[], narrow: readonly NamePattern[]): boolean {
  return narrow.every((each) =>
    wide.some((other) => other.source === each.source || (each.exact && other.matches(each.source))),
  )
}

/** Whether a call may exist that both rules match. */
export function rulesMeet(a: Rule, b: Rule): boolean {
  const anyone = (x: readonly NamePattern[], y: readonly NamePattern[]): boolean =>
    x.length === 0 || y.length === 0 || meet(x, y)
  const doors = a.doors.length === 0 || b.doors.length === 0 || a.doors.some((door) => b.doors.includes(door))
  return (
    doors && meet(a.tools, b.tools) && anyone(a.principals, b.principals) && anyone(a.sessions, b.sessions)
  )
}

function meet(a: readonly NamePattern[], b: readonly NamePattern[]): boolean {
  return a.some((x) => b.some((y) => mayMeet(x, y)))
}

/** Whether a name may match both patterns. For two wildcard patterns only the beginnings and ends are compared. */
export function mayMeet(a: NamePattern, b: NamePattern): boolean {
  if (a.exact) return b.matches(a.source)
  if (b.exact) return a.matches(b.source)
  const [x, y] = [a.source, b.source].map((source) => source.split('*'))
  const [head, other] = [x?.[0] ?? '', y?.[0] ?? '']
  const [tail, end] = [x?.at(-1) ?? '', y?.at(-1) ?? '']
  return (head.startsWith(other) || other.startsWith(head)) && (tail.endsWith(end) || end.endsWith(tail))
}
