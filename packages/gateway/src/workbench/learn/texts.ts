// Texts: written out while they are few, by directory where they are paths or URLs, else by their letters and their length; and
// where something would run a text, a person is asked.

import { wordsOf } from '../../tools/effect-words.ts'
import { allOf, celList, celText } from './cel.ts'
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

// What is written out takes room from the rest of the condition.
const MAX_WRITTEN = 1200

/** The shape of different texts. */
export function shapeOfTexts(texts: readonly string[], place: ValuePlace, manner: Manner): LearnedShape {
  if (manner.rough) return freely(texts, place, manner)
  const few = isEnumeration(texts, manner)
  if (few && isRun(place, manner)) return exactly(texts, place)
  const paths = shapeOfPaths(texts, place, manner)
  if (paths) return { ...paths, asks: asksOf(place, manner, 'any path in a directory') }
  return few ? exactly(texts, place) : freely(texts, place, manner)
}

function isEnumeration(texts: readonly string[], { most }: Manner): boolean {
  return texts.length <= most && celList(texts).length <= MAX_WRITTEN
}

/** Letters that texts may be made of, the fewest first: what to call them, and the set as RE2 and JavaScript both have it. */
const ALPHABETS: readonly (readonly [about: string, set: string])[] = [
  ['digits', '[0-9]'],
  ['letters, digits, `_` and `-`', '[A-Za-z0-9_-]'],
  ['letters, digits and `_.:/@+-`', '[A-Za-z0-9_.:/@+-]'],
  ['printable ASCII in one line', '[ -~]'],
  ['printable ASCII', '[ -~\\t\\n\\r]'],
  ['visible characters in one line', '[^\\p{C}\\p{Zl}\\p{Zp}]'],
  ['visible characters', '(?:[^\\p{C}\\p{Zl}\\p{Zp}]|[\\t\\n\\r])'],
]

// What begins another meaning in paths, URLs, shells and templates; each is refused where it was never seen.
const TRICKS: readonly (readonly [seen: string, pattern: string])[] = [
  ['..', '\\.\\.'],
  ['\\', '\\\\'],
  ['%', '%'],
  ['`', '`'],
  ['$(', '\\$\\('],
  ['${', '\\$\\{'],
]

/** Any text of these letters, not much longer than the longest. */
function freely(texts: readonly string[], place: ValuePlace, manner: Manner): LearnedShape {
  const { code, path } = place
  const [, longest] = extremes(texts.map(lengthOf))
  const limit = roundedUp(longest)
  const alphabet = ALPHABETS.find(([, set]) => texts.every((text) => madeOf(set).test(text)))
  // Roughly there is little room, and a person looks at it anyway.
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
    seen: `${seenOf(texts)}; the longest has ${count(longest, 'character')}`,
    wider: `every text of ${alphabet?.[0] ?? 'any characters'}, up to ${limit} characters${without(tricks, alphabet?.[1])}`,
  }
  const astray = arePaths(texts, place) ? [`\`${path}\` is a path, and no directory has all of them`] : []
  return { when: allOf(terms), notes: [note], asks: [...asksOf(place, manner, 'free text'), ...astray] }
}

function madeOf(set: string): RegExp {
  return new RegExp(`^${set}*$`, 'u')
}

/** Of digits, letters and dashes alone nothing can be made. */
function needsTricks(set: string | undefined): boolean {
  return set === undefined || !ALPHABETS.slice(0, 2).some(([, each]) => each === set)
}

function without(tricks: typeof TRICKS, set: string | undefined): string {
  if (tricks.length === 0 || !needsTricks(set)) return ''
  return `, without ${tricks.map(([mark]) => (mark === '`' ? 'backquotes' : `\`${mark}\``)).join(' ')}`
}

const CODE: readonly string[] = (
  'command cmd script code sql expression expr statement shell eval program query queries filter where js javascript ' +
  'python bash argv pipeline template'
).split(' ')
const ONE_WORD = new Set(CODE.flatMap((word) => [word, `${word}s`]))
// Long enough to be meant where a name has no mark between its words: `rawquery`, `SQLStatement`.
const ENDINGS = CODE.filter((word) => word.length >= 5)

/** Whether a name says that something runs what it stands for. */
export function namesCode(name: string): boolean {
  return wordsOf(name.slice(0, 1024)).some(
    (word) =>
      ONE_WORD.has(word) ||
      word.includes('sql') ||
      ENDINGS.some((ending) => word.endsWith(ending) || word.endsWith(`${ending}s`)),
  )
}

/** Whether something runs what is at a place. */
export function isRun({ runs }: ValuePlace, { effect }: Manner): boolean {
  return effect === 'execute' || runs === true
}

/** Why a person is asked about any text: something would run it. What is only written or sent is watched by the gates. */
function asksOf(place: ValuePlace, manner: Manner, what: string): readonly string[] {
  const { path } = place
  if (manner.effect === 'execute') return [`\`${path}\` is ${what}, and the tool runs things`]
  return isRun(place, manner) ? [`\`${path}\` is ${what} that something runs`] : []
}
