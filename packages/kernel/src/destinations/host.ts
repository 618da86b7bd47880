// Normalises hosts. The tables are fixed, so that the result does not depend on the engine and its Unicode version.

import { ipv4Readings, ipv6Readings, isNumeric, parseIpv6 } from './address.ts'
import { toPunycode } from './punycode.ts'

// Compatibility characters that IDNA maps to others: full-width forms, circled and mathematical letters, ligatures, small and
// vertical punctuation. All of them are older than any supported engine, so NFKC is the same everywhere.
const COMPATIBLE =
  /[\u00aa\u00b2\u00b3\u00b9\u00ba\u017f\u2024-\u2026\u2070-\u209c\u2100-\u214f\u2160-\u217f\u2460-\u24ff\u3002\ufb00-\ufb06\ufe10-\ufe19\ufe30\ufe50-\ufe6b\uff01-\uff9f\u{1d400}-\u{1d7ff}]/gu

// Full stops that NFKC does not map to a dot.
const DOTS = '\u3002\uff61'

// Invisible characters and those that IDNA drops.
const IGNORABLES =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e0fff}]/gu

// Letters, marks and digits that are encoded as punycode here: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari,
// Thai, Georgian, kana, Han and Hangul, as of Unicode 14. A host in another script must be given as `xn--`.
const LETTERS =
  /^[\0-\x7f\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u01f0\u01f4-\u024f\u0300-\u033f\u0342\u0346-\u034e\u0350-\u036f\u0370-\u0373\u0376-\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03cf\u03d7-\u03ef\u03f3\u03f7-\u03f8\u03fa-\u0481\u0483-\u052f\u0531-\u0556\u0559\u0560-\u0586\u05d0-\u05ea\u0620-\u0669\u066e-\u0674\u0679-\u06d3\u06d5-\u06dc\u06df-\u06e8\u06ea-\u06fc\u06ff\u0900-\u0957\u0960-\u0963\u0966-\u096f\u0971-\u097f\u0e01-\u0e32\u0e34-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u10d0-\u10fa\u1e00-\u1e99\u1e9c-\u1e9d\u1e9f-\u1eff\u3005-\u3006\u3041-\u3096\u3099-\u309a\u309d-\u309e\u30a1-\u30fa\u30fc-\u30fe\u4e00-\u9fff\uac00-\ud7a3]*$/

const RIGHT_TO_LEFT = /[\u05d0-\u05ea\u0620-\u06ff]/
const MAX_HOST = 253
const MAX_LABEL = 63
// A longer text is never a host, even if characters are dropped or decoded.
const MAX_TEXT = 2048

/** Maps look-alike characters as IDNA does and `。` to a dot, and drops invisible ones. Never fails. */
export function fold(text: string): string {
  return mapped(text.replace(IGNORABLES, ''))
}

function mapped(text: string): string {
  return text.replace(COMPATIBLE, (character) =>
    DOTS.includes(character) ? '.' : character.normalize('NFKC'),
  )
}

/** Returns whether the text has characters that {@link fold} might change. */
export function isBeyondAscii(text: string): boolean {
  return /[^\0-\x7f]/.test(text)
}

/**
 * Returns every host that some parser could read in this text, in normal form. Contains an empty string if the text is
 * unreadable. The list is never empty. The text is only the host: no port, no userinfo; IPv6 with or without brackets.
 * Percent-encoding is decoded once. Unreadable are: invisible characters, unsupported scripts, Latin letters mixed with
 * right-to-left ones, anything but letters, digits, `-`, `_` and dots, empty or overlong labels, `xn--` labels that contain only
 * ASCII.
 */
export function readHost(text: string): readonly string[] {
  if (text.length > MAX_TEXT) return ['']
  if (/^[A-Za-z0-9._-]+$/.test(text)) return asciiHost(text.toLowerCase())
  if (text.includes(':')) return ipv6Host(text)
  const plain = percentDecoded(text)
  return plain === undefined ? [''] : unicodeHost(plain)
}

/** Reads an IPv6 address, possibly in brackets and with a zone (`%eth0`), which does not change the host. */
function ipv6Host(text: string): readonly string[] {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const zone = bare.indexOf('%')
  if (zone >= 0 && !/^%[A-Za-z0-9._~-]+$/.test(bare.slice(zone))) return ['']
  const address = parseIpv6(zone < 0 ? bare : bare.slice(0, zone))
  return address === undefined ? [''] : ipv6Readings(address)
}

function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined // Not UTF-8, or a stray percent sign. Parsers differ on it.
  }
}

function unicodeHost(text: string): readonly string[] {
  const letters = mapped(text)
  if (!LETTERS.test(letters)) return ['']
  // The engine would turn a capital sigma at the end of a word into a final one. IDNA does not.
  const lower = letters.replaceAll('\u03a3', '\u03c3').toLowerCase().normalize('NFC')
  // IDNA2003 maps `ß` to `ss` and a final sigma to a normal one. IDNA2008 keeps them.
  const older = lower.replaceAll('\u00df', 'ss').replaceAll('\u03c2', '\u03c3')
  const readings = older === lower ? [lower] : [lower, older]
  return readings.flatMap((reading) => asciiHost(reading.split('.').map(asciiLabel).join('.')))
}

/** Returns the label in ASCII; `?`, which is invalid in a host, if the label is malformed. */
function asciiLabel(label: string): string {
  if (!isBeyondAscii(label)) return label
  if (label.length > MAX_LABEL || /^\p{M}/u.test(label)) return '?'
  if (RIGHT_TO_LEFT.test(label) && /[a-z]/.test(label)) return '?'
  return toPunycode(label)
}

/** Checks a host in lower-case ASCII. */
function asciiHost(text: string): readonly string[] {
  const host = text.endsWith('.') ? text.slice(0, -1) : text
  const labels = host.split('.')
  if (host.length > MAX_HOST || !labels.every(isLabel)) return ['']
  return isNumeric(labels.at(-1) ?? '') ? ipv4Readings(labels) : [host]
}

function isLabel(label: string): boolean {
  // `xn--evil-` encodes only `evil`. Some parsers decode it, others look it up as written.
  if (label.startsWith('xn--') && label.endsWith('-')) return false
  return label.length <= MAX_LABEL && /^[a-z0-9_-]+$/.test(label)
}
