// Derives the strictest short condition for the values observed at a position.

import type { Json, JsonObject } from '@tollgate/evidence'
import { excerpt } from '../../tools/hidden.ts'
import { allOf, anyOf, celList, celMember, celNumber, celText, celValue } from './cel.ts'
import { namesCode } from './code-names.ts'
import { holdsContent, namesContent } from './content.ts'
import { exactly, seenOf } from './exact.ts'
import {
  count,
  distinct,
  extremes,
  type Manner,
  type ValueNote,
  type ValuePlace,
  type LearnedShape,
} from './observed.ts'
import { isRun, shapeOfTexts } from './texts.ts'

// Longer literals are not listed, because they leave no space for others.
const MAX_LITERAL = 400
const MAX_MEMBERS = 64

/** The condition for the values observed at a position. There is at least one. */
export function shapeOf(values: readonly Json[], place: ValuePlace, manner: Manner): LearnedShape {
  const different = distinct(values)
  const [only] = different
  if (different.length === 1 && only !== undefined && !manner.rough && isWritten(only, place, manner)) {
    return exactly(different, place)
  }
  if (place.depth > manner.deepest) return tooDeep(different, place, manner)
  const parts = KINDS.flatMap((kind) => {
    const own = different.filter((value) => kindOf(value) === kind)
    return own.length === 0 ? [] : [SHAPES[kind](own, place, manner)]
  })
  const [first] = parts
  if (first && parts.length === 1) return first
  return {
    when: anyOf(parts.map(({ when }) => `(${when})`)),
    notes: parts.flatMap(({ notes }) => notes),
    asks: parts.flatMap(({ asks }) => asks),
  }
}

type ValueKind = 'null_type' | 'bool' | 'double' | 'string' | 'list' | 'map'
const KINDS: readonly ValueKind[] = ['null_type', 'bool', 'double', 'string', 'list', 'map']

function kindOf(value: Json): ValueKind {
  if (value === null) return 'null_type'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? 'list' : 'map'
}

type ShapeOf = (values: readonly Json[], place: ValuePlace, manner: Manner) => LearnedShape

// Sound: each function gets only values of its kind.
const SHAPES: Readonly<Record<ValueKind, ShapeOf>> = {
  null_type: exactly,
  bool: exactly,
  double: (values, place, manner) => shapeOfNumbers(values as readonly number[], place, manner),
  string: (values, place, manner) => shapeOfTexts(values as readonly string[], place, manner),
  list: (values, place, manner) => shapeOfLists(values as readonly (readonly Json[])[], place, manner),
  map: (values, place, manner) => shapeOfObjects(values as readonly JsonObject[], place, manner),
}

/** Whether a value may be written into a rule: it is short and has no content. */
function isWritten(value: Json, place: ValuePlace, manner: Manner): boolean {
  const hidden = !isRun(place, manner) && holdsContent(value, place.content)
  return celValue(value).length <= MAX_LITERAL && !hidden
}

function shapeOfNumbers(values: readonly number[], place: ValuePlace, manner: Manner): LearnedShape {
  if (values.length <= manner.most && !manner.rough) return exactly(values, place)
  const { code, path } = place
  const [least, most] = extremes(values)
  const whole = values.every((value) => Number.isSafeInteger(value))
  const terms = [
    `type(${code}) == double`,
    `${code} >= ${celNumber(least)}`,
    `${code} <= ${celNumber(most)}`,
    ...(whole ? [`double(int(${code})) == ${code}`] : []),
  ]
  const wider = `every ${whole ? 'whole ' : ''}number from ${least} to ${most}`
  return { when: allOf(terms), notes: [{ path, seen: seenOf(values), wider }], asks: [] }
}

function shapeOfLists(values: readonly (readonly Json[])[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path, depth } = place
  const [least, most] = extremes(values.map(({ length }) => length))
  if (most === 0) return exactly([[]], place)
  const [only = []] = values
  if (values.length === 1 && !manner.rough && most <= MAX_MEMBERS) return itemByItem(only, place, manner)
  const item = `item${depth === 0 ? '' : depth}`
  const inner = shapeOf(values.flat(), { ...place, code: item, path: `${path}[]`, depth: depth + 1 }, manner)
  const size = least === most ? `size(${code}) == ${most}` : `size(${code}) <= ${most}`
  const terms = [
    `type(${code}) == list`,
    ...(least === most || least === 0 ? [size] : [`size(${code}) >= ${least}`, size]),
    `${code}.all(${item}, ${inner.when})`,
  ]
  const long = least === most ? count(most, 'item') : `${least} to ${count(most, 'item')}`
  const note: ValueNote = {
    path,
    seen: `${count(values.length, 'list')} of ${long}`,
    ...(most > 1 && { wider: `any ${long} of the values below, in any order` }),
  }
  // In another order, the same words are another command.
  const asks =
    most > 1 && isRun(place, manner) ? [`\`${path}\` may have its items in any order, and is executed`] : []
  return { when: allOf(terms), notes: [note, ...inner.notes], asks: [...asks, ...inner.asks] }
}

/** The only observed list: each item at its index. */
function itemByItem(list: readonly Json[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path, depth } = place
  const items = list.map((item, i) =>
    shapeOf([item], { ...place, code: `${code}[${i}]`, path: `${path}[${i}]`, depth: depth + 1 }, manner),
  )
  const wider = items.flatMap(({ notes }) => notes).filter((note) => note.wider !== undefined)
  return {
    when: allOf([
      `type(${code}) == list`,
      `size(${code}) == ${list.length}`,
      ...items.map(({ when }) => `(${when})`),
    ]),
    notes: [{ path, seen: isWritten(list, place, manner) ? seenOf([list]) : 'one list' }, ...wider],
    asks: items.flatMap(({ asks }) => asks),
  }
}

function shapeOfObjects(values: readonly JsonObject[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path, depth } = place
  const names = [...new Set(values.flatMap((value) => Object.keys(value)))].sort()
  if (names.length > MAX_MEMBERS) return tooDeep(values, place, manner)
  const { terms, notes } = shapeOfNames(values, place)
  const members = names.map((name) => {
    const own = values.flatMap((value) => (Object.hasOwn(value, name) ? [value[name] ?? null] : []))
    const runs = place.runs === true || namesCode(name)
    const content = place.content === true || namesContent(name)
    const at = { code: celMember(code, name), path: below(path, name), depth: depth + 1, runs, content }
    const shape = shapeOf(own, at, manner)
    const optional = own.length < values.length
    return { ...shape, when: optional ? `(!(${celText(name)} in ${code}) || (${shape.when}))` : shape.when }
  })
  const parts = [`type(${code}) == map`, ...terms, ...members.map(({ when }) => when)]
  const mixed = combinations(values, names, path)
  // `rm` of one call and `/` of another were never one command.
  const asks = mixed.length > 0 && manner.effect === 'execute' ? [MIXED] : []
  return {
    when: allOf(parts),
    parts,
    notes: [...notes, ...members.flatMap((each) => each.notes), ...mixed],
    asks: [...asks, ...members.flatMap((each) => each.asks)],
  }
}

const MIXED = 'the rule allows new combinations of arguments, and the tool executes them'

function below(path: string, name: string): string {
  const shown = excerpt(name, 40)
  return path === '' ? shown : `${path}.${shown}`
}

const MAX_SETS = 8

/** The condition for member names: exactly the observed sets of names or, if there are too many, any of the names. */
function shapeOfNames(
  values: readonly JsonObject[],
  { code, path }: ValuePlace,
): { readonly terms: readonly string[]; readonly notes: readonly ValueNote[] } {
  // Sorted as conditions see them. Sound: lists of names come back unchanged.
  const sets = distinct(values.map((value) => Object.keys(value).sort())) as readonly (readonly string[])[]
  const [first = []] = sets
  const listed = `${code}.map(name, name)`
  if (sets.length === 1) return { terms: [`${listed} == ${celList(first)}`], notes: [] }
  if (sets.length <= MAX_SETS) return { terms: [`${listed} in ${celList(sets)}`], notes: [] }
  const names = [...new Set(sets.flat())].sort()
  const needed = names.filter((name) => sets.every((set) => set.includes(name)))
  return {
    terms: [
      `${code}.all(name, name in ${celList(names)})`,
      ...needed.map((name) => `${celText(name)} in ${code}`),
    ],
    notes: [
      {
        path: path === '' ? '(names)' : path,
        seen: `${sets.length} different sets of names`,
        wider: `every set of these names${needed.length > 0 ? ` that has ${needed.map((name) => excerpt(name, 40)).join(', ')}` : ''}`,
      },
    ],
  }
}

/** A note if separate conditions for members allow combinations that were not observed. */
function combinations(
  values: readonly JsonObject[],
  names: readonly string[],
  path: string,
): readonly ValueNote[] {
  const varying = names.filter(
    (name) =>
      distinct(values.map((value) => (Object.hasOwn(value, name) ? [value[name] ?? null] : []))).length > 1,
  )
  if (varying.length < 2) return []
  const shown = varying.map((name) => excerpt(name, 40)).join(', ')
  return [
    {
      path: path === '' ? '(together)' : path,
      seen: count(values.length, 'combination'),
      wider: `every combination of what is allowed for ${shown}`,
    },
  ]
}

/** The condition for values that are too deep or have too many members: listed if short, otherwise by type with approval. */
function tooDeep(values: readonly Json[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path } = place
  if (
    !manner.rough &&
    values.length <= manner.most &&
    values.every((value) => isWritten(value, place, manner))
  )
    return exactly(values, place)
  const kinds = [...new Set(values.map(kindOf))]
  return {
    when: anyOf(kinds.map((kind) => `type(${code}) == ${kind}`)),
    notes: [{ path, seen: count(values.length, 'value'), wider: `anything of type ${kinds.join(' or ')}` }],
    asks: [`${path === '' ? 'the argument value' : `\`${path}\``} is too large or too deep to be pinned`],
  }
}
