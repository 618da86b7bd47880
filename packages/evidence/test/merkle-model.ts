// The recursive Merkle tree of RFC 6962, 2.1: slow, for comparison.

import { createHash } from 'node:crypto'

/** MTH(D[n]): the hash of a list of leaves. */
export function treeHash(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves
  if (first === undefined) return sha256()
  if (leaves.length === 1) return sha256(Uint8Array.of(0), first)
  const k = largestPowerBelow(leaves.length)
  return sha256(Uint8Array.of(1), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)))
}

/** PATH(m, D[n]): the audit path of leaf m. */
export function auditPath(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  const n = leaves.length
  if (n === 1) return []
  const k = largestPowerBelow(n)
  return m < k
    ? [...auditPath(m, leaves.slice(0, k)), treeHash(leaves.slice(k))]
    : [...auditPath(m - k, leaves.slice(k)), treeHash(leaves.slice(0, k))]
}

/** PROOF(m, D[n]), for 0 < m <= n: the consistency proof from the first m leaves to all of them. */
export function consistency(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  return subproof(m, leaves, true)
}

/** SUBPROOF(m, D[n], b). */
function subproof(m: number, leaves: readonly Uint8Array[], known: boolean): Uint8Array[] {
  const n = leaves.length
  if (m === n) return known ? [] : [treeHash(leaves)]
  const k = largestPowerBelow(n)
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), known), treeHash(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), treeHash(leaves.slice(0, k))]
}

/** The largest power of two smaller than n. */
function largestPowerBelow(n: number): number {
  let k = 1
  while (2 * k < n) k = 2 * k
  return k
}

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest())
}
