// Checking one receipt offline: that the ledger vouches for it, and that its writer signed it. Trust comes from a file that
// the reader pinned, never from the gateway.

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

/** An envelope, and the proof that it is in the ledger. */
export interface Proven {
  readonly envelope: Uint8Array | string
  /** C2SP tlog-proof. */
  readonly proof: Uint8Array | string
}

/** A receipt and what is to prove it. */
export interface ReceiptEvidence extends Proven {
  /** What is trusted: a trust file's text, or what `parseTrust` made of it. */
  readonly trust: Trust | string
  /** Id of the receipt that was asked about. */
  readonly id?: string
  /** Its place in the ledger, if somebody said so. */
  readonly index?: number
  /**
   * The ledger's `genesis` and `key` receipts, each with its proof: where the key of the receipt's writer comes from. Without
   * them the signature is not checked.
   */
  readonly keys?: readonly Proven[]
}

/** A receipt that holds. */
export interface VerifiedReceipt {
  /** The receipt as it stands in the proven bytes. */
  readonly receipt: Receipt
  readonly id: string
  readonly index: number
  /** The signed head of the ledger that it was proven under. */
  readonly checkpoint: Checkpoint
  /** Whether the writer's signature was checked as well, under a key that the ledger proves. */
  readonly signature: 'checked' | 'unchecked'
}

/**
 * Verifies one receipt, offline.
 *
 * Proves that exactly these bytes are the entry at this index of the pinned ledger, under a checkpoint that one of the pinned
 * keys signed and enough of the pinned witnesses cosigned, no older than the pinned one; and with `keys` that the writer signed
 * it with a key that the ledger had put in service for it before. Does not prove what takes more of the ledger to see: that no
 * key was retired since, that the ledger continues the pinned checkpoint, that the receipt fits those around it. A pack does.
 *
 * @throws TollgateError `receipt-unproven`; EvidenceError `TRUST_MALFORMED` for a trust file that is none.
 */
export async function verifyReceipt(evidence: ReceiptEvidence): Promise<VerifiedReceipt> {
  const trust = typeof evidence.trust === 'string' ? await parseTrust(evidence.trust) : evidence.trust
  const heads = new Map<number, string>()
  const opened = await open(evidence, trust, heads)
  const { parsed, index, checkpoint } = opened
  const { id, receipt } = parsed
  if (evidence.id !== undefined && evidence.id !== id)
    throw unproven('it is another receipt than the one asked about')
  if (evidence.index !== undefined && evidence.index !== index) {
    throw unproven('it stands at another place than the one named')
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

/** Opens a proof under the pinned keys. `heads` are the roots seen so far: a ledger has one of each size. */
async function open({ envelope, proof }: Proven, trust: Trust, heads: Map<number, string>): Promise<Opened> {
  const bytes = typeof envelope === 'string' ? new TextEncoder().encode(envelope) : envelope
  const { keys: ledger, witnesses } = trust
  const [parsed, { index, checkpoint }] = await proving(async () => [
    parseReceipt(bytes),
    await openProof(proof, bytes, { ledger, witnesses }),
  ])
  if (checkpoint.origin !== trust.ledger || parsed.receipt.ledger !== trust.ledger) {
    throw unproven('it is of another ledger than the one trusted')
  }
  if (checkpoint.cosignedBy.length < trust.quorum) {
    throw unproven(
      `${checkpoint.cosignedBy.length} witnesses cosigned; the trust file asks for ${trust.quorum}`,
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
  if (pinned && size < pinned.size) throw unproven('the ledger is shorter than it was when it was last seen')
  if (pinned) heads.set(pinned.size, String(pinned.root))
  const seen = heads.get(size)
  heads.set(size, String(root))
  if (seen !== undefined && seen !== String(root))
    throw unproven('the ledger shows two histories of one length')
}

/** A key that the ledger has put in service. */
interface ServingKey {
  readonly key: PublicKey
  readonly role: 'ledger' | 'writer'
  /** The writer whose chain it signs. */
  readonly of: string | undefined
  /** Its first and last index: it counts from the entry after its own, to the one that retires it. */
  readonly since: number
  until: number
}

type Keys = Map<string, ServingKey>

/** The keys of the ledger, from the receipts that brought them; each of those must be signed by the ledger itself. */
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
    throw unproven('the beginning of the ledger is missing, so no key is known')
  }
  const keys: Keys = new Map<string, ServingKey>()
  for (const each of opened) await takeKey(each, keys)
  return keys
}

async function takeKey(opened: Opened, keys: Keys): Promise<void> {
  const { receipt } = opened.parsed
  const { index } = opened
  if (receipt.kind === 'genesis' && index === 0) {
    // It brings the key that signs it.
    addKey(keys, receipt.public_key, { role: 'ledger', of: undefined, since: -1 })
    return checkSignature(opened, keys)
  }
  if (receipt.kind !== 'key') throw unproven('a receipt that was to bring a key does not')
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
  if (keys.has(key.id)) throw unproven('a key is put in service twice')
  keys.set(key.id, { key, role, of, since, until: Infinity })
}

/** The signature of a receipt, under a key that was in service for it. */
async function checkSignature({ envelope, parsed, index }: Opened, keys: Keys): Promise<void> {
  const { receipt, keyId } = parsed
  const known = keys.get(keyId)
  const ledgers = receipt.kind === 'genesis' || receipt.kind === 'key'
  const fits = ledgers ? known?.role === 'ledger' : known?.role === 'writer' && known.of === receipt.writer
  if (!known || !fits) throw unproven('no key that the ledger put in service for this writer has signed it')
  if (index <= known.since || index > known.until)
    throw unproven('the key that signed it was not in service then')
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
    remedy: 'Do not rely on it. Export a pack and run `tollgate-verify` to see the whole of it.',
    cause,
  })
}
