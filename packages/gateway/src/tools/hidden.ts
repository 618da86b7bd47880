// Finds characters that people cannot see but models read, and makes them visible.

/** How suspicious a kind of hidden character is. Some have legitimate uses. */
type Suspicion = 'medium' | 'high'

/** A hidden character in a text. */
export interface Hidden {
  /** Its position in UTF-16 code units. */
  readonly at: number
  readonly point: number
  readonly what: string
  readonly suspicion: Suspicion
}

type HiddenKind = readonly [from: number, to: number, what: string, suspicion: Suspicion]

// In order of code points. Other format characters are found by their Unicode class.
const KINDS: readonly HiddenKind[] = [
  [0x00, 0x1f, 'control character', 'high'],
  [0x7f, 0x9f, 'control character', 'high'],
  [0xad, 0xad, 'soft hyphen', 'medium'],
  [0x34f, 0x34f, 'joiner', 'medium'],
  [0x61c, 0x61c, 'direction control', 'high'],
  [0x115f, 0x1160, 'blank letter', 'high'],
  [0x17b4, 0x17b5, 'blank letter', 'high'],
  [0x180b, 0x180f, 'variation selector', 'medium'],
  [0x200b, 0x200d, 'zero-width character', 'high'],
  [0x200e, 0x200f, 'direction control', 'high'],
  [0x2028, 0x2029, 'line separator', 'medium'],
  [0x202a, 0x202e, 'direction control', 'high'],
  [0x2060, 0x2065, 'zero-width character', 'high'],
  [0x2066, 0x2069, 'direction control', 'high'],
  [0x206a, 0x206f, 'format character', 'medium'],
  [0x2800, 0x2800, 'blank letter', 'medium'],
  [0x3164, 0x3164, 'blank letter', 'high'],
  [0xfe00, 0xfe0f, 'variation selector', 'medium'],
  [0xfdd0, 0xfdef, 'noncharacter', 'high'],
  [0xfeff, 0xfeff, 'zero-width character', 'high'],
  [0xffa0, 0xffa0, 'blank letter', 'high'],
  [0xfff0, 0xfffb, 'format character', 'medium'],
  [0xfffe, 0xffff, 'noncharacter', 'high'],
  [0xe0000, 0xe007f, 'tag character', 'high'],
  [0xe0080, 0xe00ff, 'format character', 'high'],
  [0xe0100, 0xe01ef, 'variation selector', 'high'],
  [0xe01f0, 0xe0fff, 'format character', 'high'],
]

const FORMAT = /^\p{Cf}$/u
const PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}0-9#*]$/u

/** The first `most` hidden characters of a text. With `oneLine`, line breaks and tabs count as hidden. */
export function hiddenIn(text: string, most = 1000, oneLine = false): readonly Hidden[] {
  const found: Hidden[] = []
  let before = 0
  for (let at = 0; at < text.length && found.length < most;) {
    const point = text.codePointAt(at) ?? 0
    const kind = kindOf(point)
    const next = at + (point > 0xffff ? 2 : 1)
    if (kind && !isHonest(point, before, text.codePointAt(next), oneLine)) {
      found.push({ at, point, what: kind[2], suspicion: kind[3] })
    }
    // A variation selector belongs to the emoji before it.
    if (point !== 0xfe0f) before = point
    at = next
  }
  return found
}

function kindOf(point: number): HiddenKind | undefined {
  // Fast path for printable ASCII.
  if (point > 0x1f && point < 0x7f) return undefined
  const known = KINDS.find(([from, to]) => point >= from && point <= to)
  if (known) return known
  return FORMAT.test(String.fromCodePoint(point)) ? [point, point, 'format character', 'medium'] : undefined
}

/** Legitimate uses: line breaks, and characters that form emoji. */
function isHonest(point: number, before: number, next: number | undefined, oneLine: boolean): boolean {
  if (point === 0x0a || point === 0x09 || point === 0x0d) return !oneLine
  if (point === 0xfe0e || point === 0xfe0f) return isPicture(before)
  return point === 0x200d && isPicture(before) && next !== undefined && isPicture(next)
}

function isPicture(point: number): boolean {
  return point > 0 && PICTURE.test(String.fromCodePoint(point))
}

/** A character as an escape: `\u{200b}`. */
export function escaped(point: number): string {
  return `\\u{${point.toString(16)}}`
}

/**
 * The text as one line with all characters visible. Line breaks become `
 * `.
 */
export function visible(text: string): string {
  let shown = ''
  let from = 0
  for (const { at, point } of hiddenIn(text, Infinity, true)) {
    shown += text.slice(from, at) + (point === 0x0a ? '\\n' : point === 0x09 ? '\\t' : escaped(point))
    from = at + (point > 0xffff ? 2 : 1)
  }
  return shown + text.slice(from)
}

/** The beginning of a text as one line with all characters visible. */
export function excerpt(text: string, most = 80): string {
  // Cut first, because the text can be very long.
  const shown = visible(text.slice(0, most).toWellFormed())
  return text.length > most ? `${shown}…` : shown
}
