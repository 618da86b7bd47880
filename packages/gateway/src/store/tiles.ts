// The tiles of a tree: full tiles of 256 hashes, which are stored, and the unfinished ones, which are computed.

import { createTree, formatEnvelope, type Frontier, type Tree } from '@tollgate/evidence'
import { GatewayError } from '../error.ts'

/** Levels of the tree per tile, and hashes per tile. */
export const TILE_LEVELS = 8
export const TILE_WIDTH = 256

const HASH = 32

/** The key of a tile: its level, then its position in that level. */
export function tilePlace(level: number, tile: number): number {
  return level * 2 ** 44 + tile
}

/** The envelope of a stored entry. */
export function envelopeOf(payload: Uint8Array, signature: Uint8Array): Uint8Array {
  return formatEnvelope(payload, keyIn(payload), signature)
}

// Members are in canonical order, and quotes inside texts are escaped, so this occurs only as the member.
const KEY_MEMBER = Buffer.from('"key":"')

/** The key id in a payload. */
function keyIn(payload: Uint8Array): string {
  const view = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const at = view.indexOf(KEY_MEMBER) + KEY_MEMBER.length
  return view.toString('latin1', at, at + 64)
}

/** The root of a full subtree over these hashes. */
export function foldFull(hashes: readonly Uint8Array[]): Uint8Array {
  const [only] = hashes
  if (only && hashes.length === 1) return only
  const tree = createTree()
  for (const hash of hashes) tree.append(hash)
  return tree.root()
}

/** Splits joined hashes. */
export function split(joined: Uint8Array): Uint8Array[] {
  return Array.from({ length: joined.length / HASH }, (_, i) => joined.subarray(i * HASH, (i + 1) * HASH))
}

/** The value of a BLOB column. @throws GatewayError `LEDGER_DAMAGED` if it is not bytes. */
export function bytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new GatewayError('LEDGER_DAMAGED', 'a column contains a value that is not bytes', {
    hints: ['run `tollgate fsck`'],
  })
}

/** A full tile to store. */
interface Tile {
  readonly place: number
  readonly root: Uint8Array
  readonly hashes: Uint8Array
}

/** A tree that returns its tiles when they are full. */
export interface TiledTree {
  readonly tree: Tree
  /** Adds a leaf. Returns the tiles that it completes. */
  append: (leaf: Uint8Array) => readonly Tile[]
  /** A copy, to append to without changing this tree. */
  fork: () => TiledTree
}

/** Continues a tree. `unfinished` has, for each tile level, the hashes of its unfinished tile. */
export function continueTree(frontier: Frontier, unfinished: Uint8Array[][]): TiledTree {
  const tree = createTree(frontier)
  return {
    tree,
    fork: () =>
      continueTree(
        tree.frontier(),
        unfinished.map((hashes) => [...hashes]),
      ),
    append(leaf) {
      const tiles: Tile[] = []
      for (const { level, index, hash } of tree.append(leaf)) {
        if (level % TILE_LEVELS !== 0) continue
        const at = level / TILE_LEVELS
        // A hash of the level above completes the tile below.
        if (at > 0) {
          tiles.push({
            place: tilePlace(at - 1, index),
            root: hash,
            hashes: Buffer.concat(unfinished[at - 1] ?? []),
          })
          unfinished[at - 1] = []
        }
        ;(unfinished[at] ??= []).push(hash)
      }
      return tiles
    },
  }
}

/** For each tile level of a tree of this size: the position of the first hash of its unfinished tile, and their number. */
export function unfinishedTiles(
  size: number,
): readonly { readonly level: number; first: number; count: number }[] {
  const tiles = []
  for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
    const rest = count % TILE_WIDTH
    tiles.push({ level, first: count - rest, count: rest })
  }
  return tiles
}
