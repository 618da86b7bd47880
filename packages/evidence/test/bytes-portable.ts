// Loads the modules of this package like a browser: without Node modules.

import { vi } from 'vitest'
import type * as bytes from '../src/bytes.ts'
import type * as hash from '../src/hash.ts'
import type * as host from '../src/host.ts'
import type * as keys from '../src/keys.ts'

/** The modules with a separate code path outside Node, on that path. */
export type Portable = typeof bytes & typeof hash & typeof host & typeof keys

/**
 * Fresh copies of the modules, loaded without `process.getBuiltinModule`, with the WebCrypto of the runtime, another one or none.
 * Other tests keep their copies.
 */
export async function loadPortable(subtle: unknown = globalThis.crypto.subtle): Promise<Portable> {
  vi.resetModules()
  const getBuiltin = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule')
  const crypto = Object.getOwnPropertyDescriptor(globalThis, 'crypto')
  if (!getBuiltin || !crypto) throw new Error('this runtime has no getBuiltinModule or no crypto')
  Object.defineProperty(process, 'getBuiltinModule', { value: undefined, configurable: true })
  Object.defineProperty(globalThis, 'crypto', { value: { subtle }, configurable: true })
  try {
    return {
      ...(await import('../src/bytes.ts')),
      ...(await import('../src/hash.ts')),
      ...(await import('../src/host.ts')),
      ...(await import('../src/keys.ts')),
    }
  } finally {
    Object.defineProperty(process, 'getBuiltinModule', getBuiltin)
    Object.defineProperty(globalThis, 'crypto', crypto)
    vi.resetModules()
  }
}
