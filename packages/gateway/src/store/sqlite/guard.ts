// The head guard: the newest head that was signed, remembered outside of the data directory. A restored backup brings its
// own past along, but not this.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../../error.ts'

/** Remembers heads. */
export interface HeadGuard {
  /** The newest head that is remembered; undefined if none is. */
  remembered(): string | undefined
  /** Remembers a head instead of the one before. */
  remember(note: string): void
}

/** The guard of the ledger whose first key has this id. @throws GatewayError `STORE_FAILED` if it cannot be written. */
export function openHeadGuard(directory: string, keyId: string): HeadGuard {
  const file = join(directory, `${keyId.slice(0, 32)}.head`)
  const remembered = (): string | undefined => {
    try {
      return readFileSync(file, 'utf8')
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
      throw unusable(cause)
    }
  }
  const remember = (note: string): void => {
    // A name of its own, then renamed: whoever reads sees one head or the other, never half of one.
    writeFileSync(`${file}.new`, note, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  const unusable = (cause: unknown): GatewayError =>
    new GatewayError('STORE_FAILED', `the head guard \`${file}\` cannot be read or written`, {
      cause,
      hints: [
        'make its directory writable, or name another with `head-guard` in tollgate.yaml',
        '`head-guard: off` goes without: a restored backup is then not noticed here',
      ],
    })
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const now = remembered()
    if (now !== undefined) remember(now)
    else writeFileSync(`${file}.new`, '', { mode: 0o600 })
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : unusable(cause)
  }
  return { remembered, remember }
}
