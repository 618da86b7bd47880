// Remembers the newest signed head outside of the data directory. A restored backup contains its old heads, but not this one.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { makeDirectory } from '../directory.ts'
import { GatewayError } from '../error.ts'

interface HeadGuard {
  /** The newest remembered head; undefined if there is none. */
  readonly remembered: string | undefined
  /** Replaces the remembered head. @throws GatewayError `STORE_FAILED`. */
  remember(note: string): void
}

/** The remembered head of the ledger whose first key has this id; undefined if there is none. Changes nothing. */
export function rememberedHead(directory: string, keyId: string): string | undefined {
  const file = fileOf(directory, keyId)
  try {
    // A power loss can leave an empty file, which counts as no file.
    return readFileSync(file, 'utf8') || undefined
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw unusable(file, cause)
  }
}

/** Opens the guard of the ledger whose first key has this id. @throws GatewayError `STORE_FAILED` if it cannot be written. */
export function openHeadGuard(directory: string, keyId: string): HeadGuard {
  const file = fileOf(directory, keyId)
  const remembered = rememberedHead(directory, keyId)
  // Written to a new file and renamed, so that readers never see half of a head.
  const fresh = `${file}.${process.pid}`
  const remember = (note: string): void => {
    try {
      writeSynced(fresh, note)
      renameSync(fresh, file)
    } catch (cause) {
      throw unusable(file, cause)
    }
  }
  makeDirectory(directory)
  // Tests that writing works before anything is signed.
  remember(remembered ?? '')
  return { remembered, remember }
}

function fileOf(directory: string, keyId: string): string {
  return join(directory, `${keyId.slice(0, 32)}.head`)
}

function writeSynced(file: string, text: string): void {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function unusable(file: string, cause: unknown): GatewayError {
  return new GatewayError('STORE_FAILED', `the head guard \`${file}\` cannot be read or written`, {
    cause,
    hints: [
      'make its directory writable, or set another one with `head-guard` in tollgate.yaml',
      '`head-guard: off` disables it: a restored backup is then not detected here',
    ],
  })
}
