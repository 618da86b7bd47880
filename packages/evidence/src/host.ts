// What the host offers beyond the language: Node's own crypto where there is one, WebCrypto elsewhere.
//
// Node's modules are reached through `process.getBuiltinModule`, which bundlers do not follow, so that one source
// serves both and a browser bundle holds no trace of Node. The types below name only what is used.

/** A key of `node:crypto`. Opaque: it holds the key outside of JavaScript. */
export interface NodeKey {
  readonly type: string
  export(options: { readonly format: 'jwk' }): { readonly x?: string }
}

/** Node's Buffer, as far as it is used here. */
export interface NodeBytes extends Uint8Array {
  toString(encoding?: 'base64' | 'latin1'): string
}

/** The part of `node:crypto` that is used here. */
export interface NodeCrypto {
  hash(algorithm: 'sha256', data: string | Uint8Array, encoding: 'hex'): string
  hash(algorithm: 'sha256', data: string | Uint8Array, encoding: 'buffer'): Uint8Array
  createPrivateKey(key: { key: Uint8Array; format: 'der'; type: 'pkcs8' }): NodeKey
  createPublicKey(key: { key: Uint8Array; format: 'der'; type: 'spki' } | NodeKey): NodeKey
  sign(algorithm: null, data: Uint8Array, key: NodeKey): Uint8Array
  verify(algorithm: null, data: Uint8Array, key: NodeKey, signature: Uint8Array): boolean
}

/** Node's `Buffer` itself. */
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

/** The part of `crypto.subtle` that Ed25519 needs. */
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

// Sound: every member is optional and tested before use.
const host = globalThis as unknown as Host
const builtin = host.process?.getBuiltinModule?.bind(host.process)

/** Node's crypto, or undefined outside of Node. */
export const nodeCrypto: NodeCrypto | undefined = builtin?.('node:crypto') as NodeCrypto | undefined

/** Node's Buffer, or undefined outside of Node. */
export const nodeBuffer: NodeBuffer | undefined = (
  builtin?.('node:buffer') as { Buffer: NodeBuffer } | undefined
)?.Buffer

/** WebCrypto, or undefined where the host has none (a page that is not a secure context). */
export const webCrypto: WebCrypto | undefined = host.crypto?.subtle

/** 32 random bits, for hash tables that strangers fill. Nothing that is reported depends on them. */
export function randomWord(): number {
  return host.crypto?.getRandomValues?.(new Uint32Array(1))[0] ?? 0
}
