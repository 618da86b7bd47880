// Generalises texts: a few are listed, paths and URLs allow their directory, others allow the same characters and length.
// Texts that are executed need approval.

import { allOf, celList, celText } from './cel.ts'
import { isContent } from './content.ts'
import { exactly, seenOf } from './exact.ts'
import {
  count,
  extremes,
  lengthOf,
  roundedUp,
  type Manner,
  type ValueNote,
  type ValuePlace,
  type LearnedShape,
} from './observed.ts'
import { arePaths, shapeOfPaths } from './paths.ts'

// Listed values leave less space for the rest of the condition.
const MAX_WRITTEN = 1200

/** The condition for different texts. */
export function shapeOfTexts(texts: readonly string[], place: ValuePlace, manner: Manner): LearnedShape {
  if (manner.rough) return freely(texts, place, manner)
  const few = isEnumeration(texts, manner)
  if (few && isRun(place, manner)) return exactly(texts, place)
  if (texts.some((text) => isContent(text, place.content === true))) return freely(texts, place, manner)
  const paths = shapeOfPaths(texts, place, manner)
  if (paths) return { ...paths, asks: asksOf(place, manner, 'any path in a directory') }
  return few ? exactly(texts, place) : freely(texts, place, manner)
}

function isEnumeration(texts: readonly string[], { most }: Manner): boolean {
  return texts.length <= most && celList(texts).length <= MAX_WRITTEN
}

/** Character sets of texts, smallest first: description, and the set in the syntax of both RE2 and JavaScript. */
const ALPHABETS: readonly (readonly [about: string, set: string])[] = [
  ['digits', '[0-9]'],
  ['letters, digits, `_` and `-`', '[A-Za-z0-9_-]'],
  ['letters, digits and `_.:/@+-`', '[A-Za-z0-9_.:/@+-]'],
  ['printable ASCII in one line', '[ -~]'],
  ['printable ASCII', '[ -~\\t\\n\\r]'],
  ['visible characters in one line', '[^\\p{C}\\p{Zl}\\p{Zp}]'],
  ['visible characters', '(?:[^\\p{C}\\p{Zl}\\p{Zp}]|[\\t\\n\\r])'],
]

// Sequences with a special meaning in paths, URLs, shells and templates. Each is refused unless it was observed.
const TRICKS: readonly (readonly [seen: string, pattern: string])[] = [
  ['..', '\\.\\.'],
  ['\\', '\\\\'],
  ['%', '%'],
  ['`', '`'],
  ['$(', '\\$\\('],
  ['${', '\\$\\{'],
]

/** Any text of these characters, not much longer than the longest one. */
function freely(texts: readonly string[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path } = place
  const [, longest] = extremes(texts.map(lengthOf))
  const limit = roundedUp(longest)
  const alphabet = ALPHABETS.find(([, set]) => texts.every((text) => madeOf(set).test(text)))
  // A rough condition has little space, and it needs approval anyway.
  const tricks = manner.rough ? [] : TRICKS.filter(([mark]) => !texts.some((text) => text.includes(mark)))
  const terms = [
    `type(${code}) == string`,
    `size(${code}) <= ${limit}`,
    ...(alphabet ? [`${code}.matches(${celText(`^${alphabet[1]}${texts.includes('') ? '*' : '+'}$`)})`] : []),
    ...(tricks.length > 0 && needsTricks(alphabet?.[1])
      ? [`!${code}.matches(${celText(tricks.map(([, pattern]) => pattern).join('|'))})`]
      : []),
  ]
  const note: ValueNote = {
    path,
    seen: `${seenTexts(texts, place)}; the longest has ${count(longest, 'character')}`,
    wider: `every text of ${alphabet?.[0] ?? 'any characters'}, up to ${limit} characters${without(tricks, alphabet?.[1])}`,
  }
  const astray = arePaths(texts, place) ? [`\`${path}\` is a path, and there is no common directory`] : []
  return { when: allOf(terms), notes: [note], asks: [...asksOf(place, manner, 'free text'), ...astray] }
}

/** The observed texts for a comment. If one of them is a content, only their number. */
function seenTexts(texts: readonly string[], { content = false }: ValuePlace): string {
  const hidden = texts.some((text) => isContent(text, content))
  return hidden ? `${count(texts.length, 'text')}, not shown` : seenOf(texts)
}

function madeOf(set: string): RegExp {
  return new RegExp(`^${set}*$`, 'u')
}

/** Digits, letters and dashes cannot form special sequences. */
function needsTricks(set: string | undefined): boolean {
  return set === undefined || !ALPHABETS.slice(0, 2).some(([, each]) => each === set)
}

function without(tricks: typeof TRICKS, set: string | undefined): string {
  if (tricks.length === 0 || !needsTricks(set)) return ''
  return `, without ${tricks.map(([mark]) => (mark === '`' ? 'backquotes' : `\`${mark}\``)).join(' ')}`
}

/** Whether the value at a position is executed. */
export function isRun({ runs }: ValuePlace, { effect }: Manner): boolean {
  return effect === 'execute' || runs === true
}

/** Why free text needs approval: it is executed. Gates check text that is only written or sent. */
function asksOf(place: ValuePlace, manner: Manner, what: string): readonly string[] {
  const { path } = place
  if (manner.effect === 'execute') return [`\`${path}\` is ${what}, and the tool executes it`]
  return isRun(place, manner) ? [`\`${path}\` is ${what} that is executed`] : []
}
