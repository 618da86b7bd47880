// Checkpoints (C2SP tlog-checkpoint): the signed size and root of a ledger, with cosignatures of witnesses.

import { concat, fromBase64, toBase64, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { verifySignature, type SigningKey } from './keys.ts'
import {
  formatNote,
  isKeyName,
  noteKey,
  parseNote,
  signNote,
  type Note,
  type NoteKey,
  type NoteSignature,
} from './note.ts'

/** The statement of a checkpoint: the name, the size and the root of a ledger. */
export interface Head {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** A witness states that this was the largest consistent checkpoint that it had seen at this time. */
export interface Cosignature {
  readonly name: string
  /** Seconds since 1970, by the clock of the witness. */
  readonly time: number
}

/** A checkpoint with verified signatures. */
export interface Checkpoint extends Head {
  /** Ids of the known ledger keys that signed it. Never empty. */
  readonly signedBy: readonly string[]
  readonly cosignedBy: readonly Cosignature[]
  /** Number of signature lines of unknown keys. They are ignored. */
  readonly unknown: number
}

/** A key of a ledger, with the sizes of the ledger whose checkpoints it may sign. Without them it may sign all of them. */
export interface LedgerKey extends NoteKey {
  /** The first size. */
  readonly from?: number
  /** The size after the last. */
  readonly until?: number
}

/** The keys that a reader trusts. */
export interface CheckpointKeys {
  /** Keys of the ledger, named after its origin. */
  readonly ledger: readonly LedgerKey[]
  readonly witnesses?: readonly NoteKey[]
}

/** Whether a text can name a ledger. It also names the key of the ledger and prefixes the names of its writers' keys. */
export function isOrigin(origin: string): boolean {
  return isKeyName(origin) && origin.length <= 120
}

/**
 * Makes a checkpoint: the head, signed by the keys of the ledger.
 *
 * @throws EvidenceError `CHECKPOINT_MALFORMED` for an invalid head or without a key.
 */
export async function sealCheckpoint(head: Head, keys: readonly SigningKey[]): Promise<string> {
  const { origin, size, root } = head
  if (!isOrigin(origin)) throw malformed('its origin cannot be the name of a ledger')
  if (!Number.isSafeInteger(size) || size < 0 || root.length !== 32)
    throw malformed('its size or root is invalid')
  if (keys.length === 0) throw malformed('no key signs it')
  const text = formatHead(head)
  const signatures = await Promise.all(keys.map((key) => signNote(text, head.origin, key)))
  return formatNote({ text, signatures })
}

/**
 * Adds a witness's cosignature to a checkpoint. The witness must have checked consistency before it calls this.
 *
 * @throws EvidenceError `NOTE_MALFORMED`, or `CHECKPOINT_MALFORMED` for an impossible time.
 */
export async function cosignCheckpoint(
  checkpoint: string,
  witness: { readonly name: string; readonly key: SigningKey },
  seconds: number,
): Promise<string> {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw malformed('the time of a cosignature is invalid')
  const { note } = parseCheckpoint(checkpoint)
  const { name, hint } = noteKey(witness.name, witness.key.publicKey, 4)
  const signature = await witness.key.sign(cosignedMessage(note.text, String(seconds)))
  const bytes = concat(uint64(seconds), signature)
  return formatNote({ ...note, signatures: [...note.signatures, { name, hint, bytes }] })
}

/**
 * Parses a checkpoint. Verifies nothing.
 *
 * @throws EvidenceError `NOTE_MALFORMED` or `CHECKPOINT_MALFORMED`.
 */
export function parseCheckpoint(input: Uint8Array | string): Head & { readonly note: Note } {
  const note = parseNote(input)
  const lines = note.text.split('\n')
  const [origin = '', decimal = '', encoded = ''] = lines
  const size = Number(decimal)
  const root = fromBase64(encoded)
  // Three lines and a final newline. Extension lines are refused, because no witness checks them.
  if (lines.length !== 4 || !isOrigin(origin)) throw malformed('its text is not origin, size and root')
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(decimal) || !Number.isSafeInteger(size))
    throw malformed('its size is invalid')
  if (root?.length !== 32) throw malformed('its root is not 32 bytes in base64')
  return { origin, size, root, note }
}

/**
 * Opens a checkpoint: parses it and checks every signature of a known key.
 *
 * Throws if a known key has an invalid signature or signs twice. Ignores unknown signers. The caller compares the length of
 * `cosignedBy` with its quorum.
 *
 * @throws EvidenceError `NOTE_MALFORMED`, `CHECKPOINT_MALFORMED`, `CHECKPOINT_ORIGIN_WRONG`, `NOTE_SIGNATURE_WRONG` or
 * `NOTE_UNSIGNED` (no ledger key that is known and valid at this size has signed).
 */
export async function openCheckpoint(input: Uint8Array | string, keys: CheckpointKeys): Promise<Checkpoint> {
  const { origin, size, root, note } = parseCheckpoint(input)
  // Only keys of this ledger sign for it, and only witness keys cosign, also if a key has the wrong name.
  const ledger = keys.ledger.filter(({ name, algorithm }) => name === origin && algorithm === 1)
  const witnesses = (keys.witnesses ?? []).filter(({ algorithm }) => algorithm === 4)
  if (!keys.ledger.some(({ name }) => name === origin)) {
    throw new EvidenceError(
      'CHECKPOINT_ORIGIN_WRONG',
      `the checkpoint is of the ledger \`${origin}\`, not of the expected one`,
    )
  }
  const known: readonly LedgerKey[] = [...ledger, ...witnesses]
  const signedBy: string[] = []
  const cosignedBy: Cosignature[] = []
  const seen = new Set<NoteKey>()
  for (const signature of note.signatures) {
    const key = known.find(({ name, hint }) => name === signature.name && hint === signature.hint)
    if (!key) continue
    if (seen.has(key)) throw wrong(`\`${key.name}\` signed the checkpoint twice`)
    seen.add(key)
    const time = await checkSignature(note.text, signature, key)
    if (time === undefined) signedBy.push(...(isValidAt(key, size) ? [key.key.id] : []))
    else cosignedBy.push({ name: key.name, time })
  }
  if (signedBy.length === 0)
    throw unsigned(
      ledger.some((key) => seen.has(key)),
      size,
    )
  return { origin, size, root, signedBy, cosignedBy, unknown: note.signatures.length - seen.size }
}

function isValidAt({ from = 0, until = Infinity }: LedgerKey, size: number): boolean {
  return size >= from && size < until
}

function unsigned(isOutOfRange: boolean, size: number): EvidenceError {
  const problem = isOutOfRange
    ? `the key that signed the checkpoint is not valid at size ${size}`
    : 'no known key of the ledger signed the checkpoint'
  return new EvidenceError('NOTE_UNSIGNED', problem)
}

/** Checks one signature of a known key. Returns the time of a cosignature, undefined for a signature of the ledger. */
async function checkSignature(
  text: string,
  signature: NoteSignature,
  { name, key, algorithm }: NoteKey,
): Promise<number | undefined> {
  const { bytes } = signature
  if (algorithm === 1) {
    if (await verifySignature(key, utf8(text), bytes)) return undefined
    throw wrong(`the signature of \`${name}\` under the checkpoint is invalid`)
  }
  const time = bytes.length === 72 ? new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) : -1n
  const valid =
    time >= 0n &&
    time <= BigInt(Number.MAX_SAFE_INTEGER) &&
    (await verifySignature(key, cosignedMessage(text, String(time)), bytes.subarray(8)))
  if (!valid) throw wrong(`the cosignature of \`${name}\` under the checkpoint is invalid`)
  return Number(time)
}

function formatHead({ origin, size, root }: Head): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

function cosignedMessage(text: string, seconds: string): Uint8Array {
  return utf8(`cosignature/v1\ntime ${seconds}\n${text}`)
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('CHECKPOINT_MALFORMED', `not a checkpoint: ${problem}`)
}

function wrong(problem: string): EvidenceError {
  return new EvidenceError('NOTE_SIGNATURE_WRONG', problem)
}
