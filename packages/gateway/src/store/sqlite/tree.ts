// The Merkle tree in the file: full tiles of 256 hashes. Nodes after the last full tile are computed from the entries.

import { createTree, formatEnvelope, leafHash, subtrees, type Tree } from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'
import type { Database } from './database.ts'

/** Levels of the tree per tile, and hashes per tile. */
const TILE_LEVELS = 8
const TILE_WIDTH = 256

const HASH = 32

/** The key of a tile: its level, then its position in that level. */
function tilePlace(level: number, tile: number): number {
  return level * 2 ** 44 + tile
}

export interface Nodes {
  /** The hash of a full subtree. @throws GatewayError `LEDGER_DAMAGED` if it is missing. */
  node(level: number, index: number): Uint8Array
  /** The root of the tree over the first `size` entries. */
  rootAt(size: number): Uint8Array
  /** The peaks of that tree, to continue it. */
  frontierAt(size: number): { readonly size: number; readonly peaks: readonly Uint8Array[] }
}

export function openNodes(db: Database): Nodes {
  const tileAt = db.prepare('SELECT hashes FROM tiles WHERE place = ?')
  const rootsFrom = db.prepare('SELECT root FROM tiles WHERE place >= ? AND place < ? ORDER BY place')
  const entriesFrom = db.prepare(
    'SELECT payload, signature FROM entries WHERE idx >= ? AND idx < ? ORDER BY idx',
  )

  function node(level: number, index: number): Uint8Array {
    const width = 2 ** (level % TILE_LEVELS)
    return foldFull(hashes(Math.floor(level / TILE_LEVELS), index * width, width))
  }

  /** `count` hashes of a tile level, all from one tile. */
  function hashes(level: number, first: number, count: number): Uint8Array[] {
    const tile = tileAt.get(tilePlace(level, Math.floor(first / TILE_WIDTH)))
    const offset = first % TILE_WIDTH
    const found = tile
      ? split(bytes(tile['hashes'])).slice(offset, offset + count)
      : loose(level, first, count)
    if (found.length === count) return found
    throw new GatewayError(
      'LEDGER_DAMAGED',
      `the tree lacks a node at level ${level * TILE_LEVELS}, position ${first}`,
      {
        hints: ['run `tollgate fsck`'],
      },
    )
  }

  /** Hashes that are not in a full tile yet. */
  function loose(level: number, first: number, count: number): Uint8Array[] {
    if (level > 0) {
      const rows = rootsFrom.all(tilePlace(level - 1, first), tilePlace(level - 1, first + count))
      return rows.map((row) => bytes(row['root']))
    }
    return entriesFrom.all(first, first + count).map((row) => {
      return leafHash(envelopeOf(bytes(row['payload']), bytes(row['signature'])))
    })
  }

  const frontierAt: Nodes['frontierAt'] = (size) => ({
    size,
    peaks: subtrees(0, size).map(({ level, index }) => node(level, index)),
  })

  return { node, frontierAt, rootAt: (size) => createTree(frontierAt(size)).root() }
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

function foldFull(hashes: readonly Uint8Array[]): Uint8Array {
  const [only] = hashes
  if (only && hashes.length === 1) return only
  const tree = createTree()
  for (const hash of hashes) tree.append(hash)
  return tree.root()
}

function split(joined: Uint8Array): Uint8Array[] {
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
}

/** Continues the tree over the first `size` entries of a file. */
export function openTree(nodes: Nodes, size: number): TiledTree {
  const tree = createTree(nodes.frontierAt(size))
  const unfinished: Uint8Array[][] = []
  for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
    const first = count - (count % TILE_WIDTH)
    unfinished[level] = Array.from({ length: count % TILE_WIDTH }, (_, i) =>
      nodes.node(level * TILE_LEVELS, first + i),
    )
  }
  return {
    tree,
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
