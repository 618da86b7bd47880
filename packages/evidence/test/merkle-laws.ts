// Compares the tree with its model for all sizes up to a limit: a small one in each run, a large one in the deep run.

import { expect } from 'vitest'
import { toHex, utf8 } from '../src/bytes.ts'
import {
  consistencyProof,
  createTree,
  inclusionProof,
  leafHash,
  verifyConsistency,
  verifyInclusion,
  type ReadNode,
} from '../src/merkle.ts'
import { auditPath, consistency, treeHash } from './merkle-model.ts'

/** The leaves of all tests: the first `count` of one list. */
export function leavesOf(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => utf8(`leaf ${i}`))
}

/** A store with only the nodes of a tree. */
export function storeOf(leaves: readonly Uint8Array[]): { nodes: Map<string, Uint8Array>; read: ReadNode } {
  const nodes = new Map<string, Uint8Array>()
  const tree = createTree()
  for (const leaf of leaves)
    for (const { level, index, hash } of tree.append(leafHash(leaf))) {
      expect(nodes.has(`${level}/${index}`), 'a node comes once').toBe(false)
      nodes.set(`${level}/${index}`, hash)
    }
  const read: ReadNode = (level, index) => {
    const hash = nodes.get(`${level}/${index}`)
    if (!hash) throw new Error(`node ${level}/${index} was never appended`)
    return hash
  }
  return { nodes, read }
}

export function hexOf(hashes: readonly Uint8Array[]): string[] {
  return hashes.map(toHex)
}

/** Checks every inclusion proof of every tree up to `limit`. Returns their number. */
export async function checkInclusion(limit: number): Promise<number> {
  const all = leavesOf(limit)
  const { read } = storeOf(all)
  let pairs = 0
  for (let size = 1; size <= limit; size++) {
    const leaves = all.slice(0, size)
    const root = treeHash(leaves)
    for (const [index, leaf] of leaves.entries()) {
      const proof = await inclusionProof(index, size, read)
      expect(hexOf(proof), `${index} of ${size}`).toEqual(hexOf(auditPath(index, leaves)))
      expect(verifyInclusion(leafHash(leaf), index, size, proof, root), `${index} of ${size}`).toBe(true)
      pairs++
    }
  }
  return pairs
}

/** Checks every consistency proof between trees up to `limit`. Returns their number. */
export async function checkConsistency(limit: number): Promise<number> {
  const all = leavesOf(limit)
  const { read } = storeOf(all)
  const roots = all.map((_, i) => treeHash(all.slice(0, i)))
  roots.push(treeHash(all))
  let pairs = 0
  for (const [size, root] of roots.entries())
    for (const [oldSize, oldRoot] of roots.slice(0, size + 1).entries()) {
      const proof = await consistencyProof(oldSize, size, read)
      const model = oldSize === 0 ? [] : consistency(oldSize, all.slice(0, size))
      expect(hexOf(proof), `${oldSize} to ${size}`).toEqual(hexOf(model))
      const shown = verifyConsistency(oldSize, size, proof, oldRoot, root)
      // The empty tree has no proof.
      expect(shown, `${oldSize} to ${size}`).toBe(oldSize > 0)
      pairs++
    }
  return pairs
}
