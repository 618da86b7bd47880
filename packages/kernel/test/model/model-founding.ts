// The start of every world: a founded ledger, and keys for delegations.

import type { SigningKey } from '@tollgate/evidence'
import { foundingBatch } from '../../src/ledger/genesis.ts'
import type { Batch } from '../../src/ledger/store.ts'
import type { Keys } from './model-kernel-policy.ts'
import { DELEGATORS } from './model-names.ts'
import { fixedKey, ORIGIN, START, WRITER } from '../rig.ts'

/** The start of every world. */
export interface Founding {
  readonly batch: Batch
  readonly key: string
  readonly keys: Keys
}

let first: Promise<Founding> | undefined

/** The same for all worlds. */
export function founding(): Promise<Founding> {
  return (first ??= found())
}

async function found(): Promise<Founding> {
  const [ledger, writer] = await Promise.all([fixedKey('ledger'), fixedKey('writer')])
  const signing = new Map<string, SigningKey>()
  for (const name of DELEGATORS) {
    for (const number of [0, 1]) signing.set(`${name} ${number}`, await fixedKey(`model ${name} ${number}`))
  }
  const batch = foundingBatch({
    origin: ORIGIN,
    writer: WRITER,
    ledgerKey: ledger.publicKey,
    writerKey: writer.publicKey,
    time: START,
  })
  const keys: Keys = (name, number) => {
    const key = signing.get(`${name} ${number}`)
    if (!key) throw new Error(`${name} has no key ${number}`)
    return key
  }
  return { batch, key: writer.publicKey.id, keys }
}
