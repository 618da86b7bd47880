// One interface for the Ed25519 of Node and of WebCrypto. `keys.ts` adds the strict rules.

import { concat, fromBase64, fromHex } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { nodeCrypto, webCrypto, type NodeCrypto, type WebCrypto, type WebKey } from './host.ts'

/** Checks a signature under a fixed key. */
export type Verify = (message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>

/** Signs with a fixed key that cannot be read back. */
export type Sign = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>

/** The Ed25519 of one runtime. */
interface Ed25519 {
  /** Returns a checker for a 32-byte public key. */
  verifier(publicKey: Uint8Array): Verify
  /** Returns a signer for a 32-byte seed, with its public key. */
  signer(seed: Uint8Array): Promise<{ readonly publicKey: Uint8Array; readonly sign: Sign }>
}

// The fixed DER headers of an Ed25519 key (RFC 8410). The 32 bytes of the key follow.
const SPKI = bytesOf('302a300506032b6570032100')
const PKCS8 = bytesOf('302e020100300506032b657004220420')

/** The Ed25519 of Node. Each key is parsed once, because parsing costs more than a signature. */
export function nodeEd25519(crypto: NodeCrypto): Ed25519 {
  return {
    verifier(publicKey) {
      const key = crypto.createPublicKey({ key: concat(SPKI, publicKey), format: 'der', type: 'spki' })
      return (message, signature) => crypto.verify(null, message, key, signature)
    },
    signer(seed) {
      const der = concat(PKCS8, seed)
      const key = crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      der.fill(0)
      return Promise.resolve({
        publicKey: fromJwk(crypto.createPublicKey(key).export({ format: 'jwk' }).x),
        sign: (message) => crypto.sign(null, message, key),
      })
    },
  }
}

/** The Ed25519 of WebCrypto. */
export function webEd25519(crypto: WebCrypto): Ed25519 {
  return {
    verifier(publicKey) {
      // Imported at the first use, from a copy that callers cannot change.
      const own = Uint8Array.from(publicKey)
      let key: Promise<WebKey> | undefined
      return async (message, signature) => {
        key ??= supported(crypto.importKey('raw', own, 'Ed25519', false, ['verify']))
        return crypto.verify('Ed25519', await key, signature, message)
      }
    },
    async signer(seed) {
      const der = concat(PKCS8, seed)
      // Exporting the public key needs an extractable copy. The kept key is not extractable.
      const readable = await supported(crypto.importKey('pkcs8', der, 'Ed25519', true, ['sign']))
      const key = await supported(crypto.importKey('pkcs8', der, 'Ed25519', false, ['sign']))
      der.fill(0)
      return {
        publicKey: fromJwk((await crypto.exportKey('jwk', readable)).x),
        sign: async (message) => new Uint8Array(await crypto.sign('Ed25519', key, message)),
      }
    },
  }
}

/** The Ed25519 of this runtime. Throws `KEY_UNAVAILABLE` if it has none. */
export function hostEd25519(): Ed25519 {
  if (nodeCrypto) return nodeEd25519(nodeCrypto)
  if (webCrypto) return webEd25519(webCrypto)
  throw new EvidenceError(
    'KEY_UNAVAILABLE',
    'this runtime has no WebCrypto; open the page over https or on localhost',
  )
}

async function supported(key: Promise<WebKey>): Promise<WebKey> {
  try {
    return await key
  } catch {
    // The original message can describe the key, so it is not passed on.
    throw new EvidenceError('KEY_UNAVAILABLE', 'this runtime cannot use Ed25519 keys; use a newer browser')
  }
}

function fromJwk(x: string | undefined): Uint8Array {
  const bytes = fromBase64(`${(x ?? '').replaceAll('-', '+').replaceAll('_', '/')}=`)
  if (bytes?.length === 32) return bytes
  throw new EvidenceError('KEY_UNAVAILABLE', 'this runtime exported no public key')
}

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes) return bytes
  throw new TypeError('not hexadecimal')
}
