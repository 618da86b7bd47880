// Creates and reads the private keys that sign delegations. Each is a private PKCS#8 PEM file.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { importSigningKey, toBase64, type SigningKey } from '@tollgate/evidence'
import type { DataOptions } from '../commands.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** Creates a key and prints its public key as a policy line. */
export async function runKey(terminal: Terminal, _: DataOptions, file = ''): Promise<number> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { publicKey } = await signingKey(privateKey, file)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  writeFileSync(file, pem, { flag: 'wx', mode: 0o600, flush: true })
  const key = toBase64(publicKey.bytes)
  terminal.data({ file, key }, `key: ${key}`)
  terminal.say(`wrote the private key to \`${file}\`, readable only by you; do not share it`)
  terminal.say(
    'add the printed line to the entry of its owner under `principals` in policy.yaml, for example',
  )
  terminal.line(`  "agent:planner": { tier: standard, key: ${key} }`)
  return 0
}

/** Maximum length of a key file; a key has a few hundred bytes. */
const MAX_KEY_FILE_LENGTH = 1 << 14

/** Reads a key. @throws UsageError or CommandError if other users can read it, or if it is not a key. */
export async function readSigningKey(file: string): Promise<SigningKey> {
  return signingKey(decode(file, readPrivately(file)), file)
}

/** Reads a private file. Checks the same file descriptor that it reads. */
function readPrivately(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { mode, size } = fstatSync(descriptor)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(`\`${file}\` can be read by other users`, `run \`chmod 600 ${file}\``)
    }
    if (size > MAX_KEY_FILE_LENGTH) throw noKey(file)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function decode(file: string, pem: string): KeyObject {
  const { TOLLGATE_KEY_PASSPHRASE: passphrase = '' } = process.env
  const encrypted = pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----')
  if (encrypted && passphrase === '') {
    throw new UsageError(`\`${file}\` needs a passphrase`, 'set TOLLGATE_KEY_PASSPHRASE')
  }
  try {
    return createPrivateKey({ key: pem, format: 'pem', ...(encrypted && { passphrase }) })
  } catch {
    // The original error is dropped, because it says how the passphrase is wrong.
    throw encrypted ? new CommandError(`wrong passphrase for \`${file}\``) : noKey(file)
  }
}

async function signingKey(key: KeyObject, file: string): Promise<SigningKey> {
  const { d: seed } = key.asymmetricKeyType === 'ed25519' ? key.export({ format: 'jwk' }) : {}
  if (seed === undefined) throw noKey(file)
  const bytes = Uint8Array.from(Buffer.from(seed, 'base64url'))
  try {
    return await importSigningKey(bytes)
  } finally {
    bytes.fill(0)
  }
}

function noKey(file: string): CommandError {
  return new CommandError(
    `\`${file}\` is not an Ed25519 private key in PKCS#8 PEM`,
    'create one with `tollgate delegations key FILE`',
  )
}
