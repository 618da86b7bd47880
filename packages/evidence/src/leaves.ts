// Checks that receipts are in the tree: the range as a whole, selected receipts by their own proofs.

import { sameBytes } from './bytes.ts'
import type { Head } from './checkpoint.ts'
import { codeOf } from './error.ts'
import type { Manifest } from './manifest.ts'
import { createTree, leafHash, subtrees, verifyInclusion, type Tree } from './merkle.ts'
import type { RangeProof } from './pack.ts'
import type { Findings } from './report.ts'

/** Checks that receipts are in the tree of a checkpoint. Keeps the frontier of the tree and the proofs of selected receipts. */
export class Leaves {
  readonly #findings: Findings
  readonly #head: Head
  readonly #manifest: Manifest
  readonly #proofs = new Map<number, readonly Uint8Array[]>()
  #beside: RangeProof = { left: [], right: [] }
  #tree: Tree | undefined
  readonly #selected: ReadonlySet<number>
  /** Roots at the requested sizes, once the range shows them. */
  readonly #roots = new Map<number, Uint8Array | undefined>()

  constructor(findings: Findings, head: Head, manifest: Manifest) {
    this.#findings = findings
    this.#head = head
    this.#manifest = manifest
    this.#selected = new Set(manifest.selected)
  }

  takeRangeProof(proof: RangeProof): void {
    this.#beside = proof
  }

  /** Keeps the proof of a selected receipt. Returns false if the index is not selected. */
  takeInclusionProof(index: number, hashes: readonly Uint8Array[]): boolean {
    if (!this.#selected.has(index)) return false
    this.#proofs.set(index, hashes)
    return true
  }

  /** Requests the root at a size. Call it before the receipts. */
  ask(size: number): void {
    this.#roots.set(size, undefined)
  }

  rootAt(size: number): Uint8Array | undefined {
    return this.#roots.get(size)
  }

  take(index: number, envelope: Uint8Array): void {
    const { range } = this.#manifest
    const leaf = leafHash(envelope)
    if (range && index >= range.start && index < range.end) return this.#append(leaf, range.start)
    const proof = this.#proofs.get(index)
    if (!proof || !verifyInclusion(leaf, index, this.#head.size, proof, this.#head.root)) {
      this.#findings.add('INCLUSION_WRONG', { index })
    }
  }

  /** Checks that the range, with the subtrees beside it, gives the signed root. */
  finish(): void {
    const { range } = this.#manifest
    if (range && !this.#leadsToRoot(range.end)) this.#findings.add('LEAVES_WRONG')
  }

  #append(leaf: Uint8Array, start: number): void {
    this.#tree ??= treeBefore(start, this.#beside.left)
    this.#tree?.append(leaf)
    const size = this.#tree?.size
    if (start === 0 && size !== undefined && this.#roots.has(size)) this.#roots.set(size, this.#tree?.root())
  }

  #leadsToRoot(end: number): boolean {
    const tree = this.#tree
    const { size, root } = this.#head
    if (tree?.size !== end || end > size) return false
    const right = subtrees(end, size)
    if (right.length !== this.#beside.right.length) return false
    this.#beside.right.forEach((hash, i) => tree.appendSubtree(right[i]?.level ?? 0, hash))
    return sameBytes(tree.root(), root)
  }
}

/** The tree before the range; undefined if the left side of the proof does not fit. Then the root does not match. */
function treeBefore(start: number, left: readonly Uint8Array[]): Tree | undefined {
  try {
    return createTree({ size: start, peaks: left })
  } catch (fault) {
    codeOf(fault)
    return undefined
  }
}
