// Signed notes and verifier keys (C2SP signed-note): a text, a blank line, and signature lines.

import { concat, decodeUtf8, fromBase64, toBase64, toHex, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { sha256 } from './hash.ts'
import { importPublicKey, type PublicKey, type SigningKey } from './keys.ts'

/** How a key signs notes: 1 signs the text, 4 is a timestamped cosignature of a checkpoint (C2SP tlog-cosignature). */
export type NoteAlgorithm = 1 | 4

/** A named key that signs notes (a C2SP vkey). */
export interface NoteKey {
  readonly name: string
  readonly algorithm: NoteAlgorithm
  readonly key: PublicKey
  /** The 4-byte hint before a signature, in hexadecimal. It is not proof. */
  readonly hint: string
}

/** One signature line: the claimed name and hint, and the bytes after the hint. */
export interface NoteSignature {
  readonly name: string
  readonly hint: string
  readonly bytes: Uint8Array
}

/** A parsed note. Nothing in it is verified. */
export interface Note {
  /** The signed text, with its last newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** Maximum size of a note in bytes. */
export const MAX_NOTE_BYTES: number = 64 * 1024
/** Maximum number of signature lines of a note. */
export const MAX_SIGNATURES = 64

/** Whether `name` can name a key: 1 to 200 characters, no Unicode space, no control character, no plus. */
export function isKeyName(name: string): boolean {
  return name.length > 0 && name.length <= 200 && !/[\s+\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u.test(name)
}

/**
 * Names a key for signing notes.
 *
 * @throws EvidenceError `NOTE_MALFORMED` for an invalid name.
 */
export function noteKey(name: string, key: PublicKey, algorithm: NoteAlgorithm = 1): NoteKey {
  if (!isKeyName(name)) throw malformed('a key name is empty, too long, or contains a space or a plus')
  return { name, algorithm, key, hint: hintOf(name, algorithm, key.bytes) }
}

/** The vkey text of a key: `name+hint+base64(algorithm ‖ key)`. */
export function formatVkey({ name, hint, algorithm, key }: NoteKey): string {
  return `${name}+${hint}+${toBase64(concat(Uint8Array.of(algorithm), key.bytes))}`
}

/**
 * Reads a vkey.
 *
 * @throws EvidenceError `NOTE_MALFORMED`, `KEY_MALFORMED` or `KEY_WEAK`.
 */
export function parseVkey(text: string): NoteKey {
  const [name = '', hint = '', encoded = '', ...rest] = text.slice(0, 1000).split('+')
  // Standard base64 can contain a plus.
  const bytes = fromBase64([encoded, ...rest].join('+'))
  const algorithm = bytes?.[0]
  if (!bytes || (algorithm !== 1 && algorithm !== 4)) {
    throw malformed('not a verifier key for Ed25519 (`name+hint+base64`)')
  }
  // Checked first: for a mistyped key, `weak` would be the wrong message.
  if (hintOf(name, algorithm, bytes.subarray(1)) !== hint) {
    throw malformed('the hint of a verifier key does not match its key; check it for typing errors')
  }
  return noteKey(name, importPublicKey(bytes.subarray(1)), algorithm)
}

/** Writes a note: text, blank line, signature lines. */
export function formatNote({ text, signatures }: Note): string {
  const line = ({ name, hint, bytes }: NoteSignature): string =>
    `— ${name} ${toBase64(concat(hintBytes(hint), bytes))}\n`
  return `${text}\n${signatures.map(line).join('')}`
}

/**
 * Parses a note. Verifies nothing.
 *
 * @throws EvidenceError `NOTE_MALFORMED`.
 */
export function parseNote(input: Uint8Array | string): Note {
  if (input.length > MAX_NOTE_BYTES) throw malformed(`the note is larger than ${MAX_NOTE_BYTES} bytes`)
  const whole = typeof input === 'string' ? input : decodeUtf8(input)
  if (whole === undefined || !whole.isWellFormed() || /[\u0000-\u0009\u000b-\u001f]/.test(whole)) {
    throw malformed('the note is not UTF-8, or contains a control character')
  }
  const split = whole.lastIndexOf('\n\n')
  if (split < 0 || !whole.endsWith('\n')) throw malformed('the note has no signatures')
  const lines = whole.slice(split + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) throw malformed(`the note has more than ${MAX_SIGNATURES} signatures`)
  return { text: whole.slice(0, split + 1), signatures: lines.map(parseSignature) }
}

/** Signs the text of a note. Witnesses use `cosignCheckpoint`. */
export async function signNote(text: string, name: string, key: SigningKey): Promise<NoteSignature> {
  const { hint } = noteKey(name, key.publicKey)
  return { name, hint, bytes: await key.sign(utf8(text)) }
}

function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...rest] = line.split(' ')
  const bytes = fromBase64(encoded)
  if (dash !== '—' || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length < 5) {
    throw malformed('a signature line of the note is not `— name base64`')
  }
  return { name, hint: toHex(bytes.subarray(0, 4)), bytes: bytes.subarray(4) }
}

function hintOf(name: string, algorithm: NoteAlgorithm, key: Uint8Array): string {
  return toHex(sha256(concat(utf8(`${name}\n`), Uint8Array.of(algorithm), key)).subarray(0, 4))
}

function hintBytes(hint: string): Uint8Array {
  const value = Number.parseInt(hint, 16)
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('NOTE_MALFORMED', problem)
}
