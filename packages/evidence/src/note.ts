// Signed notes and verifier keys (C2SP signed-note): a text, a blank line, and signature lines.

import { concat, decodeUtf8, fromBase64, toBase64, toHex, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { sha256 } from './hash.ts'
import { importPublicKey, type PublicKey, type SigningKey } from './keys.ts'

/** How a key signs notes: 1 the text itself, 4 a timestamped cosignature of a checkpoint (C2SP tlog-cosignature). */
export type NoteAlgorithm = 1 | 4

/** A named key that signs notes: what C2SP calls a vkey. */
export interface NoteKey {
  readonly name: string
  readonly algorithm: NoteAlgorithm
  readonly key: PublicKey
  /** The 4-byte hint that stands before a signature, in hexadecimal. A hint only: never proof. */
  readonly hint: string
}

/** One signature line: whose it claims to be, and its bytes behind the hint. */
export interface NoteSignature {
  readonly name: string
  readonly hint: string
  readonly bytes: Uint8Array
}

/** A note taken apart, nothing verified. */
export interface Note {
  /** The signed text, its last newline included. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

const MAX_NOTE_BYTES = 64 * 1024
const MAX_SIGNATURES = 64

/** Whether `name` can be a key's name: not empty, no Unicode space, no control character, no plus. */
export function isKeyName(name: string): boolean {
  return name.length > 0 && name.length <= 200 && !/[\s+\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u.test(name)
}

/**
 * Names a key for signing notes.
 *
 * @throws EvidenceError `NOTE_MALFORMED` if the name cannot stand in a note.
 */
export function noteKey(name: string, key: PublicKey, algorithm: NoteAlgorithm = 1): NoteKey {
  if (!isKeyName(name)) throw malformed('a key name is empty, too long, or holds a space or a plus')
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
  // Standard base64 may hold a plus itself.
  const bytes = fromBase64([encoded, ...rest].join('+'))
  const algorithm = bytes?.[0]
  if (!bytes || (algorithm !== 1 && algorithm !== 4)) {
    throw malformed('not a verifier key for Ed25519 (`name+hint+base64`)')
  }
  // The hint first: a mistyped key should not be told that it is weak.
  if (hintOf(name, algorithm, bytes.subarray(1)) !== hint) {
    throw malformed('the middle part of a verifier key does not belong to its key; perhaps it is mistyped')
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
 * Takes a note apart. Verifies nothing.
 *
 * @throws EvidenceError `NOTE_MALFORMED`.
 */
export function parseNote(input: Uint8Array | string): Note {
  if (input.length > MAX_NOTE_BYTES) throw malformed(`the note is larger than ${MAX_NOTE_BYTES} bytes`)
  const whole = typeof input === 'string' ? input : decodeUtf8(input)
  if (whole === undefined || !whole.isWellFormed() || /[\u0000-\u0009\u000b-\u001f]/.test(whole)) {
    throw malformed('the note is not UTF-8, or holds a control character')
  }
  const split = whole.lastIndexOf('\n\n')
  if (split < 0 || !whole.endsWith('\n')) throw malformed('the note has no signatures')
  const lines = whole.slice(split + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) throw malformed(`the note has more than ${MAX_SIGNATURES} signatures`)
  return { text: whole.slice(0, split + 1), signatures: lines.map(parseSignature) }
}

/** Signs a note's text. For checkpoints that a witness cosigns, see `cosignCheckpoint`. */
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
