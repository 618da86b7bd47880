// Ways to write a text so that its letters are not seen at first sight.

/** Base64 of the bytes. */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

/** Hexadecimal bytes. */
export function hex(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex')
}

/** Each Latin letter moved by half the alphabet. */
export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter < 'a' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}

/** Every byte with a percent sign. */
export function percent(text: string): string {
  return [...Buffer.from(text, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

/** Every character as a decimal HTML entity. */
export function entities(text: string): string {
  return Array.from(text)
    .map((letter) => `&#${letter.codePointAt(0) ?? 32};`)
    .join('')
}

/** The last character first. */
export function reversed(text: string): string {
  return Array.from(text).reverse().join('')
}

/** Every character with another between it and the next. */
export function spread(text: string, between: string): string {
  return Array.from(text).join(between)
}

const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ['a', 'а'],
  ['c', 'с'],
  ['e', 'е'],
  ['i', 'і'],
  ['o', 'о'],
  ['p', 'р'],
  ['s', 'ѕ'],
  ['x', 'х'],
  ['y', 'у'],
])

/** Cyrillic letters that look like the Latin ones. */
export function lookalikes(text: string): string {
  return Array.from(text)
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('')
}

const LEET: ReadonlyMap<string, string> = new Map([
  ['a', '4'],
  ['e', '3'],
  ['i', '1'],
  ['o', '0'],
  ['s', '5'],
  ['t', '7'],
])

/** Digits in the place of letters. */
export function leet(text: string): string {
  return Array.from(text)
    .map((letter) => LEET.get(letter.toLowerCase()) ?? letter)
    .join('')
}

/** Letters of full width, as in East Asian type. */
export function wide(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
}

/** Invisible characters of the block of tags. */
export function tags(text: string): string {
  return text.replace(/[ -~]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xe0000))
}

/** All but the values named is written in another way; those stay as they are. */
export function around(text: string, kept: readonly string[], write: (part: string) => string): string {
  const next = kept
    .map((value) => ({ value, at: value === '' ? -1 : text.indexOf(value) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at || other.value.length - one.value.length)[0]
  if (next === undefined) return text === '' ? '' : write(text)
  const before = text.slice(0, next.at)
  const after = text.slice(next.at + next.value.length)
  return (before === '' ? '' : write(before)) + next.value + around(after, kept, write)
}
