// Ed25519 as the host offers it, twice behind one interface. `keys.ts` adds the strict rules the hosts leave out.

import { concat, fromBase64, fromHex } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { nodeCrypto, webCrypto, type NodeCrypto, type WebCrypto, type WebKey } from './host.ts'

/** Checks one signature under a key that is kept. */
export type Verify = (message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>

/** Signs under a key that is kept, and that cannot be read back. */
export type Sign = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>

/** One host's Ed25519. */
interface Ed25519 {
  /** A checker for a 32-byte public key. */
  verifier(publicKey: Uint8Array): Verify
  /** A signer for a 32-byte seed, with its public key. */
  signer(seed: Uint8Array): Promise<{ readonly publicKey: Uint8Array; readonly sign: Sign }>
}

// The fixed DER headers of an Ed25519 key (RFC 8410): only the 32 bytes behind them ever differ.
const SPKI = bytesOf('302a300506032b6570032100')
const PKCS8 = bytesOf('302e020100300506032b657004220420')

/** Node's Ed25519; each key becomes a KeyObject once, since parsing it costs more than a signature. */
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

/** WebCrypto's Ed25519. */
export function webEd25519(crypto: WebCrypto): Ed25519 {
  return {
    verifier(publicKey) {
      // Imported at the first use, from bytes that nobody else can change until then.
      const own = Uint8Array.from(publicKey)
      let key: Promise<WebKey> | undefined
      return async (message, signature) => {
        key ??= supported(crypto.importKey('raw', own, 'Ed25519', false, ['verify']))
        return crypto.verify('Ed25519', await key, signature, message)
      }
    },
    async signer(seed) {
      const der = concat(PKCS8, seed)
      // The public half can only be had from an extractable copy; the one that is kept is not extractable.
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

/** The Ed25519 of this host, Node's first. */
export function hostEd25519(): Ed25519 {
  if (nodeCrypto) return nodeEd25519(nodeCrypto)
  if (webCrypto) return webEd25519(webCrypto)
  throw new EvidenceError(
    'KEY_UNAVAILABLE',
    'this host has no WebCrypto; open the page over https or localhost',
  )
}

async function supported(key: Promise<WebKey>): Promise<WebKey> {
  try {
    return await key
  } catch {
    // The host's own message may describe the key; ours never does.
    throw new EvidenceError('KEY_UNAVAILABLE', 'this host cannot use Ed25519 keys; a newer browser can')
  }
}

function fromJwk(x: string | undefined): Uint8Array {
  const bytes = fromBase64(`${(x ?? '').replaceAll('-', '+').replaceAll('_', '/')}=`)
  if (bytes?.length === 32) return bytes
  throw new EvidenceError('KEY_UNAVAILABLE', 'this host exported no public key')
}

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes) return bytes
  throw new TypeError('not hexadecimal')
}
