// Generates names that match patterns of a policy, and names that almost match.

import type { Policy } from '@tollgate/kernel/policy'

export type NamePattern = Policy['tools'][number]['name']

const FILLINGS: readonly string[] = ['probe', 'x', '']
const MAX_NAME_LENGTH = 256

/** Names that match a pattern. An exact pattern is its own name. */
export function namesFor(pattern: NamePattern): readonly string[] {
  const { source, exact } = pattern
  if (exact) return [source]
  return FILLINGS.map((filling) => source.replaceAll('*', filling)).filter((name) => isName(name, pattern))
}

/** Names that match both patterns, if they are easy to find. */
export function namesForBoth(a: NamePattern, b: NamePattern): readonly string[] {
  if (a.exact) return b.matches(a.source) ? [a.source] : []
  if (b.exact) return a.matches(b.source) ? [b.source] : []
  const [first, ...restA] = a.source.split('*')
  const [second, ...restB] = b.source.split('*')
  const front = longer(first ?? '', second ?? '')
  const back = longer(restA.pop() ?? '', restB.pop() ?? '')
  const between = [...restA, ...restB].join('')
  return ['', 'probe']
    .map((filling) => front + between + filling + back)
    .filter((name) => isName(name, a) && isName(name, b))
}

function longer(a: string, b: string): string {
  return a.length >= b.length ? a : b
}

function isName(name: string, pattern: NamePattern): boolean {
  return name !== '' && name.length <= MAX_NAME_LENGTH && pattern.matches(name)
}

/** Names that almost match a pattern. */
export function namesNear({ source }: NamePattern): readonly string[] {
  const name = source.replaceAll('*', 'x')
  return [`${name}x`, name.slice(0, -1), name.toUpperCase(), source.replaceAll('*', '').slice(0, -1)].filter(
    (each) => each !== '' && each.length <= MAX_NAME_LENGTH,
  )
}
