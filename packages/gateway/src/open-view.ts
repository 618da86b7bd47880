// Opens the ledger of a data directory read-only, without starting a kernel.

import { formatTrust, importPublicKey, noteKey } from '@tollgate/evidence'
import type { Config } from './config/config.ts'
import { sealKeyIfAny } from './seal-key.ts'
import { openingView, type Sealer } from './sealing.ts'
import { databasePlace } from './ledger-store.ts'
import type { KeyPeriod } from './store/service.ts'
import { openSqliteView, openSqliteViewApart } from './store/sqlite/store.ts'
import type { LedgerView } from './view.ts'

/** A ledger that is open for reading only. */
export interface OpenView {
  readonly view: LedgerView
  /** The text of the trust file. */
  trust: () => Promise<string>
  close: () => Promise<void>
}

/**
 * Opens the ledger read-only, also next to a running gateway. With `apart`, reading runs in a separate thread. @throws
 * GatewayError as `openGateway`.
 */
export async function openView(config: Config, apart: boolean = false): Promise<OpenView> {
  const { ledger } = config
  const { view: sealed, keyPeriods, close } = await openBare(config, apart)
  let key: { readonly sealer: Sealer | undefined } | undefined
  const view = openingView(sealed, () => (key ??= { sealer: sealKeyIfAny(config) }).sealer)
  return { view, trust: () => Promise.resolve(trustText(ledger, keyPeriods)), close }
}

async function openBare(
  { data, writer, database }: Config,
  apart: boolean,
): ReturnType<typeof openSqliteView> {
  if (!database) return (apart ? openSqliteViewApart : openSqliteView)(data, writer)
  const { openPostgresView } = await import('./store/postgres/store.ts')
  return openPostgresView(databasePlace(database), writer)
}

/** The text of a trust file. As long as the ledger has had one key only, it has no ranges, so that older verifiers can read it. */
export function trustText(origin: string, periods: readonly KeyPeriod[]): string {
  const isRotated = periods.length > 1
  return formatTrust({
    ledger: origin,
    keys: periods.map(({ bytes, from, until }) => ({
      ...noteKey(origin, importPublicKey(bytes), 1),
      ...(isRotated && { from }),
      ...(until !== undefined && { until }),
    })),
    witnesses: [],
    quorum: 0,
  })
}
