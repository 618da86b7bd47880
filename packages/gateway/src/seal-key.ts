// The key that encrypts kept calls: one file per ledger, readable only by this user, outside of the data directory. A copy of
// the data directory alone then reveals no arguments.

import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from './config/config.ts'
import { isInside } from './config/place.ts'
import { GatewayError } from './error.ts'
import { readPrivately, unusable, writePrivately } from './keyring.ts'
import { createSealer, KEY_BYTES, type Sealer } from './sealing.ts'

type KeyPlace = Pick<Config, 'data'> & { readonly keep: Pick<Config['keep'], 'keyFile'> }

const HEAD = 'tollgate-seal-1 '

/**
 * Creates the key if it is missing. Returns whether it did. @throws GatewayError `KEY_UNUSABLE` if it cannot be written, or
 * would be in the data directory.
 */
export function createSealKey(place: KeyPlace): boolean {
  const { keyFile } = place.keep
  if (existsSync(keyFile)) return false
  // Checked before writing: a backup of the data directory must never contain the key.
  refuseInside(place)
  writePrivately(keyFile, `${HEAD}${randomBytes(KEY_BYTES).toString('base64')}\n`)
  return true
}

/**
 * Reads the key.
 *
 * @throws GatewayError `KEY_UNUSABLE` if it is missing, readable by others, in the data directory, or malformed.
 */
export function readSealKey(place: KeyPlace): Sealer {
  const { keyFile } = place.keep
  if (!existsSync(keyFile)) throw missing(keyFile)
  refuseInside(place)
  const text = readPrivately(keyFile)
  const key = Buffer.from(text.startsWith(HEAD) ? text.slice(HEAD.length).trim() : '', 'base64')
  if (key.length !== KEY_BYTES) {
    throw unusable(`\`${keyFile}\` does not contain a key for kept calls`, [
      'restore it from your backup; or move the file away and run `tollgate keys seal` to create a new key',
    ])
  }
  return createSealer(key)
}

/** As `readSealKey`, for commands that only read: undefined if the key is unusable. Sealed records then stay unreadable. */
export function sealKeyIfAny(place: KeyPlace): Sealer | undefined {
  try {
    return readSealKey(place)
  } catch (fault) {
    if (fault instanceof GatewayError) return undefined
    throw fault
  }
}

/**
 * Refuses a key file inside the data directory, after resolving links. If its folder does not exist yet, the nearest existing
 * parent counts.
 */
function refuseInside({ data, keep: { keyFile } }: KeyPlace): void {
  let folder = dirname(keyFile)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  if (!isInside(realpathSync(data), realpathSync(folder))) return
  throw unusable(`the key that encrypts kept calls is in the data directory: \`${keyFile}\``, [
    'move it out and set `keep: { key-file: PATH }` in tollgate.yaml, so that a copy of the data does not include the key',
  ])
}

function missing(keyFile: string): GatewayError {
  return unusable(`the key that encrypts kept calls is missing: \`${keyFile}\``, [
    'restore it from your backup',
    'or run `tollgate keys seal` to create a new one; kept calls and the arguments of waiting approvals are then lost',
  ])
}
