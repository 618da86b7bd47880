// SHA-256: Node's own where there is one, the portable one elsewhere. Same answers.

import { sha256 as portable } from '@noble/hashes/sha2.js'
import { concat, toHex, utf8 } from './bytes.ts'
import { nodeCrypto } from './host.ts'

/** SHA-256 of bytes, or of the UTF-8 of a well-formed text: 32 bytes. */
export function sha256(data: Uint8Array | string): Uint8Array {
  if (nodeCrypto) return nodeCrypto.hash('sha256', data, 'buffer')
  return portable(typeof data === 'string' ? utf8(data) : data)
}

/** SHA-256 of bytes, or of the UTF-8 of a well-formed text, as 64 lower-case hexadecimal digits. */
export function sha256Hex(data: Uint8Array | string): string {
  return nodeCrypto ? nodeCrypto.hash('sha256', data, 'hex') : toHex(sha256(data))
}

/** What a salted commitment is about; part of what is hashed, so that one cannot stand for the other. */
export type CommitmentLabel = 'args' | 'effect'

/**
 * A commitment that cannot be guessed from its value: SHA-256 over label, 32-byte salt and bytes, in hexadecimal.
 *
 * Whoever holds salt and bytes can show what was committed to; once the salt is erased nobody can.
 */
export function saltedHash(label: CommitmentLabel, salt: Uint8Array, bytes: Uint8Array): string {
  if (salt.length !== 32) throw new RangeError('a salt is 32 bytes')
  return sha256Hex(concat(utf8(`tollgate/${label}/v1\n`), salt, bytes))
}
