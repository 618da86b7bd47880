// The key that encrypts kept calls: one file for each ledger, for this user's eyes only, and never where the data is. A copy of the data
// directory alone then shows no argument of any call.

import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from './config/config.ts'
import { isInside } from './config/place.ts'
import { GatewayError } from './error.ts'
import { readPrivately, writePrivately } from './keyring.ts'
import { createSealer, KEY_BYTES, type Sealer } from './sealing.ts'

type KeyPlace = Pick<Config, 'data'> & { readonly keep: Pick<Config['keep'], 'keyFile'> }

const HEAD = 'tollgate-seal-1 '

/** Makes the key if there is none. Whether it did. @throws GatewayError `KEY_UNUSABLE` if it cannot be written, or not there. */
export function createSealKey(place: KeyPlace): boolean {
  const { keyFile } = place.keep
  if (existsSync(keyFile)) return false
  // Before it is written: a key that was once in the data directory may be in a copy of it.
  refuseInside(place)
  writePrivately(keyFile, `${HEAD}${randomBytes(KEY_BYTES).toString('base64')}\n`)
  return true
}

/**
 * Reads the key.
 *
 * @throws GatewayError `KEY_UNUSABLE` if it is missing, open to others, in the data directory, or no such key.
 */
export function readSealKey(place: KeyPlace): Sealer {
  const { keyFile } = place.keep
  if (!existsSync(keyFile)) throw missing(keyFile)
  refuseInside(place)
  const text = readPrivately(keyFile)
  const key = Buffer.from(text.startsWith(HEAD) ? text.slice(HEAD.length).trim() : '', 'base64')
  if (key.length !== KEY_BYTES) {
    throw unusable(`\`${keyFile}\` does not hold the key of kept calls`, [
      'put it back from your backup; or move it away and run `tollgate keys seal`, which makes a new one',
    ])
  }
  return createSealer(key)
}

/** The same for commands that only read: undefined if the key cannot be had. What is sealed is then shown as not readable. */
export function sealKeyIfAny(place: KeyPlace): Sealer | undefined {
  try {
    return readSealKey(place)
  } catch (fault) {
    if (fault instanceof GatewayError) return undefined
    throw fault
  }
}

/** Wherever links lead. Of a directory that is not made yet, the nearest one above it that is there says it. */
function refuseInside({ data, keep: { keyFile } }: KeyPlace): void {
  let folder = dirname(keyFile)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  if (!isInside(realpathSync(data), realpathSync(folder))) return
  throw unusable(`the key of the kept calls is in the data directory: \`${keyFile}\``, [
    'move it out and name it with `keep: { key-file: PATH }` in tollgate.yaml: a copy of the directory must not hold both',
  ])
}

function missing(keyFile: string): GatewayError {
  return unusable(`the key of the kept calls is missing: \`${keyFile}\``, [
    'put it back from your backup',
    'or run `tollgate keys seal`, which makes a new one: calls that were kept, and arguments that wait for an approval, are then lost',
  ])
}

function unusable(message: string, hints: readonly string[]): GatewayError {
  return new GatewayError('KEY_UNUSABLE', message, { hints })
}
