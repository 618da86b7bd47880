// Classifies characters by tables over UTF-16 units, so that each unit costs one lookup.

type Range = readonly [first: number, last: number]

function fill(table: Uint8Array, value: number, ranges: readonly Range[]): void {
  for (const [first, last] of ranges) table.fill(value, first, last + 1)
}

/** The ways to clean a unit. */
export const KEEP = 0
/** Has no width and no meaning between letters. */
export const INVISIBLE = 1
/** Changes the direction of text. */
export const BIDI = 2
/** Combines with the letter before it. */
export const MARK = 3
/** Selects a form of the character before it. */
export const SELECTOR = 4
export const PRIVATE = 5
/** A space of another width, or a letter without a visible shape. */
export const BLANK = 6
/** Has a simpler form in NFKD. */
export const FORM = 7
export const SURROGATE = 8
/** Annotations and noncharacters, which text does not need. */
export const STRANGE = 9

/** The way to clean each unit. */
export const CLEANING: Uint8Array = new Uint8Array(65_536)

fill(CLEANING, FORM, [
  [0xa1, 0x17f], [0x180, 0x24f], [0x2b0, 0x2ff], [0x370, 0x3ff], [0x400, 0x482], [0x48a, 0x52f], [0x587, 0x587],
  [0x1d00, 0x1dbf], [0x1e00, 0x1fff], [0x2010, 0x27ff], [0x2c60, 0x2c7f], [0x2e80, 0x2fdf], [0x3001, 0x3098],
  [0x309b, 0x33ff], [0xa69c, 0xa69d], [0xa770, 0xa7ff], [0xab5c, 0xab69], [0xf900, 0xfaff], [0xfb00, 0xfdff],
  [0xfe30, 0xfefe], [0xff01, 0xffef],
]) // oxfmt-ignore
fill(CLEANING, MARK, [
  [0x300, 0x34e], [0x350, 0x36f], [0x483, 0x489], [0x591, 0x5bd], [0x5bf, 0x5bf], [0x5c1, 0x5c2], [0x5c4, 0x5c5],
  [0x5c7, 0x5c7], [0x610, 0x61a], [0x64b, 0x65f], [0x670, 0x670], [0x6d6, 0x6dc], [0x6df, 0x6e4], [0x6e7, 0x6e8],
  [0x6ea, 0x6ed], [0x1ab0, 0x1aff], [0x1dc0, 0x1dff], [0x20d0, 0x20ff], [0x3099, 0x309a], [0xfe20, 0xfe2f],
]) // oxfmt-ignore
fill(CLEANING, BLANK, [
  [0x85, 0x85], [0xa0, 0xa0], [0x115f, 0x1160], [0x1680, 0x1680], [0x2000, 0x200a], [0x202f, 0x202f],
  [0x205f, 0x205f], [0x2800, 0x2800], [0x3000, 0x3000], [0x3164, 0x3164], [0xffa0, 0xffa0],
]) // oxfmt-ignore
fill(CLEANING, INVISIBLE, [
  [0xad, 0xad], [0x34f, 0x34f], [0x180b, 0x180f], [0x200b, 0x200d], [0x2060, 0x2065], [0x206a, 0x206f],
  [0x17b4, 0x17b5], [0xfeff, 0xfeff],
]) // oxfmt-ignore
fill(CLEANING, BIDI, [[0x61c, 0x61c], [0x200e, 0x200f], [0x202a, 0x202e], [0x2066, 0x2069]]) // oxfmt-ignore
fill(CLEANING, SELECTOR, [[0xfe00, 0xfe0f]])
fill(CLEANING, PRIVATE, [[0xe000, 0xf8ff]])
fill(CLEANING, SURROGATE, [[0xd800, 0xdfff]])
fill(CLEANING, STRANGE, [[0xfff9, 0xfffb], [0xfdd0, 0xfdef], [0xfffe, 0xffff]]) // oxfmt-ignore

/** The kinds of units when words are read. */
export const SPACE = 0
export const LETTER = 1
/** Written without spaces between words. */
export const IDEOGRAPH = 2
/** Joins words, such as `_`. */
export const JOINT = 3
export const PUNCTUATION = 4

/** The kind of each unit in a cleaned text. */
export const READING: Uint8Array = new Uint8Array(65_536).fill(PUNCTUATION)

fill(READING, LETTER, [
  [0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a], [0xaa, 0xaa], [0xb5, 0xb5], [0xba, 0xba], [0xc0, 0xd6], [0xd8, 0xf6],
  [0xf8, 0x2af], [0x370, 0x373], [0x376, 0x37d], [0x37f, 0x383], [0x386, 0x386], [0x388, 0x481], [0x48a, 0x556],
  [0x561, 0x587], [0x5d0, 0x5ea], [0x620, 0x64a], [0x660, 0x669], [0x66e, 0x6d3], [0x6d5, 0x6d5], [0x6ee, 0x6fc],
  [0x700, 0x963], [0x966, 0x1fff], [0x2c60, 0x2dff], [0xa4d0, 0xabff], [0xac00, 0xd7ff],
]) // oxfmt-ignore
fill(READING, IDEOGRAPH, [[0x3005, 0x3007], [0x3040, 0x30ff], [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff]]) // oxfmt-ignore
fill(READING, SPACE, [
  [0x20, 0x20],
  [0x0b, 0x0d],
])
fill(READING, JOINT, [[0x5f, 0x5f], [0x2f, 0x2f], [0x27, 0x27], [0x2019, 0x2019]]) // oxfmt-ignore

/** Maps letters to lower case, where both are one unit and all Unicode versions agree. */
export const FOLD: Uint16Array = new Uint16Array(65_536)

for (let code = 0; code < 65_536; code++) FOLD[code] = code
for (let code = 65; code < 0x590; code++) {
  const lower = String.fromCharCode(code).toLowerCase()
  if (lower.length === 1) FOLD[code] = lower.charCodeAt(0)
}

// Arabic text may omit the sign on these letters.
for (const code of [0x622, 0x623, 0x625]) FOLD[code] = 0x627
FOLD[0x624] = 0x648
FOLD[0x626] = 0x64a

/** Returns whether a unit is an ASCII letter or digit. */
export function isAlphanumeric(code: number): boolean {
  return code < 128 && READING[code] === LETTER
}

/** Returns whether a unit is a space, a tab or a line break. */
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
