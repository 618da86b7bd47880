// Encrypts a token under a passphrase: scrypt and AES-256-GCM. The place of the token is authenticated too, so that an edited
// file cannot send the token to another gateway.

import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto'

/** An encrypted token. The texts are base64. */
export interface SealedToken {
  /** The cost of scrypt: the base-2 logarithm of its N. */
  readonly cost: number
  readonly salt: string
  readonly nonce: string
  readonly tag: string
  readonly text: string
}

// Every command seals with this cost. A token is opened with the cost in its file: an edited cost gives another key, which opens
// nothing. A higher cost is refused, because it could use up the memory.
const COST = 17
const MAX_MEMORY = 256 << 20
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a token for one place. Only tests lower the cost. */
export async function sealToken(
  token: string,
  place: string,
  passphrase: string,
  cost: number = COST,
): Promise<SealedToken> {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt, cost), nonce)
  cipher.setAAD(Buffer.from(place))
  const text = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()])
  return {
    cost,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    text: text.toString('base64'),
  }
}

/** Returns the token; undefined if the passphrase or the place is wrong, or the data was changed. */
export async function openToken(
  sealed: SealedToken,
  place: string,
  passphrase: string,
): Promise<string | undefined> {
  const [salt, nonce, tag] = [sealed.salt, sealed.nonce, sealed.tag].map((each) =>
    Buffer.from(each, 'base64'),
  )
  if (salt?.length !== SALT_BYTES || nonce?.length !== NONCE_BYTES || tag?.length !== TAG_BYTES)
    return undefined
  if (!Number.isInteger(sealed.cost) || sealed.cost < 1 || sealed.cost > COST) return undefined
  const key = await keyOf(passphrase, salt, sealed.cost)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(sealed.text, 'base64'), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function keyOf(passphrase: string, salt: Uint8Array, cost: number): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** cost, r: 8, p: 1, maxmem: MAX_MEMORY }
  return new Promise((resolve, reject) => {
    // The same passphrase can be typed as different code points.
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, options, (fault, key) =>
      fault ? reject(fault) : resolve(key),
    )
  })
}
