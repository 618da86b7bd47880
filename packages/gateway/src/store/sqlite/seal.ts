// Signing entries: what both the writer and the thread that shares its work do.

import { formatEnvelope, importSigningKey, leafHash, type SigningKey } from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'

/** An entry to be signed. */
interface Unsigned {
  readonly id: string
  readonly key: string
  /** What is signed; it ends with the payload. */
  readonly message: Uint8Array
  readonly payload: Uint8Array
}

/** A signature, and the leaf of the tree that the entry makes with it. */
export interface Seal {
  readonly signature: Uint8Array
  readonly leaf: Uint8Array
}

/** Takes in private keys. The seeds are wiped. */
export async function importSeeds(seeds: readonly Uint8Array[]): Promise<readonly SigningKey[]> {
  const keys: SigningKey[] = []
  for (const seed of seeds) {
    keys.push(await importSigningKey(seed))
    seed.fill(0)
  }
  return keys
}

/** Signs with the key that an entry names. */
export function createSealer(keys: readonly SigningKey[]): (entry: Unsigned) => Promise<Seal> {
  const signers = new Map(keys.map((key) => [key.publicKey.id, key]))
  return async ({ key, message, payload }) => {
    const signer = signers.get(key)
    if (!signer) throw new GatewayError('KEY_UNUSABLE', `the key \`${key}\` is not in the key ring`)
    const signature = await signer.sign(message)
    return { signature, leaf: leafHash(formatEnvelope(payload, key, signature)) }
  }
}
