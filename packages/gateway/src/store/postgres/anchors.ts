// Compares the anchors of rare kinds with their entries. Anchors are not signed: without this check, a person who writes the tables
// could put back an old freeze, policy, pin, token or approval.

import { sha256Hex } from '@tollgate/evidence'
import { ALONE, anchorOf, FOLLOWED, isFollowed } from '../anchors.ts'
import { readObject } from '../fsck-report.ts'
import { bytes } from '../tiles.ts'
import type { SqlQuery } from './tree.ts'

const AT_ONCE = 1000
const RARE = "kind NOT IN ('decision', 'effect')"

/** The newest entry about a name. */
interface AnchorWord {
  readonly index: number
  /** No other kind of entry anchors the name. */
  readonly alone: boolean
}

/** Returns the first anchor that does not match the entries, as a sentence; undefined if all of them do. */
export async function problemWithAnchors(ask: SqlQuery): Promise<string | undefined> {
  const words = await newestWords(ask)
  return (await misled(ask, words)) ?? (await invented(ask, words)) ?? (await usedAnswer(ask))
}

async function newestWords(ask: SqlQuery): Promise<ReadonlyMap<string, AnchorWord>> {
  const words = new Map<string, AnchorWord>()
  for (let after = -1; ;) {
    const rows = await ask(
      `SELECT idx, kind, payload FROM entries WHERE kind = ANY ($1::text[]) AND ${RARE} AND idx > $2 ORDER BY idx LIMIT ${AT_ONCE}`,
      [[...ALONE, ...FOLLOWED], after],
    )
    for (const row of rows) {
      after = Number(row['idx'])
      const name = anchorOf(readObject(bytes(row['payload'])))
      if (name !== undefined) words.set(name, { index: after, alone: !isFollowed(String(row['kind'])) })
    }
    if (rows.length < AT_ONCE) return words
  }
}

async function misled(ask: SqlQuery, words: ReadonlyMap<string, AnchorWord>): Promise<string | undefined> {
  const names = [...words.keys()]
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const page = names.slice(at, at + AT_ONCE)
    const rows = await ask('SELECT name, idx FROM anchors WHERE name = ANY ($1::text[])', [page])
    const anchors = new Map(rows.map((row) => [String(row['name']), Number(row['idx'])]))
    for (const name of page) {
      const [word, found] = [words.get(name), anchors.get(name)]
      const right = word && found !== undefined && (word.alone ? found === word.index : found >= word.index)
      if (!right)
        return `entry ${word?.index ?? 0} is the newest entry about \`${shown(name)}\`, but its anchor points elsewhere`
    }
  }
  return undefined
}

const PREFIXES = ['freeze', 'policy', 'pin', 'token', 'delegation', 'answer']

/** An anchor of these names without an entry. */
async function invented(ask: SqlQuery, words: ReadonlyMap<string, AnchorWord>): Promise<string | undefined> {
  for (const prefix of PREFIXES) {
    const rows = await ask('SELECT name FROM anchors WHERE name >= $1 AND name < $2', [
      `${prefix}\n`,
      `${prefix}\v`,
    ])
    const name = rows.map((row) => String(row['name'])).find((each) => !words.has(each))
    if (name !== undefined) return `there is an anchor for \`${shown(name)}\`, but no entry is about it`
  }
  return undefined
}

/** An answer that looks unused although a decision has used it. */
async function usedAnswer(ask: SqlQuery): Promise<string | undefined> {
  const answers = await ask(
    `SELECT anchors.name, anchors.idx, entries.payload FROM anchors JOIN entries ON entries.idx = anchors.idx
     WHERE anchors.name >= $1 AND anchors.name < $2 AND entries.kind = 'approval'
       AND 'approval' || substr(anchors.name, 7) IN (SELECT name FROM records)`,
    ['answer\n', 'answer\v'],
  )
  for (const row of answers) {
    const id = sha256Hex(bytes(row['payload']))
    const [use] = await ask(
      "SELECT idx FROM entries WHERE idx > $1 AND kind = 'decision' AND position($2::bytea IN payload) > 0 LIMIT 1",
      [Number(row['idx']), Buffer.from(`"approval":"${id}"`)],
    )
    if (use) return `entry ${String(use['idx'])} has used an approval that is unused according to its anchor`
  }
  return undefined
}

function shown(name: string): string {
  return name.replaceAll('\n', ' ')
}
