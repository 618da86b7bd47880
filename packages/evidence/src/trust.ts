// The trust file: what an auditor pins, out of band, before believing anything. It never comes from a pack.

import { openCheckpoint, isOrigin, type Checkpoint } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import { array, count, only, optional, problemWith, shape, text, textThat, type Field } from './fields.ts'
import { parseJson } from './json.ts'
import { formatVkey, parseVkey, type NoteKey } from './note.ts'

/** What is trusted: which ledger, its keys, its witnesses, and the last head seen. */
export interface Trust {
  readonly ledger: string
  /** The ledger's own keys. One of them must have signed the checkpoint. */
  readonly keys: readonly NoteKey[]
  readonly witnesses: readonly NoteKey[]
  /** How many of the witnesses must have cosigned. */
  readonly quorum: number
  /** The last checkpoint seen; a pack must continue it. */
  readonly checkpoint?: Checkpoint
}

/** The file's content: keys as C2SP vkeys, the checkpoint verbatim. */
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
 * @throws EvidenceError `TRUST_MALFORMED`, saying which part is wrong.
 */
export async function parseTrust(input: Uint8Array | string): Promise<Trust> {
  const file = parseFile(input)
  const keys = file.keys.map((vkey) => key(vkey, 1))
  const witnesses = (file.witnesses ?? []).map((vkey) => key(vkey, 4))
  const all = [...keys, ...witnesses]
  if (keys.length === 0) throw malformed('`keys` is empty: no checkpoint could be believed')
  if (keys.some(({ name }) => name !== file.ledger))
    throw malformed('a key of `keys` is not named after `ledger`')
  if (new Set(all.map(({ key: { id } }) => id)).size < all.length)
    throw malformed('the same key stands in it twice')
  if (new Set(witnesses.map(({ name }) => name)).size < witnesses.length) {
    throw malformed('two witnesses have the same name, and would count twice')
  }
  if (witnesses.length > 0 && file.quorum === undefined) {
    throw malformed(
      `\`quorum\` is missing: say how many of the ${witnesses.length} witnesses must have cosigned`,
    )
  }
  const quorum = file.quorum ?? 0
  if (quorum > witnesses.length) throw malformed('`quorum` is larger than the number of witnesses')
  const trust: Trust = { ledger: file.ledger, keys, witnesses, quorum }
  return file.checkpoint === undefined
    ? trust
    : { ...trust, checkpoint: await pinned(file.checkpoint, trust) }
}

/** Writes a trust file, to be handed over by another way than the pack. */
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
  // Sound: the table has exactly the fields of TrustFile, and all were checked.
  return value as unknown as TrustFile
}

function key(vkey: string, algorithm: 1 | 4): NoteKey {
  const parsed = reading(() => parseVkey(vkey), 'a key cannot be used')
  if (parsed.algorithm === algorithm) return parsed
  throw malformed(`the key of \`${parsed.name}\` is of the wrong kind: ledgers have type 1, witnesses type 4`)
}

async function pinned(checkpoint: string, { keys, witnesses }: Trust): Promise<Checkpoint> {
  try {
    return await openCheckpoint(checkpoint, { ledger: keys, witnesses })
  } catch (fault) {
    if (fault instanceof EvidenceError) throw malformed(`\`checkpoint\` cannot be believed: ${fault.message}`)
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
  return new EvidenceError('TRUST_MALFORMED', `the trust file is refused: ${problem}`)
}
