// The Merkle tree of RFC 6962: appends in O(log n) with only its frontier in memory, and makes and checks proofs.
//
// A node is a full subtree: level l, position i covers the leaves [i*2^l, (i+1)*2^l). All hashes of proofs are computed from
// nodes, so a store keeps only nodes. Sizes can exceed 32 bits, so the code uses arithmetic instead of bit operators.

import { concat, sameBytes } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { sha256 } from './hash.ts'

/** A full subtree of the tree. */
export interface TreeNode {
  readonly level: number
  readonly index: number
  readonly hash: Uint8Array
}

/** Reads the hash of a full subtree from a store. */
export type ReadNode = (level: number, index: number) => Uint8Array | Promise<Uint8Array>

/** The state of a tree that appending needs. */
export interface Frontier {
  readonly size: number
  /** The hashes of the full subtrees of the tree, largest first. */
  readonly peaks: readonly Uint8Array[]
}

/** A tree to append to. It keeps O(log n) hashes in memory. */
export interface Tree {
  readonly size: number
  /** Adds a leaf. Returns the nodes that it completes, the leaf first. A store must keep them. */
  append(leafHash: Uint8Array): readonly TreeNode[]
  /** Adds a full subtree of 2^level leaves. The size must be a multiple of 2^level. */
  appendSubtree(level: number, hash: Uint8Array): readonly TreeNode[]
  root(): Uint8Array
  frontier(): Frontier
}

/** The root of the empty tree: SHA-256 of nothing. */
export const EMPTY_ROOT: Uint8Array = sha256('')

/** The hash of a leaf: SHA-256(0x00 ‖ leaf). */
export function leafHash(leaf: Uint8Array): Uint8Array {
  if (leaf.length >= leafScratch.length) return sha256(concat(Uint8Array.of(0), leaf))
  leafScratch.set(leaf, 1)
  return sha256(leafScratch.subarray(0, leaf.length + 1))
}

/** The hash of an inner node: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== 32 || right.length !== 32) throw outOfRange('a hash is 32 bytes')
  nodeScratch.set(left, 1)
  nodeScratch.set(right, 33)
  return sha256(nodeScratch)
}

// Reused buffers: an allocation costs more than the hash. Each is filled and hashed without a pause.
const leafScratch = new Uint8Array(32 * 1024)
const nodeScratch = new Uint8Array(65)
nodeScratch[0] = 1

/**
 * Makes a tree, empty or from a frontier.
 *
 * @throws EvidenceError `TREE_RANGE` if the frontier does not fit its size.
 */
export function createTree(from: Frontier = { size: 0, peaks: [] }): Tree {
  const levels = peakLevels(from.size)
  if (levels.length !== from.peaks.length || from.peaks.some(({ length }) => length !== 32))
    throw outOfRange('the frontier does not fit its size')
  let size = from.size
  const peaks = from.peaks.map((hash, i) => ({ hash, level: levels[i] ?? 0 }))

  function appendSubtree(level: number, hash: Uint8Array): readonly TreeNode[] {
    const fits = isCount(level) && size % 2 ** level === 0 && isCount(size + 2 ** level)
    if (!fits || hash.length !== 32) throw outOfRange('the subtree does not fit here')
    const added: TreeNode[] = [{ level, index: size / 2 ** level, hash }]
    let top = { level, hash }
    for (let left = peaks.at(-1); left?.level === top.level; left = peaks.at(-1)) {
      peaks.pop()
      top = { level: top.level + 1, hash: nodeHash(left.hash, top.hash) }
      added.push({ ...top, index: Math.floor(size / 2 ** top.level) })
    }
    peaks.push(top)
    size += 2 ** level
    return added
  }

  return {
    get size() {
      return size
    },
    append: (hash) => appendSubtree(0, hash),
    appendSubtree,
    root: () => foldPeaks(peaks.map((peak) => peak.hash)),
    frontier: () => ({ size, peaks: peaks.map((peak) => peak.hash) }),
  }
}

/** The levels of the full subtrees of a tree of this size, largest first. */
export function peakLevels(size: number): readonly number[] {
  return subtrees(0, size).map(({ level }) => level)
}

/**
 * The fewest full subtrees that cover the leaves [start, end), from left to right.
 *
 * @throws EvidenceError `TREE_RANGE` unless 0 <= start <= end and both are safe integers.
 */
export function subtrees(start: number, end: number): readonly { level: number; index: number }[] {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw outOfRange('not a range of leaves')
  }
  const cover: { level: number; index: number }[] = []
  for (let at = start; at < end;) {
    let level = 0
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level++
    cover.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return cover
}

/**
 * The inclusion proof of a leaf (RFC 6962, 2.1.1): sibling hashes, lowest first.
 *
 * @throws EvidenceError `TREE_RANGE` unless index < size.
 */
export async function inclusionProof(index: number, size: number, read: ReadNode): Promise<Uint8Array[]> {
  if (!isCount(index) || !isCount(size) || index >= size) throw outOfRange('the leaf is not in the tree')
  const siblings: [number, number][] = []
  for (let start = 0, end = size; end - start > 1;) {
    const middle = start + splitPoint(end - start)
    siblings.unshift(index < middle ? [middle, end] : [start, middle])
    if (index < middle) end = middle
    else start = middle
  }
  return Promise.all(siblings.map(([start, end]) => rangeHash(start, end, read)))
}

/**
 * The consistency proof between two sizes of one tree (RFC 6962, 2.1.2). Empty if the older size is 0 or the same.
 *
 * @throws EvidenceError `TREE_RANGE` unless oldSize <= size.
 */
export async function consistencyProof(oldSize: number, size: number, read: ReadNode): Promise<Uint8Array[]> {
  if (!isCount(oldSize) || !isCount(size) || oldSize > size) {
    throw outOfRange('the older tree is larger than the newer one')
  }
  if (oldSize === 0 || oldSize === size) return []
  const ranges: [number, number][] = []
  let start = 0
  let end = size
  while (end !== oldSize) {
    const middle = start + splitPoint(end - start)
    ranges.unshift(oldSize <= middle ? [middle, end] : [start, middle])
    if (oldSize <= middle) end = middle
    else start = middle
  }
  // The verifier knows the old root, so it is left out unless a right branch was taken.
  if (start > 0) ranges.unshift([start, end])
  return Promise.all(ranges.map(([from, to]) => rangeHash(from, to, read)))
}

/** Whether the proof shows that the leaf is at `index` in the tree of `size` leaves (RFC 9162, 2.1.3.2). */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isCount(index) || !isCount(size) || index >= size || leaf.length !== 32) return false
  let [node, last] = [index, size - 1]
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0 || sibling.length !== 32) return false
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  return last === 0 && sameBytes(hash, root)
}

/**
 * Whether the proof shows that the older tree is a prefix of the newer one (RFC 9162, 2.1.4.2).
 *
 * Returns false for an empty older tree: every tree continues it, so a proof shows nothing.
 */
export function verifyConsistency(
  oldSize: number,
  size: number,
  proof: readonly Uint8Array[],
  oldRoot: Uint8Array,
  root: Uint8Array,
): boolean {
  if (!isCount(oldSize) || !isCount(size) || oldSize === 0 || oldSize > size) return false
  if (oldSize === size) return proof.length === 0 && sameBytes(oldRoot, root)
  let [node, last] = [oldSize - 1, size - 1]
  while (node % 2 === 1) [node, last] = [(node - 1) / 2, Math.floor(last / 2)]
  // If the old size is a power of two, the old tree is a node of the newer one and not in the proof.
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof
  if (first?.length !== 32) return false
  let [oldHash, hash] = [first, first]
  for (const sibling of rest) {
    if (last === 0 || sibling.length !== 32) return false
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(sibling, oldHash)
      hash = nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  return last === 0 && sameBytes(oldHash, oldRoot) && sameBytes(hash, root)
}

/** The hash over the leaves [start, end), as RFC 6962 defines it for the ranges of proofs. */
async function rangeHash(start: number, end: number, read: ReadNode): Promise<Uint8Array> {
  return foldPeaks(
    await Promise.all(subtrees(start, end).map(async ({ level, index }) => read(level, index))),
  )
}

/** The RFC 6962 root of full subtrees of descending size. */
function foldPeaks(peaks: readonly Uint8Array[]): Uint8Array {
  return peaks.length === 0 ? EMPTY_ROOT : peaks.reduceRight((right, left) => nodeHash(left, right))
}

/** The largest power of two below `size`. */
function splitPoint(size: number): number {
  let half = 1
  while (half * 2 < size) half *= 2
  return half
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function outOfRange(problem: string): EvidenceError {
  return new EvidenceError('TREE_RANGE', problem)
}
