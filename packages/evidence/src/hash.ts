// SHA-256, from Node if available, else from a portable library.

import { sha256 as portable } from '@noble/hashes/sha2.js'
import { concat, toHex, utf8 } from './bytes.ts'
import { nodeCrypto } from './host.ts'

/** SHA-256 of bytes or of the UTF-8 of a well-formed text. Returns 32 bytes. */
export function sha256(data: Uint8Array | string): Uint8Array {
  if (nodeCrypto) return nodeCrypto.hash('sha256', data, 'buffer')
  return portable(typeof data === 'string' ? utf8(data) : data)
}

/** SHA-256 of bytes or of the UTF-8 of a well-formed text, as 64 lower-case hexadecimal digits. */
export function sha256Hex(data: Uint8Array | string): string {
  return nodeCrypto ? nodeCrypto.hash('sha256', data, 'hex') : toHex(sha256(data))
}

/** The content of a salted commitment. It is part of the hash, so one cannot replace the other. */
export type CommitmentLabel = 'args' | 'effect'

/**
 * A commitment that cannot be guessed: SHA-256 over label, 32-byte salt and bytes, in hexadecimal.
 *
 * The salt and the bytes together prove the content. Without the salt, no proof is possible.
 */
export function saltedHash(label: CommitmentLabel, salt: Uint8Array, bytes: Uint8Array): string {
  if (salt.length !== 32) throw new RangeError('a salt is 32 bytes')
  return sha256Hex(concat(utf8(`tollgate/${label}/v1\n`), salt, bytes))
}
