// Receipt proofs (C2SP tlog-proof): a text that proves offline that a receipt is in the ledger.

import { decodeUtf8, fromBase64, toBase64 } from './bytes.ts'
import { openCheckpoint, type Checkpoint, type CheckpointKeys } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import { leafHash, verifyInclusion } from './merkle.ts'

/** A parsed proof. Nothing in it is verified. */
export interface Proof {
  readonly index: number
  readonly hashes: readonly Uint8Array[]
  /** The checkpoint, verbatim. Only it gives size and root. */
  readonly checkpoint: string
}

const HEADER = 'c2sp.org/tlog-proof@v1'
/** Maximum size of a proof in bytes. */
export const MAX_PROOF_BYTES: number = 128 * 1024
/** Maximum number of hashes of a proof. */
export const MAX_HASHES = 64

/** Writes a proof. */
export function formatProof({ index, hashes, checkpoint }: Proof): string {
  return [HEADER, `index ${index}`, ...hashes.map(toBase64), '', checkpoint].join('\n')
}

/**
 * Parses a proof. Verifies nothing. Drops an `extra` line, because nothing signs it.
 *
 * @throws EvidenceError `PROOF_MALFORMED`.
 */
export function parseProof(input: Uint8Array | string): Proof {
  if (input.length > MAX_PROOF_BYTES) throw malformed(`it is larger than ${MAX_PROOF_BYTES} bytes`)
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  const split = text?.indexOf('\n\n') ?? -1
  if (text === undefined || split < 0) throw malformed('it is not UTF-8, or has no checkpoint')
  const [header, ...lines] = text.slice(0, split).split('\n')
  if (header !== HEADER) throw malformed(`its first line is not \`${HEADER}\``)
  if (lines[0]?.startsWith('extra ')) checkExtra(lines.shift())
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? '')?.[1]
  if (index === undefined || !Number.isSafeInteger(Number(index))) throw malformed('it has no index')
  if (lines.length > MAX_HASHES) throw malformed(`it has more than ${MAX_HASHES} hashes`)
  return { index: Number(index), hashes: lines.map(parseHash), checkpoint: text.slice(split + 2) }
}

/**
 * Opens a proof for one receipt: checks its checkpoint under the known keys, and that these bytes are the entry at its index.
 *
 * @throws EvidenceError `PROOF_MALFORMED`, `PROOF_WRONG`, or as `openCheckpoint` does.
 */
export async function openProof(
  input: Uint8Array | string,
  envelope: Uint8Array,
  keys: CheckpointKeys,
): Promise<{ readonly index: number; readonly checkpoint: Checkpoint }> {
  const { index, hashes, checkpoint: note } = parseProof(input)
  const checkpoint = await openCheckpoint(note, keys)
  if (!verifyInclusion(leafHash(envelope), index, checkpoint.size, hashes, checkpoint.root)) {
    throw new EvidenceError('PROOF_WRONG', 'the proof does not show that this receipt is in the checkpoint')
  }
  return { index, checkpoint }
}

function checkExtra(line = ''): void {
  if (fromBase64(line.slice('extra '.length)) === undefined) throw malformed('its extra line is not base64')
}

function parseHash(line: string): Uint8Array {
  const hash = fromBase64(line)
  if (hash?.length !== 32) throw malformed('a hash is not 32 bytes in base64')
  return hash
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('PROOF_MALFORMED', `not a proof: ${problem}`)
}
