// Reads and writes the trust file: the keys and checkpoint that an auditor pins. It never comes from a pack.

import { openCheckpoint, isOrigin, type Checkpoint } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import { array, count, only, optional, problemWith, shape, text, textThat, type Field } from './fields.ts'
import { parseJson } from './json.ts'
import { formatVkey, parseVkey, type NoteKey } from './note.ts'

/** A parsed trust file: the ledger, its keys, its witnesses and the last checkpoint seen. */
export interface Trust {
  readonly ledger: string
  /** The keys of the ledger. One of them must sign the checkpoint. */
  readonly keys: readonly NoteKey[]
  readonly witnesses: readonly NoteKey[]
  /** Number of witnesses that must cosign. */
  readonly quorum: number
  /** The last checkpoint seen. A pack must continue it. */
  readonly checkpoint?: Checkpoint
}

/** The content of the file: keys as C2SP vkeys, the checkpoint verbatim. */
interface TrustFile {
  readonly tollgate_trust: 1
  readonly ledger: string
  readonly keys: readonly string[]
  readonly witnesses?: readonly string[]
  readonly quorum?: number
  readonly checkpoint?: string
}

const SHAPE = shape({
  tollgate_trust: only(1),
  ledger: textThat('the name of a ledger', isOrigin),
  keys: array(text(1000), 16),
  witnesses: optional(array(text(1000), 64)),
  quorum: optional(count(64)),
  checkpoint: optional(textThat('a checkpoint, verbatim', () => true)),
} satisfies Readonly<Record<keyof TrustFile, Field>>)

/**
 * Reads a trust file.
 *
 * @throws EvidenceError `TRUST_MALFORMED`. The message names the wrong part.
 */
export async function parseTrust(input: Uint8Array | string): Promise<Trust> {
  const file = parseFile(input)
  const keys = file.keys.map((vkey) => key(vkey, 1))
  const witnesses = (file.witnesses ?? []).map((vkey) => key(vkey, 4))
  const all = [...keys, ...witnesses]
  if (keys.length === 0) throw malformed('`keys` is empty; add the key of the ledger')
  if (keys.some(({ name }) => name !== file.ledger))
    throw malformed('a key of `keys` does not have the name in `ledger`')
  if (new Set(all.map(({ key: { id } }) => id)).size < all.length)
    throw malformed('the same key is in it twice')
  if (new Set(witnesses.map(({ name }) => name)).size < witnesses.length) {
    throw malformed('two witnesses have the same name')
  }
  if (witnesses.length > 0 && file.quorum === undefined) {
    throw malformed(`\`quorum\` is missing; set how many of the ${witnesses.length} witnesses must cosign`)
  }
  const quorum = file.quorum ?? 0
  if (quorum > witnesses.length) throw malformed('`quorum` is larger than the number of witnesses')
  const trust: Trust = { ledger: file.ledger, keys, witnesses, quorum }
  return file.checkpoint === undefined
    ? trust
    : { ...trust, checkpoint: await pinned(file.checkpoint, trust) }
}

/** Writes a trust file. Send it through another channel than the pack. */
export function formatTrust(trust: Omit<Trust, 'checkpoint'> & { readonly checkpoint?: string }): string {
  const file: TrustFile = {
    tollgate_trust: 1,
    ledger: trust.ledger,
    keys: trust.keys.map(formatVkey),
    ...(trust.witnesses.length > 0 && { witnesses: trust.witnesses.map(formatVkey), quorum: trust.quorum }),
    ...(trust.checkpoint !== undefined && { checkpoint: trust.checkpoint }),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

function parseFile(input: Uint8Array | string): TrustFile {
  const value = reading(() => parseJson(input), 'it is not strict JSON')
  const problem = problemWith(value, SHAPE)
  if (problem !== undefined) throw malformed(problem)
  // Sound: the table has exactly the fields of TrustFile.
  return value as unknown as TrustFile
}

function key(vkey: string, algorithm: 1 | 4): NoteKey {
  const parsed = reading(() => parseVkey(vkey), 'a key cannot be used')
  if (parsed.algorithm === algorithm) return parsed
  throw malformed(
    `the key of \`${parsed.name}\` has the wrong type: keys of ledgers have type 1, of witnesses type 4`,
  )
}

async function pinned(checkpoint: string, { keys, witnesses }: Trust): Promise<Checkpoint> {
  try {
    return await openCheckpoint(checkpoint, { ledger: keys, witnesses })
  } catch (fault) {
    if (fault instanceof EvidenceError) throw malformed(`\`checkpoint\` is not valid: ${fault.message}`)
    throw fault
  }
}

function reading<T>(read: () => T, problem: string): T {
  try {
    return read()
  } catch (fault) {
    if (fault instanceof EvidenceError) throw malformed(`${problem}: ${fault.message}`)
    throw fault
  }
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('TRUST_MALFORMED', `the trust file is not valid: ${problem}`)
}
