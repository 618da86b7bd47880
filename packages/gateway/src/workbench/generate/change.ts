// Generates calls for a changed condition: texts that the old and the new condition may treat differently, in calls that
// reach the rule.

import type { Json } from '@tollgate/evidence'
import type { Rule } from '@tollgate/kernel/policy'
import type { Clue } from '@tollgate/kernel/workbench'
import { isList } from '../../tools/offer.ts'
import { valueAt, withArgument, type Draft } from './draft.ts'
import { branchesOf } from './pattern.ts'
import { textsAround } from './values.ts'
import type { World } from './world.ts'

const MAX_BRANCHES = 300
const MAX_TEXTS = 120
const MAX_PATHS = 12
const ODD: readonly string[] = [
  '..', '/../', '~', '%', '\\', '`', '$(', '\u0000', '\u0007', '\u007f', '-', ' -x', '"', ';', '--', '#', '*', '/', 'é', '\n', 'Z', '9', '<<',
] // oxfmt-ignore

/** Each start, with texts at every argument that the old or the new rule uses. */
export function* aroundChange(world: World, rule: Rule, starts: readonly Draft[]): Iterable<Draft> {
  const paths = textPaths(world, rule)
  for (const start of starts) yield start
  for (const sized of starts) yield* withSizes(world, rule, sized)
  const texts = new Map(paths.map(([path, clues]) => [path, distinguishing(clues)]))
  // Iterates by text, then by start, so that all starts make progress.
  for (let i = 0; i < MAX_TEXTS + ODD.length; i++) {
    for (const [path, all] of texts) {
      const text = all[i]
      if (text === undefined) continue
      for (const start of starts) {
        for (const value of around(valueAt(start.args, path), text)) yield withArgument(start, path, value)
      }
    }
  }
}

/** The arguments that either version of a rule uses, with the clues of each version. */
function textPaths(world: World, rule: Rule): readonly (readonly [readonly string[], readonly Clue[][]])[] {
  const forms = world.policies.map(({ rules }) => rules.find(({ id }) => id === rule.id))
  const byPath = new Map<string, Clue[][]>()
  for (const [i, form] of forms.entries()) {
    for (const clue of form?.when ? world.waysOf(form).clues : []) {
      if (clue.path[0] !== 'args' || clue.path.length < 2 || clue.path.at(-1) === '#') continue
      const key = JSON.stringify(clue.path.slice(1))
      if (!byPath.has(key) && byPath.size >= MAX_PATHS) continue
      const lists = byPath.get(key) ?? [[], []]
      lists[i]?.push(clue)
      byPath.set(key, lists)
    }
  }
  // Sound: the keys are encoded paths.
  return [...byPath].map(([key, lists]) => [JSON.parse(key) as string[], lists])
}

/** Texts that the two versions treat differently come first. */
function distinguishing([before = [], after = []]: readonly (readonly Clue[])[]): readonly string[] {
  const all = [...new Map([...before, ...after].map((clue) => [clueKey(clue), clue])).values()]
  const keys = [before, after].map((clues) => new Set(clues.map(clueKey)))
  const isShared = (clue: Clue): boolean => keys.every((each) => each.has(clueKey(clue)))
  const own = all.filter((clue) => !isShared(clue))
  const texts = [...new Set((own.length > 0 ? own : all).flatMap(textsFor))]
  const answers = (clues: readonly Clue[], text: string): string =>
    clues.map((clue) => clue.fits(text)).join()
  const apart = texts.filter((text) => answers(before, text) !== answers(after, text))
  const rest = texts.filter((text) => !apart.includes(text))
  return [...apart.slice(0, MAX_TEXTS - 20), ...ODD, ...rest].slice(0, MAX_TEXTS + ODD.length)
}

function clueKey({ test, value }: Clue): string {
  return JSON.stringify([test, value])
}

function textsFor(clue: Clue): readonly string[] {
  const { test, value } = clue
  if (test === 'matches' && typeof value === 'string') return branchesOf(value, MAX_BRANCHES)
  return textsAround(clue)
}

/** A text alone, and combined with another one: before, after and inside. */
function around(before: Json | undefined, text: string): readonly string[] {
  if (typeof before !== 'string' || before === '') return [text]
  const gap = before.indexOf(' ')
  const middle = Math.ceil(before.length / 2)
  return [
    text,
    before + text,
    text + before,
    `${before}/${text}`,
    `${before} ${text}`,
    gap < 0
      ? `${before.slice(0, middle)}${text}${before.slice(middle)}`
      : `${before.slice(0, gap)} ${text}${before.slice(gap)}`,
  ]
}

const MAX_SIZE = 4096
const MAX_PLACES = 12

/** Texts and lists at size limits, extended at different positions. */
function* withSizes(world: World, rule: Rule, start: Draft): Iterable<Draft> {
  const sizes = world.waysOf(rule).clues.filter(({ path }) => path[0] === 'args' && path.at(-1) === '#')
  for (const { path, value } of sizes.slice(0, MAX_PATHS)) {
    if (typeof value !== 'number') continue
    const inner = path.slice(1, -1)
    for (const size of [value - 1, value, value + 1, value + 2].filter(
      (each) => each >= 0 && each <= MAX_SIZE,
    )) {
      for (const grown of grownTo(valueAt(start.args, inner), size)) yield withArgument(start, inner, grown)
    }
  }
}

function grownTo(before: Json | undefined, size: number): readonly Json[] {
  if (isList(before)) return [Array.from({ length: size }, (_, i) => before[i] ?? before.at(-1) ?? 'x')]
  if (typeof before !== 'string' || before === '') return ['x'.repeat(size)]
  const more = size - before.length
  if (more <= 0) return [before.slice(0, size)]
  const step = Math.max(1, Math.floor(before.length / MAX_PLACES))
  return Array.from({ length: Math.min(MAX_PLACES, before.length) }, (_, i) => {
    const at = Math.min(before.length - 1, i * step)
    return before.slice(0, at) + (before[at] ?? 'x').repeat(more) + before.slice(at)
  })
}
