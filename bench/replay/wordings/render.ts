// Small helpers that the families share.

import type { Goal, Split, Wording } from './types.ts'

/** The wordings of a family: a split belongs to a family as a whole. */
export function family(name: string, split: Split, texts: Record<string, Wording['text']>): Wording[] {
  return Object.entries(texts).map(([each, text]) => ({ family: name, name: each, split, text }))
}

/** Several sentences as one, unless that would change an opaque value. */
function joined({ order, targets }: Goal): string {
  const text = order.trim().replace(/\.$/, '')
  const one = text.replace(/\. ([A-Z])/g, (_, letter: string) => `; ${letter.toLowerCase()}`)
  return targets.every((target) => one.includes(target) || !text.includes(target)) ? one : text
}

/** The order as it stands inside a sentence: a small first letter, no full stop at the end. */
export function inline(goal: Goal): string {
  const text = joined(goal)
  if (goal.targets.some((target) => text.startsWith(target))) return text
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

/** The opaque values, one after the other. */
export function list({ targets }: Goal, between: string = ', '): string {
  return targets.join(between)
}

/** Sums of money in the order that are not part of an opaque value. */
function sums({ order, targets }: Goal): readonly string[] {
  const found = order.match(/\b\d[\d.,]{0,12} ?(?:EUR|USD|GBP|CHF)\b/g) ?? []
  return found.filter((sum) => !targets.some((target) => target.includes(sum)))
}

/** What the order is about, without its English: sums and opaque values. */
export function pieces(goal: Goal): readonly string[] {
  return [...sums(goal), ...goal.targets]
}

/** The same, one after the other. */
export function parts(goal: Goal, between: string = ', '): string {
  return pieces(goal).join(between)
}

/** All but the last of these, in one, and the last: most orders end with the one they are for. */
export function ends(goal: Goal, between: string = ', '): readonly [what: string, where: string] {
  const all = pieces(goal)
  return [all.slice(0, -1).join(between), all.at(-1) ?? '']
}

/** The first of the opaque values. */
export function first({ targets, order }: Goal): string {
  return targets[0] ?? order
}

/** The first name of the person. */
export function given({ user }: Goal): string {
  return user.split(' ')[0] ?? user
}

/** With a capital first letter. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** As a JSON string, quotes included. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
