// The private keys that sign delegations: a PKCS#8 PEM file each, as the gateway's own, and for the eyes of its owner only.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { importSigningKey, toBase64, type SigningKey } from '@tollgate/evidence'
import type { DataOptions } from '../commands.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** Makes a key, and prints the line of its public half. */
export async function runKey(terminal: Terminal, _: DataOptions, file = ''): Promise<number> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { publicKey } = await signingKey(privateKey, file)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  writeFileSync(file, pem, { flag: 'wx', mode: 0o600, flush: true })
  const key = toBase64(publicKey.bytes)
  terminal.data({ file, key }, `key: ${key}`)
  terminal.say(`\`${file}\` holds the private key, and only you can read it: nobody else ever needs it`)
  terminal.say('put the printed line into the entry of its owner under `principals` in policy.yaml, as in')
  terminal.line(`  "agent:planner": { tier: standard, key: ${key} }`)
  return 0
}

/** The longest file that is read: a key has a few hundred bytes. */
const LONGEST = 1 << 14

/** Reads a key. @throws UsageError or CommandError if others could read it, or it is none. */
export async function readSigningKey(file: string): Promise<SigningKey> {
  return signingKey(decode(file, readPrivately(file)), file)
}

/** What was checked is what is read. */
function readPrivately(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { mode, size } = fstatSync(descriptor)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(`\`${file}\` is open to other users`, `run \`chmod 600 ${file}\``)
    }
    if (size > LONGEST) throw noKey(file)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function decode(file: string, pem: string): KeyObject {
  const { TOLLGATE_KEY_PASSPHRASE: passphrase = '' } = process.env
  const encrypted = pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----')
  if (encrypted && passphrase === '') {
    throw new UsageError(`\`${file}\` has a passphrase, and none was given`, 'set TOLLGATE_KEY_PASSPHRASE')
  }
  try {
    return createPrivateKey({ key: pem, format: 'pem', ...(encrypted && { passphrase }) })
  } catch {
    // The reason is left out on purpose: how a passphrase is wrong is nobody's business.
    throw encrypted ? new CommandError(`the passphrase does not open \`${file}\``) : noKey(file)
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
    'make one with `tollgate delegations key FILE`',
  )
}
