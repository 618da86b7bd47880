// Generates values for one part of a call: at the limits of a condition, on both sides of them, and of other types.

import type { Json } from '@tollgate/evidence'
import type { Clue } from '@tollgate/kernel/workbench'
import { textsOf } from './pattern.ts'

const MAX_FITTING = 6
const MAX_VALUES = 64
const MAX_TEXT_LENGTH = 4096
const FILLINGS: readonly string[] = ['x', '', 'a/b', '1', 'X.y']
const ANYTHING: readonly Json[] = ['x', 0, true, 1, -1, 'probe', '', false, [], {}, null]

/** Finds values that match all clues about one part; undefined means no value. */
export type Fitting = (clues: readonly Clue[]) => readonly (Json | undefined)[]

const MAX_KEPT = 2000
const MAX_WORK = 100_000_000

/** Creates a value finder. Large patterns are slow, so beyond a work limit values are no longer checked. */
export function createFitting(): Fitting {
  const kept = new Map<string, readonly (Json | undefined)[]>()
  let left = MAX_WORK
  const costs = (value: Json | undefined, clues: readonly Clue[]): number => {
    const length = typeof value === 'string' ? value.length : 1
    return clues.reduce(
      (sum, clue) => sum + 1 + (clue.test === 'matches' ? length * String(clue.value).length : 0),
      0,
    )
  }
  return (clues) => {
    const key = JSON.stringify(clues.map(({ test, value, holds }) => [test, value, holds ?? null]))
    const known = kept.get(key)
    if (known) return known
    if (kept.size >= MAX_KEPT) kept.clear()
    const found: (Json | undefined)[] = []
    for (const value of distinct([...clues.flatMap(around), ...joined(clues), ...ANYTHING, undefined])) {
      if (found.length >= MAX_FITTING) break
      left -= costs(value, clues)
      if (left < 0 || clues.every((clue) => clue.fits(value))) found.push(value)
    }
    kept.set(key, found)
    return found
  }
}

/** Values that probe these clues, whether they match or not. */
export function probing(clues: readonly Clue[]): readonly (Json | undefined)[] {
  const values = rareFirst(clues.map(around))
  // Alternates between clues, so that a long list of constants does not displace the others.
  const longest = Math.max(0, ...values.map(({ length }) => length))
  const inTurn = Array.from({ length: Math.min(longest, MAX_VALUES) }, (_, i) =>
    values.flatMap((list) => list.slice(i, i + 1)),
  ).flat()
  return distinct([...joined(clues), ...inTurn.slice(0, 4 * MAX_VALUES), undefined, ...ANYTHING]).slice(
    0,
    MAX_VALUES,
  )
}

/** Values that only one list has come first: there two policies may differ. */
function rareFirst(lists: readonly (readonly Json[])[]): readonly (readonly Json[])[] {
  const counts = new Map<string, number>()
  for (const value of lists.flat())
    counts.set(JSON.stringify(value), (counts.get(JSON.stringify(value)) ?? 0) + 1)
  const isRare = (value: Json): boolean => counts.get(JSON.stringify(value)) === 1
  return lists.map((list) => [...list.filter(isRare), ...list.filter((value) => !isRare(value))])
}

function distinct(values: readonly (Json | undefined)[]): readonly (Json | undefined)[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

/** Texts at and around the value of a clue. */
export function textsAround(clue: Clue): readonly string[] {
  return around(clue).filter((value) => typeof value === 'string')
}

/** Values at and around the value of a clue. */
function around(clue: Clue): readonly Json[] {
  const { test, value } = clue
  if (test === 'matches' && typeof value === 'string') return textsOf(value).flatMap(changed)
  if (test === 'type') return ['x', 1, true, null, [], {}]
  if (test === 'present' || test === 'same') return []
  if (test.startsWith('within') && typeof value === 'string') return insideAndOut(test, value)
  const constants = Array.isArray(value) ? (value as readonly Json[]) : [value as Json]
  return [...constants, ...constants.slice(0, 8).flatMap(near)]
}

/** Texts inside of a directory, hostname or URL, and texts that only look like it. */
function insideAndOut(test: Clue['test'], base: string): readonly string[] {
  if (test === 'within host') {
    return [base, `www.${base}`, `x${base}`, `${base}.stranger.example`, `${base}:443`, ...changed(base)]
  }
  const folder = base.replace(/\/$/, '')
  const below = [
    '/x',
    '/a/b.txt',
    '/',
    '/../x',
    '/a/../../x',
    '/./x',
    '//x',
    '/%2e%2e/x',
    '/..\\x',
    '-x',
    '/a/../b',
  ]
  const texts = [...below.map((rest) => folder + rest), folder, ...changed(folder)]
  return test === 'within url' ? [...texts, folder.replace('://', '://x@'), `${folder}?q=1`] : texts
}

function near(value: Json): readonly Json[] {
  if (typeof value === 'number') return [value - 1, value + 1, value - 0.5, value + 0.5, 0, String(value)]
  if (typeof value === 'boolean') return [!value, String(value)]
  return typeof value === 'string' ? changed(value).slice(1) : ['x']
}

/** A text and small variations of it. */
function changed(text: string): readonly string[] {
  const middle = Math.floor(text.length / 2)
  const texts = [
    text,
    `${text}x`,
    `x${text}`,
    text.slice(0, -1),
    text.slice(1),
    `x${text}x`,
    otherCase(text),
    `${text}/x`,
    `${text}/../x`,
    `${text.slice(0, middle)}~${text.slice(middle + 1)}`,
    '',
  ]
  return texts.filter((each) => each.length <= MAX_TEXT_LENGTH)
}

function otherCase(text: string): string {
  const upper = text.toUpperCase()
  return upper === text ? text.toLowerCase() : upper
}

/** Texts that combine the beginnings, contents and endings of all clues. */
function joined(clues: readonly Clue[]): readonly string[] {
  const texts = (test: Clue['test']): readonly string[] =>
    clues.flatMap((clue) =>
      clue.test === test && clue.holds !== false && typeof clue.value === 'string' ? [clue.value] : [],
    )
  const longest = (list: readonly string[]): string =>
    list.reduce((best, each) => (each.length > best.length ? each : best), '')
  const folders = texts('within path').map((folder) => `${folder.replace(/\/$/, '')}/`)
  const front = longest([...texts('starts'), ...folders])
  const back = longest(texts('ends'))
  const middle = texts('contains').slice(0, 8).join('')
  const patterns = texts('matches')
    .slice(0, 4)
    .map((pattern) => textsOf(pattern).slice(0, 8))
  const whole = [...FILLINGS, ...patterns.flat()].map((filling) => front + middle + filling + back)
  const joint = patterns.length > 1 ? concatenated(patterns) : []
  return [...(front + back + middle === '' ? [] : whole), ...joint].filter(
    (text) => text.length <= MAX_TEXT_LENGTH,
  )
}

const SEPARATORS: readonly string[] = ['', '/', ' ', ' x ']

/** Texts of several patterns in one, in either order. */
function concatenated(patterns: readonly (readonly string[])[]): readonly string[] {
  const pairs = patterns.flatMap((list, i) =>
    patterns.flatMap((others, j) =>
      i === j ? [] : list.slice(0, 4).flatMap((x) => others.slice(0, 4).map((y) => [x, y] as const)),
    ),
  )
  return pairs.flatMap(([x, y]) => SEPARATORS.map((separator) => x + separator + y))
}
