// What can be told of two rules by looking at them: whether they say the same, whether one only lets less pass, whether both can
// be about one call.

import { conditionText, type Rule } from '@tollgate/kernel/policy'
import type { NamePattern } from './generate/names.ts'

/** All that a rule decides, in one text: the same for the same meaning, however it is written. */
export function ruleText({ id, action, tools, principals, sessions, doors, when }: Rule): string {
  const lists = [tools, principals, sessions].map(sourcesOf)
  return JSON.stringify([id, action, ...lists, doors.toSorted(), when ? conditionText(when.source) : null])
}

function sourcesOf(patterns: readonly NamePattern[]): readonly string[] {
  return [...new Set(patterns.map(({ source }) => source))].sort()
}

/** Whether the second of two rules in the same place can certainly let nothing pass that the first did not. */
export function isNarrower(old: Rule, now: Rule): boolean {
  // Everything that it was about has passed. With a condition that would not be so: one that fails denies.
  if (old.action === 'allow' && !old.when && covers(old, now)) return true
  // What it denies or asks about does not pass, whatever it was before.
  return now.action !== 'allow' && (!now.when || textOf(old) === textOf(now)) && covers(now, old)
}

function textOf({ when }: Rule): string {
  return when ? conditionText(when.source) : ''
}

/** Whether the first rule is about every call that the second is about, as far as names tell. */
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

/** Whether there may be a call that both rules are about. */
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

/** Whether one name may fit both. Where both are patterns, only what they begin and end with can tell. */
export function mayMeet(a: NamePattern, b: NamePattern): boolean {
  if (a.exact) return b.matches(a.source)
  if (b.exact) return a.matches(b.source)
  const [x, y] = [a.source, b.source].map((source) => source.split('*'))
  const [head, other] = [x?.[0] ?? '', y?.[0] ?? '']
  const [tail, end] = [x?.at(-1) ?? '', y?.at(-1) ?? '']
  return (head.startsWith(other) || other.startsWith(head)) && (tail.endsWith(end) || end.endsWith(tail))
}
