// Determines which keys are in service according to the ledger. Each key change must be signed by a ledger key that was in
// service before it.

import {
  importPublicKey,
  openReceipt,
  parseReceipt,
  type KeyChange,
  type Parsed,
  type PublicKey,
  type Receipt,
  type SigningKey,
} from '@tollgate/evidence'
import { GatewayError } from '../error.ts'

/** A key of the ledger and the indexes of the entries for which it was in service. */
export interface KeyPeriod {
  /** Its 32 bytes. */
  readonly bytes: Uint8Array
  readonly from: number
  /** The index after the last; missing while it is in service. */
  readonly until?: number
}

/** The keys of a ledger. */
export interface KeyRing {
  /** The key of the genesis receipt. It identifies the ledger permanently. */
  readonly first: PublicKey
  /** Every key that was ever in service. */
  readonly known: readonly PublicKey[]
  readonly ledger: readonly PublicKey[]
  /** Every key of the ledger that ever was in service, the oldest first. */
  readonly periods: readonly KeyPeriod[]
  /** The key of the writer in question; undefined if it has none in service. */
  readonly own: PublicKey | undefined
}

/** The keys of a ledger, with the one of a writer. */
export interface Service extends Omit<KeyRing, 'own'> {
  readonly writer: PublicKey
}

/** A genesis or key receipt of the ledger, in its envelope. */
interface KeyEntry {
  readonly index: number
  readonly envelope: Uint8Array
}

/**
 * Determines the keys from all genesis and key receipts, in the order of the ledger. @throws GatewayError `LEDGER_DAMAGED`,
 * `DATA_MISSING` without a genesis receipt, or `KEY_UNUSABLE` if the writer has no key in service.
 */
export async function serviceOf(entries: readonly KeyEntry[], writer: string): Promise<Service> {
  const { first, own, ...service } = await ringOf(entries, writer)
  if (own) return { ...service, first, writer: own }
  throw new GatewayError('KEY_UNUSABLE', `no key is in service for the writer \`${writer}\``)
}

/** As `serviceOf`, but the writer may have no key yet. */
export async function ringOf(entries: readonly KeyEntry[], writer: string): Promise<KeyRing> {
  const known = new Map<string, PublicKey>()
  const ledger = new Map<string, PublicKey>()
  const periods = new Map<string, KeyPeriod>()
  let own: PublicKey | undefined
  let first: PublicKey | undefined
  for (const { index, envelope } of entries) {
    const change = await read(envelope, ledger, first === undefined)
    const key = importPublicKey(change.public_key)
    known.set(key.id, key)
    notePeriod(periods, change, key, index)
    if (change.kind === 'genesis') {
      first = key
      ledger.set(key.id, key)
    } else if (change.role === 'ledger') {
      if (change.op === 'add') ledger.set(key.id, key)
      else ledger.delete(key.id)
    } else if (change.of === writer) {
      if (change.op === 'add') own = key
      else if (own?.id === key.id) own = undefined
    }
  }
  if (!first)
    throw new GatewayError('DATA_MISSING', 'the ledger has no genesis receipt', {
      hints: ['run `tollgate init`'],
    })
  return {
    first,
    own,
    known: [...known.values()],
    ledger: [...ledger.values()],
    periods: [...periods.values()],
  }
}

/** Notes a change of the ledger's keys. A change counts from the next index on. */
function notePeriod(
  periods: Map<string, KeyPeriod>,
  change: KeyReceipt,
  { id, bytes: raw }: PublicKey,
  at: number,
): void {
  if (change.kind === 'genesis') periods.set(id, { bytes: raw, from: 0 })
  else if (change.role !== 'ledger') return
  else if (change.op === 'add') periods.set(id, { bytes: raw, from: at + 1 })
  else periods.set(id, { bytes: raw, from: periods.get(id)?.from ?? 0, until: at + 1 })
}

type KeyReceipt = KeyChange | Extract<Receipt, { kind: 'genesis' }>

async function read(
  envelope: Uint8Array,
  ledger: Map<string, PublicKey>,
  isFirst: boolean,
): Promise<KeyReceipt> {
  try {
    const { receipt } = await openReceipt(
      envelope,
      (id) => ledger.get(id) ?? (isFirst ? ownKey(envelope) : undefined),
    )
    if (receipt.kind === (isFirst ? 'genesis' : 'key')) return receipt
  } catch (cause) {
    throw new GatewayError('LEDGER_DAMAGED', 'a key receipt of the ledger has no valid signature', {
      cause,
      hints: ['run `tollgate fsck`'],
    })
  }
  throw new GatewayError('LEDGER_DAMAGED', 'the ledger does not begin with its genesis receipt', {
    hints: ['run `tollgate fsck`'],
  })
}

/** The genesis receipt is signed with the key it contains. Trust in that key comes from outside. */
function ownKey(envelope: Uint8Array): PublicKey | undefined {
  const { payload } = JSON.parse(Buffer.from(envelope).toString()) as { payload: string }
  const { public_key } = JSON.parse(Buffer.from(payload, 'base64').toString()) as { public_key?: unknown }
  return typeof public_key === 'string' ? importPublicKey(public_key) : undefined
}

export interface KnownKeys {
  /**
   * Opens an envelope. `what` describes it in the error message.
   *
   * @throws GatewayError `LEDGER_DAMAGED`, or as `serviceOf`; an error of the database if the keys cannot be read.
   */
  open(envelope: Uint8Array, what: string): Promise<Parsed>
}

/** The keys of a ledger, which may still be empty. Reads them again when a key is unknown. */
export function knownKeys(readKnown: () => Promise<readonly PublicKey[]>): KnownKeys {
  let known = new Map<string, PublicKey>()
  const keyOf = async (id: string): Promise<PublicKey | undefined> => {
    if (!known.has(id)) known = new Map((await readKnown()).map((key) => [key.id, key]))
    return known.get(id)
  }
  return {
    async open(envelope, what) {
      const { keyId } = await judged(what, () => parseReceipt(envelope))
      // Outside of `judged`: failing to read the keys says nothing about the signature.
      const key = await keyOf(keyId)
      return judged(what, () => openReceipt(envelope, () => key))
    },
  }
}

async function judged<T>(what: string, judge: () => T | Promise<T>): Promise<T> {
  try {
    return await judge()
  } catch (cause) {
    throw new GatewayError('LEDGER_DAMAGED', `${what} is not signed by a key of this ledger`, {
      cause,
      hints: ['run `tollgate fsck`'],
    })
  }
}

/** Throws unless all private keys in service are present. */
export function requireService({ ledger, writer }: Service, keys: readonly SigningKey[]): void {
  const held = keys.map(({ publicKey }) => publicKey.id)
  for (const { id } of [...ledger, writer]) {
    if (held.includes(id)) continue
    throw new GatewayError(
      'KEY_UNUSABLE',
      `the key \`${id.slice(0, 8)}\`is in service but missing from \`keys/\``,
      {
        hints: ['restore the key file; without it this ledger cannot be extended'],
      },
    )
  }
}
