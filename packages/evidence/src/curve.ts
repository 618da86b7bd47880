// The part of Curve25519 that refuses weak public keys. Runtimes accept keys of small order, under which one signature is valid
// for many messages. Keys that pass here have the prime order of the group.

const P = 2n ** 255n - 19n
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const L_BYTES = Uint8Array.from({ length: 32 }, (_, i) => Number((L >> BigInt(8 * i)) & 255n))
const D = mod(-121665n * invert(121666n))
const SQRT_MINUS_ONE = power(2n, (P - 1n) / 4n)

/** A point in extended coordinates (RFC 8032, 5.1.4): x = X/Z, y = Y/Z, x*y = T/Z. */
type Point = readonly [X: bigint, Y: bigint, Z: bigint, T: bigint]

const IDENTITY: Point = [0n, 1n, 1n, 0n]

/** Whether the 32 bytes are the canonical encoding of a point of full prime order. */
export function isFullOrderPoint(bytes: Uint8Array): boolean {
  const point = decompress(bytes)
  return point !== undefined && !isIdentity(point) && isIdentity(multiply(L, point))
}

/** Whether the 32 bytes, as a little-endian number, are below the group order. S must be. */
export function isReducedScalar(bytes: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = (bytes[i] ?? 0) - (L_BYTES[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

/** Whether the 32 bytes are the canonical encoding of the neutral element. */
export function isNeutralPoint(bytes: Uint8Array): boolean {
  return bytes[0] === 1 && bytes.every((byte, i) => i === 0 || byte === 0)
}

// RFC 8032, 5.1.3. Refuses every encoding that is not canonical.
function decompress(bytes: Uint8Array): Point | undefined {
  if (bytes.length !== 32) return undefined
  const encoded = fromLittleEndian(bytes)
  const sign = encoded >> 255n
  const y = encoded & ((1n << 255n) - 1n)
  if (y >= P) return undefined
  const u = mod(y * y - 1n)
  const v = mod(D * y * y + 1n)
  const x = squareRoot(mod(u * invert(v)))
  if (x === undefined || (x === 0n && sign === 1n)) return undefined
  const signed = (x & 1n) === sign ? x : P - x
  return [signed, y, 1n, mod(signed * y)]
}

function squareRoot(square: bigint): bigint | undefined {
  const candidate = power(square, (P + 3n) / 8n)
  if (mod(candidate * candidate) === square) return candidate
  const other = mod(candidate * SQRT_MINUS_ONE)
  return mod(other * other) === square ? other : undefined
}

function multiply(scalar: bigint, point: Point): Point {
  let sum = IDENTITY
  let addend = point
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, addend)
    addend = add(addend, addend)
  }
  return sum
}

// The complete addition formula. It also covers doubling and points of small order.
function add([X1, Y1, Z1, T1]: Point, [X2, Y2, Z2, T2]: Point): Point {
  const a = mod((Y1 - X1) * (Y2 - X2))
  const b = mod((Y1 + X1) * (Y2 + X2))
  const c = mod(2n * T1 * T2 * D)
  const d = mod(2n * Z1 * Z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

function isIdentity([X, Y, Z]: Point): boolean {
  return X === 0n && Y === Z
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function mod(value: bigint): bigint {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function invert(value: bigint): bigint {
  return power(value, P - 2n)
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = mod(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}
