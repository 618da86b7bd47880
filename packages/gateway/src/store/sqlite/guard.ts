// The head guard: the newest head that was signed, remembered outside of the data directory. A restored backup brings its
// own past along, but not this.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { makeDirectory } from '../../directory.ts'
import { GatewayError } from '../../error.ts'

/** Remembers heads. */
interface HeadGuard {
  /** The newest head that is remembered; undefined if none is. */
  readonly remembered: string | undefined
  /** Remembers a head instead of the one before. @throws GatewayError `STORE_FAILED`. */
  remember(note: string): void
}

/** The head that is remembered of the ledger whose first key has this id; undefined if none is. Changes nothing. */
export function rememberedHead(directory: string, keyId: string): string | undefined {
  const file = fileOf(directory, keyId)
  try {
    // A file that lost its content with the power is as good as none: what it held cannot be known.
    return readFileSync(file, 'utf8') || undefined
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw unusable(file, cause)
  }
}

/** The guard of the ledger whose first key has this id. @throws GatewayError `STORE_FAILED` if it cannot be written. */
export function openHeadGuard(directory: string, keyId: string): HeadGuard {
  const file = fileOf(directory, keyId)
  const remembered = rememberedHead(directory, keyId)
  // A name of its own, then renamed: whoever reads sees one head or the other, never half of one.
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
  // Tried before anything is signed, with what is there already.
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
      'make its directory writable, or name another with `head-guard` in tollgate.yaml',
      '`head-guard: off` goes without: a restored backup is then not noticed here',
    ],
  })
}
