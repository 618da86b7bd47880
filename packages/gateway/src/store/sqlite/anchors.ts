// Checks anchors. An anchor points to the newest entry about a name. Anchors are not signed, so they are compared with the
// entries: those of rare kinds at every start, all of them by `fsck`.

import { sha256Hex, type JsonObject } from '@tollgate/evidence'
import { ALONE, anchorOf, FOLLOWED, isFollowed, memoryIn, textIn } from '../anchors.ts'
import type { Database } from './database.ts'
import { bytes } from '../tiles.ts'

/** An anchor that does not match the entries. */
interface AnchorProblem {
  readonly name: string
  readonly message: string
}

/** Collects all entries, then reports the anchors that do not match them. */
interface AnchorCheck {
  take(receipt: JsonObject, id: string, index: number): void
  problems(db: Database): readonly AnchorProblem[]
}

/**
 * Starts a check before the first entry. Receipts do not tell the newest entry about a principal or tenant; `fsck` checks
 * their state instead.
 */
export function createAnchorCheck(): AnchorCheck {
  const words = new Map<string, number>()
  const answers = new Map<string, string>()
  // The callers of allowed calls that are still open.
  const callers = new Map<string, SessionOwner>()
  const note = (receipt: JsonObject, { owner, session }: SessionOwner, index: number): void => {
    if (receipt['trust'] !== undefined) words.set(`trust\n${owner}`, index)
    if (receipt['provenance_hash'] !== undefined) words.set(`provenance\n${owner}\n${session}`, index)
  }
  const takeDecision = (receipt: JsonObject, id: string, index: number): void => {
    const caller = callerOf(receipt)
    words.set(`session\n${caller.owner}\n${caller.session}`, index)
    const { approval } = receipt
    const used = typeof approval === 'string' ? answers.get(approval) : undefined
    if (used !== undefined) words.set(used, index)
    note(receipt, caller, index)
    if (receipt['verdict'] === 'ALLOW') callers.set(id, caller)
  }
  const takeEffect = (receipt: JsonObject, index: number): void => {
    const decision = textIn(receipt['decision'])
    const caller = callers.get(decision)
    if (caller) note(receipt, caller, index)
    // A late effect can still follow an UNKNOWN one.
    if (receipt['status'] !== 'UNKNOWN') callers.delete(decision)
  }
  return {
    take(receipt, id, index) {
      const name = anchorOf(receipt)
      if (name !== undefined) words.set(name, index)
      if (receipt['kind'] === 'approval' && name !== undefined) answers.set(id, name)
      if (receipt['op'] === 'close' && name !== undefined) words.set(`provenance${name.slice(7)}`, index)
      if (receipt['kind'] === 'decision') takeDecision(receipt, id, index)
      if (receipt['kind'] === 'effect') takeEffect(receipt, index)
    },
    problems(db) {
      const expected = new Map([...words].map(([name, index]) => [name, { index, alone: true }]))
      return [...misled(db, expected), ...invented(db, expected)]
    },
  }
}

/** Tenant and principal as used in record names, and the session. */
interface SessionOwner {
  readonly owner: string
  readonly session: string
}

function callerOf(receipt: JsonObject): SessionOwner {
  const { tenant, principal, session } = receipt
  // Sound: a decision has a session.
  const { id } = session as JsonObject
  return { owner: `${textIn(tenant)}\n${textIn(principal)}`, session: memoryIn(receipt, id) }
}

/** Compares the anchors of rare kinds with their entries. */
export function problemsWithAnchors(db: Database): readonly AnchorProblem[] {
  const newest = newestWords(db)
  return [...misled(db, newest), ...invented(db, newest), ...usedAnswers(db)]
}

interface Word {
  readonly index: number
  readonly alone: boolean
}

function newestWords(db: Database): ReadonlyMap<string, Word> {
  const words = new Map<string, Word>()
  const rows = db.prepare(
    "SELECT idx, payload FROM entries WHERE kind = ? AND kind NOT IN ('decision', 'effect') ORDER BY idx",
  )
  for (const kind of [...ALONE, ...FOLLOWED]) {
    for (const row of rows.iterate(kind)) {
      const name = anchorOf(readObject(bytes(row['payload'])))
      if (name !== undefined) words.set(name, { index: Number(row['idx']), alone: !isFollowed(kind) })
    }
  }
  return words
}

function* misled(db: Database, words: ReadonlyMap<string, Word>): Generator<AnchorProblem> {
  const anchorAt = db.prepare('SELECT idx FROM anchors WHERE name = ?')
  for (const [name, { index, alone }] of words) {
    const found = anchorAt.get(name)?.['idx']
    const right = typeof found === 'number' && (alone ? found === index : found >= index)
    if (!right)
      yield {
        name,
        message: `entry ${index} is the newest entry about \`${shown(name)}\`, but the anchor in the file points elsewhere`,
      }
  }
}

/** Anchors of these names without an entry. */
function* invented(db: Database, words: ReadonlyMap<string, Word>): Generator<AnchorProblem> {
  const named = db.prepare('SELECT name FROM anchors WHERE name >= ? AND name < ?')
  for (const prefix of ['freeze', 'policy', 'pin', 'token', 'delegation', 'answer']) {
    for (const row of named.all(`${prefix}\n`, `${prefix}\v`)) {
      const name = String(row['name'])
      if (!words.has(name))
        yield { name, message: `the file has an anchor for \`${shown(name)}\`, but no entry is about it` }
    }
  }
}

/** Answers that look unused although a decision has used them. */
function* usedAnswers(db: Database): Generator<AnchorProblem> {
  const answers = db.prepare(
    `SELECT anchors.name, anchors.idx, entries.payload FROM anchors JOIN entries ON entries.idx = anchors.idx
     WHERE anchors.name >= 'answer' || char(10) AND anchors.name < 'answer' || char(11) AND entries.kind = 'approval'
       AND 'approval' || substr(anchors.name, 7) IN (SELECT name FROM records)`,
  )
  const use = db.prepare(
    "SELECT idx FROM entries WHERE idx > ? AND kind = 'decision' AND instr(payload, CAST(? AS BLOB)) LIMIT 1",
  )
  for (const row of answers.all()) {
    const id = sha256Hex(bytes(row['payload']))
    const found = use.get(Number(row['idx']), `"approval":"${id}"`)
    const name = String(row['name'])
    if (found)
      yield {
        name,
        message: `entry ${Number(found['idx'])} has used an approval that is unused according to the file`,
      }
  }
}

function shown(name: string): string {
  return name.replaceAll('\n', ' ')
}

function readObject(payload: Uint8Array): JsonObject {
  // Sound: a payload is an object. Its members are only compared.
  return JSON.parse(Buffer.from(payload).toString()) as JsonObject
}
