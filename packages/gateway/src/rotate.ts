// Rotates a key: one batch on the ledger adds the new key and retires the old one. Old receipts still verify, because a key's
// service is bounded by ledger positions, not by time.

import {
  encodeReceipt,
  chainHead,
  nextPlace,
  toBase64,
  type ChainHead,
  type KeyChange,
  type PublicKey,
} from '@tollgate/evidence'
import type { Entry } from '@tollgate/kernel'
import type { Config } from './config/config.ts'
import { GatewayError } from './error.ts'
import type { Keyring, KeyRole, StoredKey } from './keyring.ts'
import { openStore } from './ledger-store.ts'
import type { OpenedStore } from './store/opened.ts'

/** The ids of the keys that changed. */
export interface Rotation {
  readonly added: string
  readonly retired: string
}

/**
 * Replaces the key in service by a new one. The file of the new key must already be durable. The gateway must not run.
 *
 * @throws GatewayError `LEDGER_LOCKED` if the gateway runs, or as opening does.
 */
export async function rotateKey(config: Config, keyring: Keyring, fresh: StoredKey): Promise<Rotation> {
  const seeds = [...keyring.keys, fresh].map(({ seed }) => seed)
  const options = { seeds, brief: true }
  // `quiet` signs no checkpoint: the key that would sign it may be the one that is retired.
  const store = await openStore(config, { ...options, quiet: true })
  const rotation = await changeKey(config, keyring, fresh, store).finally(() => store.close())
  // Opened again, so that the new key signs the head.
  await (await openStore(config, options)).close()
  return rotation
}

async function changeKey(
  config: Config,
  keyring: Keyring,
  fresh: StoredKey,
  store: OpenedStore,
): Promise<Rotation> {
  const held = keyring.keys.map(({ publicKey }) => publicKey)
  const ledgerKey = inService(held, (key) =>
    store.ledgerKeys.some((bytes) => Buffer.compare(key.bytes, bytes) === 0),
  )
  const old = fresh.role === 'ledger' ? ledgerKey : inService(held, ({ id }) => id === store.key)
  const changes = { config, role: fresh.role, signer: ledgerKey.id }
  const head = await store.head()
  const added = keyReceipt(changes, head, 'add', fresh.publicKey)
  const retired = keyReceipt(changes, chainHead(added.encoded), 'retire', old)
  await store.write({ after: head?.id, entries: [added, retired], records: new Map() })
  return { added: fresh.publicKey.id, retired: old.id }
}

function inService(held: readonly PublicKey[], fits: (key: PublicKey) => boolean): PublicKey {
  const found = held.find(fits)
  if (found) return found
  throw new GatewayError('KEY_UNUSABLE', 'the key in service is missing from `keys/`')
}

function keyReceipt(
  { config, role, signer }: { readonly config: Config; readonly role: KeyRole; readonly signer: string },
  head: ChainHead | undefined,
  op: KeyChange['op'],
  key: PublicKey,
): Entry {
  // The time of the ledger never goes back, even if the clock does.
  const time = new Date(Math.max(Date.now(), head ? Date.parse(head.time) : 0)).toISOString()
  const change: KeyChange = {
    v: 1,
    kind: 'key',
    ledger: config.ledger,
    tenant: config.tenant,
    writer: config.writer,
    ...nextPlace(head, []),
    causes: [],
    time,
    key: signer,
    op,
    role,
    ...(role === 'writer' && { of: config.writer }),
    public_key: toBase64(key.bytes),
  }
  return { encoded: encodeReceipt(change), anchors: [] }
}
