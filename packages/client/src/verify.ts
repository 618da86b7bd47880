// Verifies one receipt offline: its inclusion in the ledger and the signature of its writer. Trust comes only from the trust file.

import {
  EvidenceError,
  importPublicKey,
  openProof,
  openReceipt,
  parseReceipt,
  parseTrust,
  type Checkpoint,
  type Parsed,
  type PublicKey,
  type Receipt,
  type Trust,
} from '@tollgate/evidence'
import { TollgateError } from './error.ts'

/** An envelope with its inclusion proof. */
export interface Proven {
  readonly envelope: Uint8Array | string
  /** C2SP tlog-proof. */
  readonly proof: Uint8Array | string
}

/** A receipt with its evidence. */
export interface ReceiptEvidence extends Proven {
  /** The text of a trust file, or the result of `parseTrust`. */
  readonly trust: Trust | string
  /** The expected id of the receipt. */
  readonly id?: string
  /** The expected index of the receipt. */
  readonly index?: number
  /**
   * The `genesis` and `key` receipts of the ledger, each with its proof. They give the key of the writer. Without them the signature
   * is not checked.
   */
  readonly keys?: readonly Proven[]
}

/** A verified receipt. */
export interface VerifiedReceipt {
  /** The receipt from the proven bytes. */
  readonly receipt: Receipt
  readonly id: string
  readonly index: number
  /** The checkpoint that proves it. */
  readonly checkpoint: Checkpoint
  /** Whether the signature of the writer was checked, under a key that the ledger proves. */
  readonly signature: 'checked' | 'unchecked'
}

/**
 * Verifies one receipt, offline.
 *
 * Proves that these bytes are the entry at this index of the pinned ledger. A pinned key must have signed the checkpoint, enough
 * pinned witnesses must have cosigned it, and it must not be older than the pinned checkpoint. With `keys`, also proves that the
 * writer signed the receipt with a key that the ledger had added for it.
 *
 * Does not prove that no key was retired since, that the ledger continues the pinned checkpoint, or that the receipt agrees with
 * those around it. A pack proves that.
 *
 * @throws TollgateError `receipt-unproven`; EvidenceError `TRUST_MALFORMED` for an invalid trust file.
 */
export async function verifyReceipt(evidence: ReceiptEvidence): Promise<VerifiedReceipt> {
  const trust = typeof evidence.trust === 'string' ? await parseTrust(evidence.trust) : evidence.trust
  const heads = new Map<number, string>()
  const opened = await open(evidence, trust, heads)
  const { parsed, index, checkpoint } = opened
  const { id, receipt } = parsed
  if (evidence.id !== undefined && evidence.id !== id) throw unproven('it is not the requested receipt')
  if (evidence.index !== undefined && evidence.index !== index) {
    throw unproven('it is at another index than expected')
  }
  if (evidence.keys) {
    const keys = await readKeys(evidence.keys, trust, heads)
    await checkSignature(opened, keys)
  }
  return { receipt, id, index, checkpoint, signature: evidence.keys ? 'checked' : 'unchecked' }
}

interface Opened {
  readonly envelope: Uint8Array
  readonly parsed: Parsed
  readonly index: number
  readonly checkpoint: Checkpoint
}

/** Opens a proof under the pinned keys. `heads` has the root of each size seen so far; they must not contradict. */
async function open({ envelope, proof }: Proven, trust: Trust, heads: Map<number, string>): Promise<Opened> {
  const bytes = typeof envelope === 'string' ? new TextEncoder().encode(envelope) : envelope
  const { keys: ledger, witnesses } = trust
  const [parsed, { index, checkpoint }] = await proving(async () => [
    parseReceipt(bytes),
    await openProof(proof, bytes, { ledger, witnesses }),
  ])
  if (checkpoint.origin !== trust.ledger || parsed.receipt.ledger !== trust.ledger) {
    throw unproven('it belongs to another ledger than the trust file names')
  }
  if (checkpoint.cosignedBy.length < trust.quorum) {
    throw unproven(
      `${checkpoint.cosignedBy.length} witnesses cosigned; the trust file requires ${trust.quorum}`,
    )
  }
  checkHead(checkpoint, trust, heads)
  return { envelope: bytes, parsed, index, checkpoint }
}

function checkHead(
  { size, root }: Checkpoint,
  { checkpoint: pinned }: Trust,
  heads: Map<number, string>,
): void {
  if (pinned && size < pinned.size) throw unproven('the ledger is shorter than the pinned checkpoint')
  if (pinned) heads.set(pinned.size, String(pinned.root))
  const seen = heads.get(size)
  heads.set(size, String(root))
  if (seen !== undefined && seen !== String(root))
    throw unproven('the ledger has two different histories of the same length')
}

/** A key that the ledger added. */
interface ServingKey {
  readonly key: PublicKey
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain it signs. */
  readonly of: string | undefined
  /** It is active from the entry after `since` to the entry `until` that retires it. */
  readonly since: number
  until: number
}

type Keys = Map<string, ServingKey>

/** The keys of the ledger, from the receipts that added them. The ledger must have signed each of these receipts. */
async function readKeys(
  receipts: readonly Proven[],
  trust: Trust,
  heads: Map<number, string>,
): Promise<Keys> {
  const opened: Opened[] = []
  for (const receipt of receipts) opened.push(await open(receipt, trust, heads))
  opened.sort((a, b) => a.index - b.index)
  const [first] = opened
  if (first?.parsed.receipt.kind !== 'genesis' || first.index !== 0) {
    throw unproven('the genesis receipt is missing, so no key is known')
  }
  const keys: Keys = new Map<string, ServingKey>()
  for (const each of opened) await takeKey(each, keys)
  return keys
}

async function takeKey(opened: Opened, keys: Keys): Promise<void> {
  const { receipt } = opened.parsed
  const { index } = opened
  if (receipt.kind === 'genesis' && index === 0) {
    // The genesis receipt contains the key that signs it.
    addKey(keys, receipt.public_key, { role: 'ledger', of: undefined, since: -1 })
    return checkSignature(opened, keys)
  }
  if (receipt.kind !== 'key') throw unproven('a receipt in `keys` is not a key receipt')
  await checkSignature(opened, keys)
  const { op, public_key, role, of } = receipt
  if (op === 'add') {
    addKey(keys, public_key, { role, of, since: index })
    return
  }
  const retired = keys.get((await proving(() => importPublicKey(public_key))).id)
  if (retired) retired.until = Math.min(retired.until, index)
}

function addKey(
  keys: Keys,
  bytes: string,
  { role, of, since }: Pick<ServingKey, 'role' | 'of' | 'since'>,
): void {
  const key = importKey(bytes)
  if (keys.has(key.id)) throw unproven('a key is added twice')
  keys.set(key.id, { key, role, of, since, until: Infinity })
}

/** Checks the signature of a receipt under a key that was active for it. */
async function checkSignature({ envelope, parsed, index }: Opened, keys: Keys): Promise<void> {
  const { receipt, keyId } = parsed
  const known = keys.get(keyId)
  const ledgers = receipt.kind === 'genesis' || receipt.kind === 'key'
  const fits = ledgers ? known?.role === 'ledger' : known?.role === 'writer' && known.of === receipt.writer
  if (!known || !fits) throw unproven('no key that the ledger added for this writer signed it')
  if (index <= known.since || index > known.until)
    throw unproven('the key that signed it was not active then')
  await proving(() => openReceipt(envelope, () => known.key))
}

function importKey(bytes: string): PublicKey {
  try {
    return importPublicKey(bytes)
  } catch (fault) {
    throw translated(fault)
  }
}

async function proving<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    throw translated(fault)
  }
}

function translated(fault: unknown): unknown {
  return fault instanceof EvidenceError ? unproven(fault.message, fault) : fault
}

function unproven(problem: string, cause?: EvidenceError): TollgateError {
  return new TollgateError('receipt-unproven', `the receipt is not proven: ${problem}`, {
    remedy: 'Do not rely on it. Export a pack and check it with `tollgate-verify`.',
    cause,
  })
}
