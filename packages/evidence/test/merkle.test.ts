import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../src/bytes.ts'
import { sha256, sha256Hex } from '../src/hash.ts'
import {
  consistencyProof,
  createTree,
  EMPTY_ROOT,
  inclusionProof,
  leafHash,
  nodeHash,
  peakLevels,
  subtrees,
  verifyConsistency,
  verifyInclusion,
  type Frontier,
  type Tree,
} from '../src/merkle.ts'
import { checkConsistency, checkInclusion, hexOf, leavesOf, storeOf } from './merkle-laws.ts'
import { consistency, treeHash } from './merkle-model.ts'
import { outcomeOf, outcomeOfAsync } from './samples.ts'

/** The tree of the first `count` leaves. */
function treeOf(count: number, from?: Frontier): Tree {
  const tree = createTree(from)
  for (const leaf of leavesOf(count).slice(tree.size)) tree.append(leafHash(leaf))
  return tree
}

/** All single changes of a proof: a hash changed, dropped, added, cut, or two swapped. */
function spoiled(proof: readonly Uint8Array[]): Uint8Array[][] {
  const stranger = sha256('stranger')
  const changed = proof.flatMap((hash, at) => [
    proof.with(at, stranger),
    proof.with(
      at,
      Uint8Array.from(hash, (byte, i) => (i === 31 ? byte ^ 1 : byte)),
    ),
    proof.with(at, hash.subarray(0, 31)),
    proof.toSpliced(at, 1),
    proof.toSpliced(at, 0, hash),
  ])
  const added = [...proof.keys(), proof.length].map((at) => proof.toSpliced(at, 0, stranger))
  const swapped = proof.slice(1).map((hash, at) => proof.with(at, hash).with(at + 1, proof[at] ?? hash))
  return [...changed, ...added, ...swapped]
}

function changedHash(hash: Uint8Array): Uint8Array {
  return Uint8Array.from(hash, (byte, i) => (i === 0 ? byte ^ 128 : byte))
}

describe('hashes', () => {
  it('are prefixed, so that a leaf cannot replace a node', () => {
    expect(toHex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(toHex(leafHash(new Uint8Array()))).toBe(
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    )
    const [a, b] = [sha256('a'), sha256('b')]
    expect(toHex(leafHash(a))).toBe(sha256Hex(Uint8Array.of(0, ...a)))
    expect(toHex(nodeHash(a, b))).toBe(sha256Hex(Uint8Array.of(1, ...a, ...b)))
  })

  it('are the same for leaves of any length, in any order', () => {
    const lengths = [0, 1, 100, 32_766, 32_767, 32_768, 32_769, 100_000, 5, 0]
    for (const length of lengths) {
      const leaf = new Uint8Array(length).fill(length % 251)
      expect(toHex(leafHash(leaf)), String(length)).toBe(toHex(treeHash([leaf])))
    }
  })

  it('give the roots of the reference tree of Certificate Transparency', () => {
    const inputs = [
      '',
      '00',
      '10',
      '2021',
      '3031',
      '40414243',
      '5051525354555657',
      '606162636465666768696a6b6c6d6e6f',
    ]
    const roots = [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]
    const tree = createTree()
    for (const [i, input] of inputs.entries()) {
      tree.append(leafHash(fromHex(input) ?? new Uint8Array()))
      expect(toHex(tree.root())).toBe(roots[i])
    }
  })
})

describe('a tree', () => {
  it('has the root of the model at every size', () => {
    const tree = createTree()
    const leaves = leavesOf(300)
    expect(toHex(tree.root())).toBe(toHex(treeHash([])))
    for (const [i, leaf] of leaves.entries()) {
      tree.append(leafHash(leaf))
      expect(tree.size).toBe(i + 1)
      expect(toHex(tree.root()), `size ${tree.size}`).toBe(toHex(treeHash(leaves.slice(0, i + 1))))
    }
  })

  it('continues from its frontier at every size', () => {
    const whole = toHex(treeOf(70).root())
    for (let size = 0; size <= 70; size++) {
      const frontier = treeOf(size).frontier()
      expect(frontier.size).toBe(size)
      expect(toHex(createTree(frontier).root())).toBe(toHex(treeOf(size).root()))
      expect(toHex(treeOf(70, frontier).root()), `from ${size}`).toBe(whole)
    }
  })

  it('has one peak for each binary 1 of its size', () => {
    for (let size = 0; size <= 300; size++) {
      const { peaks } = treeOf(size).frontier()
      const digits = size.toString(2).replaceAll('0', '').length
      expect(peaks.length).toBe(digits)
      expect(peaks.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size + 1)))
      const levels = peakLevels(size)
      expect(levels.reduce((sum, level) => sum + 2 ** level, 0)).toBe(size)
      expect(levels).toEqual([...levels].sort((a, b) => b - a))
    }
  })

  it('is not changed by appending to another that started from its frontier', () => {
    const tree = treeOf(7)
    const [before, frontier] = [toHex(tree.root()), tree.frontier()]
    treeOf(20, frontier)
    expect(toHex(tree.root())).toBe(before)
    expect(hexOf(tree.frontier().peaks)).toEqual(hexOf(frontier.peaks))
  })

  it('refuses a frontier that does not fit its size', () => {
    const hash = sha256('x')
    const frontiers: Frontier[] = [
      { size: 1, peaks: [] },
      { size: 0, peaks: [hash] },
      { size: 3, peaks: [hash] },
      { size: 4, peaks: [hash, hash] },
      { size: -1, peaks: [] },
      { size: 1.5, peaks: [hash] },
      { size: NaN, peaks: [] },
      { size: 2 ** 53, peaks: [hash] },
    ]
    for (const frontier of frontiers) expect(outcomeOf(() => createTree(frontier))).toBe('TREE_RANGE')
  })

  it('gets the same root from a subtree as from its leaves', () => {
    for (let level = 0; level <= 4; level++)
      for (let before = 0; before <= 32; before += 2 ** level) {
        const leaves = leavesOf(before + 2 ** level)
        const tree = treeOf(before)
        tree.appendSubtree(level, treeHash(leaves.slice(before)))
        expect(tree.size).toBe(leaves.length)
        expect(toHex(tree.root()), `${before} and 2^${level}`).toBe(toHex(treeHash(leaves)))
        expect(hexOf(tree.frontier().peaks)).toEqual(hexOf(treeOf(leaves.length).frontier().peaks))
      }
  })

  it('refuses a subtree that does not fit its position', () => {
    for (const [size, level] of [
      [1, 1],
      [3, 1],
      [2, 2],
      [5, 3],
      [12, 3],
    ] as const)
      expect(outcomeOf(() => treeOf(size).appendSubtree(level, EMPTY_ROOT))).toBe('TREE_RANGE')
  })
})

describe('nodes', () => {
  it('are the full subtrees, each once, the leaf first', () => {
    const leaves = leavesOf(100)
    const { nodes } = storeOf(leaves)
    const expected: string[] = []
    for (let level = 0; 2 ** level <= 100; level++)
      for (let index = 0; (index + 1) * 2 ** level <= 100; index++) {
        const covered = leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)
        expected.push(`${level}/${index} ${toHex(treeHash(covered))}`)
      }
    expect([...nodes].map(([place, hash]) => `${place} ${toHex(hash)}`).sort()).toEqual(expected.sort())
    expect(
      treeOf(3)
        .append(sha256('x'))
        .map(({ level, index }) => [level, index]),
    ).toEqual([
      [0, 3],
      [1, 1],
      [2, 0],
    ])
  })

  it('are exactly the hashes that proofs read', async () => {
    const { nodes, read } = storeOf(leavesOf(65))
    const needed = new Set<string>()
    const watched = (level: number, index: number): Uint8Array | Promise<Uint8Array> => {
      needed.add(`${level}/${index}`)
      return read(level, index)
    }
    for (let size = 1; size <= 65; size++)
      for (let index = 0; index < size; index++) {
        await inclusionProof(index, size, watched)
        await consistencyProof(index, size, watched)
      }
    expect([...needed].sort()).toEqual([...nodes.keys()].sort())
  })

  it('cover any range of leaves, as few as possible and in order', () => {
    for (let start = 0; start <= 20; start++)
      for (let end = start; end <= 20; end++) {
        let at = start
        for (const { level, index } of subtrees(start, end)) {
          expect(index * 2 ** level).toBe(at)
          at += 2 ** level
        }
        expect(at).toBe(end)
      }
    expect(subtrees(0, 8)).toEqual([{ level: 3, index: 0 }])
    expect(subtrees(1, 8)).toEqual([
      { level: 0, index: 1 },
      { level: 1, index: 1 },
      { level: 2, index: 1 },
    ])
  })

  it('refuse an invalid range', () => {
    for (const [start, end] of [
      [-1, 2],
      [2, 1],
      [0.5, 1],
      [0, 2.5],
      [0, NaN],
      [0, 2 ** 53],
      [0, Infinity],
    ] as const)
      expect(outcomeOf(() => subtrees(start, end))).toBe('TREE_RANGE')
  })
})

describe('inclusion', () => {
  it('is proven for every leaf of every tree of up to 64 leaves, as the model does', async () => {
    expect(await checkInclusion(64)).toBe((64 * 65) / 2)
  })

  it('is refused for every changed proof, leaf, index, size or root', async () => {
    const leaves = leavesOf(16)
    const { read } = storeOf(leaves)
    for (let size = 1; size <= 16; size++)
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(index, size, read)
        const root = treeHash(leaves.slice(0, size))
        const leaf = leafHash(leaves[index] ?? new Uint8Array())
        expect(verifyInclusion(leaf, index, size, proof, root)).toBe(true)
        for (const other of spoiled(proof))
          expect(verifyInclusion(leaf, index, size, other, root)).toBe(false)
        expect(verifyInclusion(changedHash(leaf), index, size, proof, root)).toBe(false)
        expect(verifyInclusion(leaf, index, size, proof, changedHash(root))).toBe(false)
        expect(verifyInclusion(leaf, index, size, proof, root.subarray(0, 31))).toBe(false)
        for (let other = 0; other < size; other++)
          if (other !== index) expect(verifyInclusion(leaf, other, size, proof, root)).toBe(false)
      }
  })

  it('is refused for a size that does not match the root', async () => {
    const leaves = leavesOf(16)
    const { read } = storeOf(leaves)
    for (let size = 1; size <= 16; size++)
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(index, size, read)
        const leaf = leafHash(leaves[index] ?? new Uint8Array())
        for (let other = 1; other <= 16; other++)
          if (other !== size)
            expect(verifyInclusion(leaf, index, other, proof, treeHash(leaves.slice(0, other)))).toBe(false)
      }
  })

  it('is refused for an invalid index or size', () => {
    const leaf = leafHash(utf8('only'))
    expect(verifyInclusion(leaf, 0, 1, [], leaf)).toBe(true)
    for (const [index, size] of [
      [1, 1],
      [-1, 1],
      [0, 0],
      [0.5, 1],
      [0, 1.5],
      [NaN, 1],
      [0, NaN],
      [0, Infinity],
    ] as const)
      expect(verifyInclusion(leaf, index, size, [], leaf), `${index} of ${size}`).toBe(false)
  })

  // Nodes share one buffer: without the check, a short hash would be filled with old bytes.
  it('is refused for a leaf hash that is not 32 bytes', async () => {
    const leaves = leavesOf(2)
    const { read } = storeOf(leaves)
    for (const [index, leaf] of leaves.map(leafHash).entries()) {
      const proof = await inclusionProof(index, 2, read)
      const holds = (hash: Uint8Array): boolean => verifyInclusion(hash, index, 2, proof, treeHash(leaves))
      expect(holds(leaf)).toBe(true)
      expect(holds(leaf.subarray(0, 31))).toBe(false)
      expect(holds(Uint8Array.of(...leaf, 7))).toBe(false)
    }
  })

  it('does not accept a node as a leaf of a smaller tree', async () => {
    const { read } = storeOf(leavesOf(4))
    const node = await read(1, 0)
    expect(verifyInclusion(node, 0, 2, [await read(1, 1)], treeHash(leavesOf(4)))).toBe(true)
    // The hash of a node fits, but no leaf has this hash.
    expect(verifyInclusion(leafHash(node), 0, 2, [await read(1, 1)], treeHash(leavesOf(4)))).toBe(false)
  })

  it('cannot be requested outside the tree', async () => {
    const { read } = storeOf(leavesOf(4))
    for (const [index, size] of [
      [4, 4],
      [0, 0],
      [NaN, 4],
      [0, NaN],
      [5, 4],
      [0, 2.5],
      [0, Infinity],
      [0, 2 ** 53],
    ] as const)
      expect(await outcomeOfAsync(inclusionProof(index, size, read))).toBe('TREE_RANGE')
  })

  it('cannot be requested at an invalid index', async () => {
    const { read } = storeOf(leavesOf(4))
    for (const index of [-1, 0.5, -Infinity])
      expect(await outcomeOfAsync(inclusionProof(index, 4, read)), String(index)).toBe('TREE_RANGE')
  })

  it('cannot be proven if the store lacks nodes', async () => {
    const missing = new Error('no such node')
    await expect(inclusionProof(0, 4, () => Promise.reject(missing))).rejects.toBe(missing)
  })
})

describe('consistency', () => {
  it('is proven between all trees of up to 64 leaves, as the model does', async () => {
    expect(await checkConsistency(64)).toBe((65 * 66) / 2)
  })

  it('is refused for every changed proof, size or root', () => {
    const leaves = leavesOf(16)
    for (let size = 1; size <= 16; size++)
      for (let oldSize = 1; oldSize <= size; oldSize++) {
        const proof = consistency(oldSize, leaves.slice(0, size))
        const [oldRoot, root] = [treeHash(leaves.slice(0, oldSize)), treeHash(leaves.slice(0, size))]
        const holds = (hashes: readonly Uint8Array[], a = oldRoot, b = root): boolean =>
          verifyConsistency(oldSize, size, hashes, a, b)
        expect(holds(proof)).toBe(true)
        for (const other of spoiled(proof)) expect(holds(other), `${oldSize} to ${size}`).toBe(false)
        expect(holds(proof, changedHash(oldRoot))).toBe(false)
        expect(holds(proof, oldRoot, changedHash(root))).toBe(false)
        expect(holds(proof, oldRoot.subarray(0, 31))).toBe(false)
        if (oldSize < size) expect(holds(proof, root, oldRoot)).toBe(false)
        for (let other = 1; other <= 16; other++) {
          if (other !== oldSize) expect(verifyConsistency(other, size, proof, oldRoot, root)).toBe(false)
        }
      }
  })

  it('is refused for a size that does not match the newer root', () => {
    const leaves = leavesOf(16)
    for (let size = 1; size <= 16; size++)
      for (let oldSize = 1; oldSize <= size; oldSize++) {
        const proof = consistency(oldSize, leaves.slice(0, size))
        for (let other = 1; other <= 16; other++) {
          if (other === size) continue
          const roots = [treeHash(leaves.slice(0, oldSize)), treeHash(leaves.slice(0, other))] as const
          expect(verifyConsistency(oldSize, other, proof, ...roots), `${oldSize} to ${other}`).toBe(false)
        }
      }
  })

  it('detects a rewritten history', async () => {
    const rewritten = leavesOf(12).with(3, utf8('another leaf'))
    const { read } = storeOf(rewritten)
    for (let oldSize = 4; oldSize <= 12; oldSize++) {
      const proof = await consistencyProof(oldSize, 12, read)
      expect(verifyConsistency(oldSize, 12, proof, treeHash(leavesOf(oldSize)), treeHash(rewritten))).toBe(
        false,
      )
    }
  })

  it('holds between a tree and itself, without a proof', () => {
    const root = treeHash(leavesOf(5))
    expect(verifyConsistency(5, 5, [], root, root)).toBe(true)
    expect(verifyConsistency(5, 5, [root], root, root)).toBe(false)
    expect(verifyConsistency(5, 5, [], root, changedHash(root))).toBe(false)
  })

  it('is refused from the empty tree, with any proof', () => {
    const root = treeHash(leavesOf(5))
    for (const size of [0, 1, 5])
      for (const proof of [[], [root], [EMPTY_ROOT]])
        for (const oldRoot of [EMPTY_ROOT, root])
          for (const newRoot of [EMPTY_ROOT, root])
            expect(verifyConsistency(0, size, proof, oldRoot, newRoot)).toBe(false)
  })

  it('is refused for invalid or swapped sizes', () => {
    const root = treeHash(leavesOf(5))
    for (const [oldSize, size] of [
      [6, 5],
      [-1, 5],
      [0.5, 5],
      [1, 5.5],
      [NaN, 5],
      [1, NaN],
      [1, Infinity],
    ] as const)
      expect(verifyConsistency(oldSize, size, [root], root, root)).toBe(false)
  })

  it('cannot be requested from the larger tree to the smaller', async () => {
    const { read } = storeOf(leavesOf(4))
    for (const [oldSize, size] of [
      [5, 4],
      [NaN, 4],
      [1, NaN],
      [1, 2.5],
      [0, 2.5],
      [1, Infinity],
      [0, 2 ** 53],
    ] as const)
      expect(await outcomeOfAsync(consistencyProof(oldSize, size, read))).toBe('TREE_RANGE')
  })

  // Without the check, such a size loops forever. The number counts its comparisons, so that this test always ends.
  it('cannot be requested from an invalid size', async () => {
    const { read } = storeOf(leavesOf(4))
    for (const size of [-1, 1.5]) {
      let compared = 0
      const counting = {
        valueOf: () => {
          if (++compared > 10_000) throw new RangeError('compared without end')
          return size
        },
      } as unknown as number
      expect(await outcomeOfAsync(consistencyProof(counting, 4, read))).toBe('TREE_RANGE')
    }
  })
})

describe('sizes beyond 32 bits', () => {
  // 2^33 + 2^32 + 2^20 + 8 + 1 leaves. Only full subtrees and the last leaf are known.
  const parts = [33, 32, 20, 3, 0]
  const hashes = parts.map((level) => sha256(`subtree of 2^${level}`))
  const size = parts.reduce((sum, level) => sum + 2 ** level, 0)

  function largeTree(): { tree: Tree; read: (level: number, index: number) => Uint8Array } {
    const nodes = new Map<string, Uint8Array>()
    const tree = createTree()
    for (const [i, level] of parts.entries())
      for (const node of tree.appendSubtree(level, hashes[i] ?? EMPTY_ROOT))
        nodes.set(`${node.level}/${node.index}`, node.hash)
    const read = (level: number, index: number): Uint8Array => {
      const hash = nodes.get(`${level}/${index}`)
      if (!hash) throw new Error(`node ${level}/${index} is not known`)
      return hash
    }
    return { tree, read }
  }

  it('have the root of RFC 6962', () => {
    const { tree } = largeTree()
    expect(tree.size).toBe(size)
    expect(peakLevels(size)).toEqual(parts)
    expect(toHex(tree.root())).toBe(toHex(hashes.reduceRight((right, left) => nodeHash(left, right))))
    expect(toHex(createTree(tree.frontier()).root())).toBe(toHex(tree.root()))
  })

  it('prove the last leaf', async () => {
    const { tree, read } = largeTree()
    const leaf = read(0, size - 1)
    const proof = await inclusionProof(size - 1, size, read)
    expect(proof.length).toBe(4)
    expect(verifyInclusion(leaf, size - 1, size, proof, tree.root())).toBe(true)
    for (const index of [size - 2, size - 1 - 2 ** 32, 2 ** 33 - 1, 0])
      expect(verifyInclusion(leaf, index, size, proof, tree.root())).toBe(false)
    expect(verifyInclusion(leaf, size - 1, size + 2 ** 32, proof, tree.root())).toBe(false)
  })

  it('prove growth', async () => {
    const { tree, read } = largeTree()
    for (let kept = 1; kept < parts.length; kept++) {
      const older = createTree()
      for (const [i, level] of parts.slice(0, kept).entries())
        older.appendSubtree(level, hashes[i] ?? EMPTY_ROOT)
      const proof = await consistencyProof(older.size, size, read)
      expect(
        verifyConsistency(older.size, size, proof, older.root(), tree.root()),
        `from ${older.size}`,
      ).toBe(true)
      expect(verifyConsistency(older.size + 2 ** 32, size, proof, older.root(), tree.root())).toBe(false)
      expect(verifyConsistency(older.size, size, proof, changedHash(older.root()), tree.root())).toBe(false)
    }
  })

  it('can be appended to', () => {
    const { tree } = largeTree()
    const added = tree.append(sha256('one more'))
    expect(added.map(({ level, index }) => [level, index])).toEqual([
      [0, size],
      [1, (size - 1) / 2],
    ])
    expect(tree.size).toBe(size + 1)
  })

  it('are refused beyond 2^53-1', () => {
    expect(peakLevels(2 ** 53 - 1).length).toBe(53)
    expect(outcomeOf(() => peakLevels(2 ** 53))).toBe('TREE_RANGE')
    expect(verifyInclusion(EMPTY_ROOT, 0, 2 ** 53, [], EMPTY_ROOT)).toBe(false)
  })
})
