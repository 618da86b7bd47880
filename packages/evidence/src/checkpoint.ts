// Checkpoints (C2SP tlog-checkpoint): a signed head of the ledger, with the cosignatures of witnesses.

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

/** What a checkpoint says: this ledger has this many entries, and this is the root over them. */
export interface Head {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** A witness's word that this was the largest consistent head it had seen, at a time it names. */
export interface Cosignature {
  readonly name: string
  /** Seconds since 1970, by the witness's own clock. */
  readonly time: number
}

/** A checkpoint whose signatures were checked. */
export interface Checkpoint extends Head {
  /** Key ids of the known ledger keys that signed it; never empty. */
  readonly signedBy: readonly string[]
  readonly cosignedBy: readonly Cosignature[]
  /** Signature lines of keys that are not known here. They count for nothing. */
  readonly unknown: number
}

/** The keys a reader knows. Nothing in a checkpoint is believed without them. */
export interface CheckpointKeys {
  /** Keys of the ledger, named after its origin. */
  readonly ledger: readonly NoteKey[]
  readonly witnesses?: readonly NoteKey[]
}

/** Whether a text can name a ledger. It also names the ledger's key in notes, and begins the names of its writers' keys. */
export function isOrigin(origin: string): boolean {
  return isKeyName(origin) && origin.length <= 120
}

/**
 * Makes a checkpoint: the head, signed by the ledger's keys.
 *
 * @throws EvidenceError `CHECKPOINT_MALFORMED` if the head is none, or no key is given.
 */
export async function sealCheckpoint(head: Head, keys: readonly SigningKey[]): Promise<string> {
  const { origin, size, root } = head
  if (!isOrigin(origin)) throw malformed('the origin cannot stand in a note')
  if (!Number.isSafeInteger(size) || size < 0 || root.length !== 32)
    throw malformed('its size or root is none')
  if (keys.length === 0) throw malformed('nobody signs it')
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
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw malformed('the time of a cosignature is none')
  const { note } = parseCheckpoint(checkpoint)
  const { name, hint } = noteKey(witness.name, witness.key.publicKey, 4)
  const signature = await witness.key.sign(cosignedMessage(note.text, String(seconds)))
  const bytes = concat(uint64(seconds), signature)
  return formatNote({ ...note, signatures: [...note.signatures, { name, hint, bytes }] })
}

/**
 * Reads a checkpoint's head without believing it.
 *
 * @throws EvidenceError `NOTE_MALFORMED` or `CHECKPOINT_MALFORMED`.
 */
export function parseCheckpoint(input: Uint8Array | string): Head & { readonly note: Note } {
  const note = parseNote(input)
  const lines = note.text.split('\n')
  const [origin = '', decimal = '', encoded = ''] = lines
  const size = Number(decimal)
  const root = fromBase64(encoded)
  // Three lines and the end of the last: extension lines are refused, since no witness vouches for them.
  if (lines.length !== 4 || !isOrigin(origin)) throw malformed('its text is not origin, size and root')
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(decimal) || !Number.isSafeInteger(size))
    throw malformed('its size is wrong')
  if (root?.length !== 32) throw malformed('its root is not 32 bytes in base64')
  return { origin, size, root, note }
}

/**
 * Opens a checkpoint: parses it, and checks every signature of a known key.
 *
 * A known key with a wrong signature, or that signs twice, spoils the whole checkpoint. Unknown signers are ignored.
 * Which witnesses are enough is the caller's decision: count `cosignedBy`.
 *
 * @throws EvidenceError `NOTE_MALFORMED`, `CHECKPOINT_MALFORMED`, `CHECKPOINT_ORIGIN_WRONG`, `NOTE_SIGNATURE_WRONG` or
 * `NOTE_UNSIGNED` (no known ledger key has signed).
 */
export async function openCheckpoint(input: Uint8Array | string, keys: CheckpointKeys): Promise<Checkpoint> {
  const { origin, size, root, note } = parseCheckpoint(input)
  // One ledger does not vouch for another, nor a witness for the ledger, whatever key its name was given.
  const ledger = keys.ledger.filter(({ name, algorithm }) => name === origin && algorithm === 1)
  const witnesses = (keys.witnesses ?? []).filter(({ algorithm }) => algorithm === 4)
  if (!keys.ledger.some(({ name }) => name === origin)) {
    throw new EvidenceError(
      'CHECKPOINT_ORIGIN_WRONG',
      `the checkpoint is of the ledger \`${origin}\`, not the one asked about`,
    )
  }
  const known = [...ledger, ...witnesses]
  const signedBy: string[] = []
  const cosignedBy: Cosignature[] = []
  const seen = new Set<NoteKey>()
  for (const signature of note.signatures) {
    const key = known.find(({ name, hint }) => name === signature.name && hint === signature.hint)
    if (!key) continue
    if (seen.has(key)) throw wrong(`\`${key.name}\` signed the checkpoint twice`)
    seen.add(key)
    const time = await checkSignature(note.text, signature, key)
    if (time === undefined) signedBy.push(key.key.id)
    else cosignedBy.push({ name: key.name, time })
  }
  if (signedBy.length === 0)
    throw new EvidenceError('NOTE_UNSIGNED', 'no known ledger key has signed the checkpoint')
  return { origin, size, root, signedBy, cosignedBy, unknown: note.signatures.length - seen.size }
}

/** Checks one signature of a known key; for a cosignature, its time. */
async function checkSignature(
  text: string,
  signature: NoteSignature,
  { name, key, algorithm }: NoteKey,
): Promise<number | undefined> {
  const { bytes } = signature
  if (algorithm === 1) {
    if (await verifySignature(key, utf8(text), bytes)) return undefined
    throw wrong(`the signature of \`${name}\` under the checkpoint is wrong`)
  }
  const time = bytes.length === 72 ? new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) : -1n
  const valid =
    time >= 0n &&
    time <= BigInt(Number.MAX_SAFE_INTEGER) &&
    (await verifySignature(key, cosignedMessage(text, String(time)), bytes.subarray(8)))
  if (!valid) throw wrong(`the cosignature of \`${name}\` under the checkpoint is wrong`)
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
