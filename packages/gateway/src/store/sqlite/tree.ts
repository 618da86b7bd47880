// The Merkle tree in the file: full tiles of 256 hashes. Nodes after the last full tile are computed from the entries.

import { createTree, leafHash, subtrees } from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'
import {
  bytes,
  continueTree,
  envelopeOf,
  foldFull,
  split,
  TILE_LEVELS,
  TILE_WIDTH,
  tilePlace,
  unfinishedTiles,
  type TiledTree,
} from '../tiles.ts'
import type { Database } from './database.ts'

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

/** Continues the tree over the first `size` entries of a file. */
export function openTree(nodes: Nodes, size: number): TiledTree {
  const unfinished = unfinishedTiles(size).map(({ level, first, count }) =>
    Array.from({ length: count }, (_, i) => nodes.node(level * TILE_LEVELS, first + i)),
  )
  return continueTree(nodes.frontierAt(size), unfinished)
}
