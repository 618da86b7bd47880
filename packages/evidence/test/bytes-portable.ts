// Loads this package's modules as a browser would: without Node's own modules, on WebCrypto and plain language.

import { vi } from 'vitest'
import type * as bytes from '../src/bytes.ts'
import type * as hash from '../src/hash.ts'
import type * as host from '../src/host.ts'
import type * as keys from '../src/keys.ts'

/** The modules that have a path of their own outside of Node, on that path. */
export type Portable = typeof bytes & typeof hash & typeof host & typeof keys

/**
 * Fresh copies of the modules, loaded while `process.getBuiltinModule` is hidden, with the host's WebCrypto, another, or
 * none. Other tests keep the copies they have.
 */
export async function loadPortable(subtle: unknown = globalThis.crypto.subtle): Promise<Portable> {
  vi.resetModules()
  const getBuiltin = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule')
  const crypto = Object.getOwnPropertyDescriptor(globalThis, 'crypto')
  if (!getBuiltin || !crypto) throw new Error('this host has nothing to hide')
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
