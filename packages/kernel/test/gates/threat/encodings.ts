// Encodes texts as attackers do, without code of the scanner.

import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'

/** ROT13. */
export function inRot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode((code | 32) < 110 ? code + 13 : code - 13)
  })
}

/** The text backwards. */
export function inReverse(text: string): string {
  return Array.from(text).reverse().join('')
}

/** Each word backwards. */
export function inReversedWords(text: string): string {
  return text.split(' ').map(inReverse).join(' ')
}

/** Base32. */
export function inBase32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  const letters = groups.map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2))).join('')
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, '=')
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58. */
export function inBase58(text: string): string {
  let rest = BigInt(`0x${Buffer.from(text).toString('hex')}`)
  let letters = ''
  for (; rest > 0n; rest /= 58n) letters = BASE58.charAt(Number(rest % 58n)) + letters
  return letters
}

const ASCII85 = String.fromCharCode(...Array.from({ length: 85 }, (_, i) => i + 33))
const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'

function inBase85(text: string, alphabet: string): string {
  const bytes = Buffer.from(text)
  const missing = (4 - (bytes.length % 4)) % 4
  const padded = Buffer.concat([bytes, Buffer.alloc(missing)])
  let letters = ''
  for (let i = 0; i < padded.length; i += 4) {
    let group = ''
    for (let n = 0, rest = padded.readUInt32BE(i); n < 5; n++, rest = Math.floor(rest / 85))
      group = alphabet.charAt(rest % 85) + group
    letters += group
  }
  return letters.slice(0, letters.length - missing)
}

const SIGNS: Readonly<Record<string, string>> = {
  a: '.-', b: '-...', c: '-.-.', d: '-..', e: '.', f: '..-.', g: '--.', h: '....', i: '..', j: '.---', k: '-.-', l: '.-..',
  m: '--', n: '-.', o: '---', p: '.--.', q: '--.-', r: '.-.', s: '...', t: '-', u: '..-', v: '...-', w: '.--', x: '-..-',
  y: '-.--', z: '--..', '.': '.-.-.-', ',': '--..--', '@': '.--.-.',
} // oxfmt-ignore

/** Morse code, with slashes between words. */
export function inMorse(text: string): string {
  const letters = (word: string): string =>
    word
      .split('')
      .map((letter) => SIGNS[letter] ?? '')
      .join(' ')
  return text.toLowerCase().split(' ').map(letters).join(' / ')
}

/** Quoted-printable, with every byte encoded. */
export function inQuotedPrintable(text: string): string {
  return [...Buffer.from(text)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** Every encoding, by name. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  rot13: inRot13,
  reversed: inReverse,
  'reversed words': inReversedWords,
  base32: inBase32,
  'base32 in lower case': (text) => inBase32(text).toLowerCase(),
  base58: inBase58,
  ascii85: (text) => inBase85(text, ASCII85),
  'ascii85 in its frame': (text) => `<~${inBase85(text, ASCII85)}~>`,
  'RFC 1924 base85': (text) => inBase85(text, RFC1924),
  z85: (text) => inBase85(text, Z85),
  'quoted-printable': inQuotedPrintable,
  morse: inMorse,
  'gzip in base64': (text) => gzipSync(text).toString('base64'),
  'gzip in hex': (text) => gzipSync(text).toString('hex'),
  'zlib in base64': (text) => deflateSync(text).toString('base64'),
  'deflate in base64': (text) => deflateRawSync(text).toString('base64'),
  'data URL': (text) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`,
  'gzip in a data URL': (text) => `data:application/gzip;base64,${gzipSync(text).toString('base64')}`,
}
