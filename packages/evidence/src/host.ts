// Finds the crypto of the runtime: that of Node if available, else WebCrypto.
//
// Loads Node modules through `process.getBuiltinModule`, which bundlers ignore, so the same source runs in browsers. The types
// declare only what is used.

/** A key of `node:crypto`. Opaque. */
export interface NodeKey {
  readonly type: string
  export(options: { readonly format: 'jwk' }): { readonly x?: string }
}

/** The used part of a Buffer. */
export interface NodeBytes extends Uint8Array {
  toString(encoding?: 'base64' | 'latin1'): string
}

/** The used part of `node:crypto`. */
export interface NodeCrypto {
  hash(algorithm: 'sha256', data: string | Uint8Array, encoding: 'hex'): string
  hash(algorithm: 'sha256', data: string | Uint8Array, encoding: 'buffer'): Uint8Array
  createPrivateKey(key: { key: Uint8Array; format: 'der'; type: 'pkcs8' }): NodeKey
  createPublicKey(key: { key: Uint8Array; format: 'der'; type: 'spki' } | NodeKey): NodeKey
  sign(algorithm: null, data: Uint8Array, key: NodeKey): Uint8Array
  verify(algorithm: null, data: Uint8Array, key: NodeKey, signature: Uint8Array): boolean
}

/** The used part of the `Buffer` constructor. */
export interface NodeBuffer {
  isBuffer(bytes: Uint8Array): boolean
  concat(parts: readonly Uint8Array[]): NodeBytes
  byteLength(text: string, encoding: 'utf8'): number
  from(text: string, encoding: 'utf8' | 'base64' | 'latin1'): NodeBytes
  from(buffer: ArrayBufferLike, offset: number, length: number): NodeBytes
}

/** A key of WebCrypto. Opaque. */
export interface WebKey {
  readonly type: string
}

/** The used part of `crypto.subtle`. */
export interface WebCrypto {
  importKey(
    format: 'raw' | 'pkcs8',
    data: Uint8Array,
    algorithm: 'Ed25519',
    extractable: boolean,
    usages: readonly ('sign' | 'verify')[],
  ): Promise<WebKey>
  exportKey(format: 'jwk', key: WebKey): Promise<{ readonly x?: string }>
  sign(algorithm: 'Ed25519', key: WebKey, data: Uint8Array): Promise<ArrayBuffer>
  verify(algorithm: 'Ed25519', key: WebKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>
}

interface Host {
  readonly process?: { getBuiltinModule?(name: string): unknown }
  readonly crypto?: { readonly subtle?: WebCrypto; getRandomValues?(array: Uint32Array): Uint32Array }
}

// Sound: every member is optional and checked before use.
const host = globalThis as unknown as Host
const builtin = host.process?.getBuiltinModule?.bind(host.process)

/** `node:crypto`, or undefined outside Node. */
export const nodeCrypto: NodeCrypto | undefined = builtin?.('node:crypto') as NodeCrypto | undefined

/** `Buffer`, or undefined outside Node. */
export const nodeBuffer: NodeBuffer | undefined = (
  builtin?.('node:buffer') as { Buffer: NodeBuffer } | undefined
)?.Buffer

/** WebCrypto, or undefined if there is none (a page that is not a secure context). */
export const webCrypto: WebCrypto | undefined = host.crypto?.subtle

/** 32 random bits, for hash tables with untrusted keys. No result depends on them. */
export function randomWord(): number {
  return host.crypto?.getRandomValues?.(new Uint32Array(1))[0] ?? 0
}
