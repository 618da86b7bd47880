// A simple, slow Curve25519 (RFC 8032, 5.1), to make invalid keys and signatures.

import { createHash } from 'node:crypto'
import { concat, toHex } from '../src/bytes.ts'

/** The group order. */
export const L = 2n ** 252n + 27742317777372353535851937790883648493n

const P = 2n ** 255n - 19n
const D = over(-121665n, 121666n)

/** A point by its coordinates. */
export interface Point {
  readonly x: bigint
  readonly y: bigint
}

/** The sum of two points. */
export function add(a: Point, b: Point): Point {
  const product = mod(D * a.x * b.x * a.y * b.y)
  return { x: over(a.x * b.y + b.x * a.y, 1n + product), y: over(a.y * b.y + a.x * b.x, 1n - product) }
}

/** A multiple of a point. */
export function times(scalar: bigint, point: Point): Point {
  if (scalar === 0n) return { x: 0n, y: 1n }
  const half = times(scalar / 2n, point)
  const even = add(half, half)
  return scalar % 2n === 0n ? even : add(even, point)
}

/** The point of its 32 bytes. */
export function decodePoint(bytes: Uint8Array): Point {
  const encoded = littleEndian(bytes)
  const y = mod(encoded & (2n ** 255n - 1n))
  const square = over(y * y - 1n, D * y * y + 1n)
  const candidate = power(square, (P + 3n) / 8n)
  const x = mod(candidate * candidate) === square ? candidate : mod(candidate * power(2n, (P - 1n) / 4n))
  if (mod(x * x) !== square) throw new RangeError('not a point')
  return { x: (x & 1n) === encoded >> 255n ? x : mod(-x), y }
}

/** The 32 bytes of a point. */
export function encodePoint({ x, y }: Point): Uint8Array {
  return bytesOf(y | ((x & 1n) << 255n))
}

/** A number in 32 bytes, lowest first. */
export function bytesOf(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n))
}

/** The number of bytes, lowest first. */
export function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(Uint8Array.from(bytes).reverse())}`)
}

/**
 * The signature with this R under the key of a seed: S is the challenge times the secret scalar. It is valid exactly if R is the
 * neutral point, and valid up to the cofactor for every R of small order.
 */
export function signWithR(
  R: Uint8Array,
  seed: Uint8Array,
  publicKey: Uint8Array,
  message: Uint8Array,
): Uint8Array {
  const secret = sha512(seed).subarray(0, 32)
  const clamped = (littleEndian(secret) & (2n ** 254n - 8n)) | (2n ** 254n)
  const challenge = littleEndian(sha512(concat(R, publicKey, message)))
  return concat(R, bytesOf((challenge * clamped) % L))
}

function sha512(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha512').update(bytes).digest())
}

function over(numerator: bigint, denominator: bigint): bigint {
  return mod(mod(numerator) * power(mod(denominator), P - 2n))
}

function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n
  const half = power(mod(base * base), exponent / 2n)
  return exponent % 2n === 0n ? half : mod(half * base)
}

function mod(value: bigint): bigint {
  return ((value % P) + P) % P
}
