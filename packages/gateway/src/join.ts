// Adds a gateway to a ledger in PostgreSQL that has others: one receipt, signed with the ledger key, puts the key of the new writer in
// service. The other gateways continue.

import { encodeReceipt, nextPlace, toBase64, type KeyChange } from '@tollgate/evidence'
import type { Config } from './config/config.ts'
import { GatewayError } from './error.ts'
import { createKey, keyPassphrase, openKeyring, removeKey, type StoredKey } from './keyring.ts'
import { markDatabase, openStore } from './ledger-store.ts'
import type { OpenedStore } from './store/opened.ts'

/**
 * Joins the ledger as the configured writer. Returns the id of the new key.
 *
 * @throws GatewayError `CONFIG_INVALID` without a database, `DATA_EXISTS` if the writer has a key, `KEY_UNUSABLE` without the ledger
 * key, or as opening does.
 */
export async function joinLedger(config: Config): Promise<string> {
  if (!config.database) {
    throw new GatewayError(
      'CONFIG_INVALID',
      'the ledger of this configuration is a file, which only one gateway can use',
      {
        hints: ['set `database` in tollgate.yaml to the database of the other gateways'],
      },
    )
  }
  const { keys } = await openKeyring(config)
  const ledgerKeys = keys.filter(({ role }) => role === 'ledger')
  const store = await openStore(config, { seeds: ledgerKeys.map(({ seed }) => seed), joining: true })
  try {
    const signer = ledgerKeys.find(({ publicKey }) =>
      store.ledgerKeys.some((bytes) => Buffer.compare(bytes, publicKey.bytes) === 0),
    )
    if (!signer) throw noLedgerKey()
    if (store.key !== undefined) throw hasJoined(config.writer)
    const fresh = await createKey(config.data, 'writer', await keyPassphrase(config))
    await record(config, store, signer, fresh)
    markDatabase(config)
    return fresh.publicKey.id
  } finally {
    await store.close()
  }
}

async function record(
  config: Config,
  store: OpenedStore,
  signer: StoredKey,
  fresh: StoredKey,
): Promise<void> {
  const head = await store.head()
  const change: KeyChange = {
    v: 1,
    kind: 'key',
    ledger: config.ledger,
    tenant: config.tenant,
    writer: config.writer,
    ...nextPlace(head, []),
    causes: [],
    time: new Date(Math.max(Date.now(), head ? Date.parse(head.time) : 0)).toISOString(),
    key: signer.publicKey.id,
    op: 'add',
    role: 'writer',
    of: config.writer,
    public_key: toBase64(fresh.publicKey.bytes),
  }
  const entries = [{ encoded: encodeReceipt(change), anchors: [] }]
  try {
    await store.write({ after: head?.id, entries, records: new Map() })
  } catch (fault) {
    // The ledger may have the key already: then the file is needed.
    if (!(await isKnown(store, fresh))) removeKey(fresh)
    throw fault
  }
}

async function isKnown({ view }: OpenedStore, { publicKey }: StoredKey): Promise<boolean> {
  try {
    const text = toBase64(publicKey.bytes)
    for (const index of await view.indexesOf(['key'])) {
      const [envelope] = await view.envelopes(index, index + 1)
      const payload =
        envelope && (JSON.parse(Buffer.from(envelope).toString()) as { readonly payload: string }).payload
      if (payload !== undefined && Buffer.from(payload, 'base64').includes(text)) return true
    }
    return false
  } catch {
    return true
  }
}

function noLedgerKey(): GatewayError {
  return new GatewayError('KEY_UNUSABLE', 'the ledger key is missing from `keys/`', {
    hints: [
      'copy `keys/ledger-*.pem` from a gateway of this ledger; you can remove it again after `tollgate join`',
    ],
  })
}

function hasJoined(writer: string): GatewayError {
  return new GatewayError('DATA_EXISTS', `the ledger has a writer \`${writer}\` already`, {
    hints: ['set another `writer` under `database` in tollgate.yaml; two gateways cannot share one'],
  })
}
