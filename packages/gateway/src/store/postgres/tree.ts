// The Merkle tree in the tables: full tiles of 256 hashes. Nodes after the last full tile are computed from the leaves.

import { createTree, subtrees, type Frontier } from '@tollgate/evidence'
import { damaged } from '../heads.ts'
import {
  bytes,
  continueTree,
  foldFull,
  split,
  TILE_LEVELS,
  TILE_WIDTH,
  tilePlace,
  unfinishedTiles,
  type TiledTree,
} from '../tiles.ts'
import type { SqlRow } from './session.ts'

/** Runs a query. */
export type SqlQuery = (sql: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/** The hash of a full subtree. @throws GatewayError `LEDGER_DAMAGED` if it is missing. */
export async function nodeAt(ask: SqlQuery, level: number, index: number): Promise<Uint8Array> {
  const width = 2 ** (level % TILE_LEVELS)
  return foldFull(await hashesAt(ask, Math.floor(level / TILE_LEVELS), index * width, width))
}

/** `count` hashes of a tile level, all from one tile. */
async function hashesAt(
  ask: SqlQuery,
  level: number,
  first: number,
  count: number,
): Promise<readonly Uint8Array[]> {
  if (count === 0) return []
  const [tile] = await ask('SELECT hashes FROM tiles WHERE place = $1', [
    tilePlace(level, Math.floor(first / TILE_WIDTH)),
  ])
  const offset = first % TILE_WIDTH
  const found = tile
    ? split(bytes(tile['hashes'])).slice(offset, offset + count)
    : await looseAt(ask, level, first, count)
  if (found.length === count) return found
  throw damaged(`the tree lacks a node at level ${level * TILE_LEVELS}, position ${first}`)
}

/** Hashes that are not in a full tile yet. */
async function looseAt(ask: SqlQuery, level: number, first: number, count: number): Promise<Uint8Array[]> {
  const rows =
    level > 0
      ? await ask('SELECT root AS hash FROM tiles WHERE place >= $1 AND place < $2 ORDER BY place', [
          tilePlace(level - 1, first),
          tilePlace(level - 1, first + count),
        ])
      : await ask('SELECT leaf AS hash FROM entries WHERE idx >= $1 AND idx < $2 ORDER BY idx', [
          first,
          first + count,
        ])
  return rows.map((row) => bytes(row['hash']))
}

async function frontierAt(ask: SqlQuery, size: number): Promise<Frontier> {
  const peaks: Uint8Array[] = []
  for (const { level, index } of subtrees(0, size)) peaks.push(await nodeAt(ask, level, index))
  return { size, peaks }
}

/** The root of the tree over the first `size` entries. */
export async function rootAt(ask: SqlQuery, size: number): Promise<Uint8Array> {
  return createTree(await frontierAt(ask, size)).root()
}

/** Continues the tree over the first `size` entries. */
export async function openTree(ask: SqlQuery, size: number): Promise<TiledTree> {
  const unfinished: Uint8Array[][] = []
  for (const { level, first, count } of unfinishedTiles(size)) {
    unfinished[level] = [...(await hashesAt(ask, level, first, count))]
  }
  return continueTree(await frontierAt(ask, size), unfinished)
}
