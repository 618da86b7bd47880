// Signs entries, in the writer thread and in the signer thread.

import { formatEnvelope, importSigningKey, leafHash, type SigningKey } from '@tollgate/evidence'
import { GatewayError } from '../error.ts'

interface Unsigned {
  readonly id: string
  readonly key: string
  /** The bytes to sign. They end with the payload. */
  readonly message: Uint8Array
  readonly payload: Uint8Array
}

/** A signature and the resulting leaf of the tree. */
export interface Seal {
  readonly signature: Uint8Array
  readonly leaf: Uint8Array
}

/** Imports private keys and wipes the seeds. */
export async function importSeeds(seeds: readonly Uint8Array[]): Promise<readonly SigningKey[]> {
  const keys: SigningKey[] = []
  for (const seed of seeds) {
    keys.push(await importSigningKey(seed))
    seed.fill(0)
  }
  return keys
}

/** Creates a function that signs an entry with the key that it names. */
export function createSealer(keys: readonly SigningKey[]): (entry: Unsigned) => Promise<Seal> {
  const signers = new Map(keys.map((key) => [key.publicKey.id, key]))
  return async ({ key, message, payload }) => {
    const signer = signers.get(key)
    if (!signer) throw new GatewayError('KEY_UNUSABLE', `the key \`${key}\` is not in the key ring`)
    const signature = await signer.sign(message)
    return { signature, leaf: leafHash(formatEnvelope(payload, key, signature)) }
  }
}
