// Reads and writes the trust file: the keys and checkpoint that an auditor pins. It never comes from a pack.

import { openCheckpoint, isOrigin, type Checkpoint, type LedgerKey } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import {
  array,
  count,
  only,
  optional,
  problemWith,
  record,
  shape,
  text,
  textThat,
  type Field,
  type Shape,
} from './fields.ts'
import { isObject, parseJson, type Json } from './json.ts'
import { formatVkey, parseVkey, type NoteKey } from './note.ts'

/** A parsed trust file: the ledger, its keys, its witnesses and the last checkpoint seen. */
export interface Trust {
  readonly ledger: string
  /** The keys of the ledger. One of them must sign the checkpoint, at a size for which it is valid. */
  readonly keys: readonly LedgerKey[]
  readonly witnesses: readonly NoteKey[]
  /** Number of witnesses that must cosign. */
  readonly quorum: number
  /** The last checkpoint seen. A pack must continue it. */
  readonly checkpoint?: Checkpoint
}

/** A key in a file of version 2. */
interface KeyRange {
  readonly vkey: string
  readonly from: number
  readonly until?: number
}

/** The content of the file: keys as C2SP vkeys, in version 2 each with its range; the checkpoint verbatim. */
interface TrustFile {
  readonly tollgate_trust: 1 | 2
  readonly ledger: string
  readonly keys: readonly string[] | readonly KeyRange[]
  readonly witnesses?: readonly string[]
  readonly quorum?: number
  readonly checkpoint?: string
}

const REST = {
  ledger: textThat('the name of a ledger', isOrigin),
  witnesses: optional(array(text(1000), 64)),
  quorum: optional(count(64)),
  checkpoint: optional(textThat('a checkpoint, verbatim', () => true)),
} satisfies Partial<Record<keyof TrustFile, Field>>

/** The shape of a file of version 1. */
export const VERSION_1: Shape = shape({ ...REST, tollgate_trust: only(1), keys: array(text(1000), 16) })

// A ledger gets a key with each rotation, so a file of version 2 can have many.
const KEY_RANGE = record({ vkey: text(1000), from: count(), until: optional(count()) })
/** The shape of a file of version 2. */
export const VERSION_2: Shape = shape({ ...REST, tollgate_trust: only(2), keys: array(KEY_RANGE, 1000) })

/**
 * Reads a trust file.
 *
 * @throws EvidenceError `TRUST_MALFORMED`. The message names the wrong part.
 */
export async function parseTrust(input: Uint8Array | string): Promise<Trust> {
  const file = parseFile(input)
  const keys = file.keys.map(ledgerKey)
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

/**
 * Writes a trust file: version 2 if a key is limited to a range, otherwise version 1, which older verifiers can read. Send it
 * through another channel than the pack.
 */
export function formatTrust(trust: Omit<Trust, 'checkpoint'> & { readonly checkpoint?: string }): string {
  const isRanged = trust.keys.some(({ from, until }) => from !== undefined || until !== undefined)
  const file: TrustFile = {
    tollgate_trust: isRanged ? 2 : 1,
    ledger: trust.ledger,
    keys: isRanged ? trust.keys.map(keyRange) : trust.keys.map(formatVkey),
    ...(trust.witnesses.length > 0 && { witnesses: trust.witnesses.map(formatVkey), quorum: trust.quorum }),
    ...(trust.checkpoint !== undefined && { checkpoint: trust.checkpoint }),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

function parseFile(input: Uint8Array | string): TrustFile {
  const value = reading(() => parseJson(input), 'it is not strict JSON')
  const problem = problemWith(value, shapeFor(value))
  if (problem !== undefined) throw malformed(problem)
  // Sound: both tables have exactly the fields of TrustFile.
  return value as unknown as TrustFile
}

function shapeFor(value: Json): Shape {
  return isObject(value) && value['tollgate_trust'] === 2 ? VERSION_2 : VERSION_1
}

function ledgerKey(given: string | KeyRange): LedgerKey {
  if (typeof given === 'string') return key(given, 1)
  const { vkey, from, until } = given
  if (until !== undefined && until <= from)
    throw malformed(
      '`until` of a key is not after its `from`; it is the first size that the key may not sign',
    )
  return { ...key(vkey, 1), from, ...(until !== undefined && { until }) }
}

function keyRange(trusted: LedgerKey): KeyRange {
  const { from = 0, until } = trusted
  return { vkey: formatVkey(trusted), from, ...(until !== undefined && { until }) }
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
