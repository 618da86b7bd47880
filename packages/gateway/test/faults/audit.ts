// Checks the invariants of a ledger after any fault: against the journal of the process that wrote it, and against everything
// seen in it before.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import {
  createTree,
  formatEnvelope,
  importSigningKey,
  leafHash,
  parseCheckpoint,
  sealCheckpoint,
  sha256Hex,
  toHex,
} from '@tollgate/evidence'
import type { Site } from '../gateway-rig.ts'

/** One line of a journal. */
export type Line = readonly (string | number)[]

/** Counts of what was checked. */
export interface Counts {
  entries: number
  acknowledged: number
  effects: number
  checkpoints: number
  closedUnknown: number
  recoveries: number
  starts: number
}

/** Audits one ledger over many faults. Each check adds to `violations`; an intact ledger has none. */
export interface Audit {
  readonly violations: string[]
  readonly counts: Counts
  /** Compares the ledger with the journal of the process that has just ended. */
  check(lines: readonly Line[]): Promise<void>
  /** Reads every entry again and compares it with its first reading. */
  reread(): void
}

/** The lines of a journal, without a line cut off by a kill. */
export function readJournal(file: string): readonly Line[] {
  const text = readFileSync(file, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  // Sound: only `load.mjs` writes journals.
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
}

interface Row {
  readonly idx: number
  readonly payload: Uint8Array
  readonly signature: Uint8Array
}

interface Payload {
  readonly kind: string
  readonly key: string
  readonly seq: number
  readonly time: string
  readonly prev_receipt_hash: string
  readonly verdict?: string
  readonly assurance?: string
  readonly expires?: string
  readonly decision?: string
  readonly status?: string
  readonly cause?: string
  readonly late?: boolean
  readonly closed?: number
}

/** The progress of an allowed call. */
interface Call {
  readonly enforced: boolean
  readonly expires: number
  status: string | undefined
  late: boolean
}

/** Starts the audit of the ledger of a site. */
export function createAudit({ config, keyring }: Site): Audit {
  const violations: string[] = []
  const counts: Counts = {
    entries: 0,
    acknowledged: 0,
    effects: 0,
    checkpoints: 0,
    closedUnknown: 0,
    recoveries: 0,
    starts: 0,
  }
  const tree = createTree()
  const leaves: string[] = []
  const roots: Uint8Array[] = [tree.root()]
  const indexes = new Map<string, number>()
  const calls = new Map<string, Call>()
  const open = new Set<string>()
  const ran = new Set<string>()
  let newest = { id: '', seq: 0, time: '' }
  let uncovered = 0
  let row = 0

  const wrong = (what: string): void => void violations.push(what)

  async function check(lines: readonly Line[]): Promise<void> {
    const starts = new Set(lines.filter(([what]) => what === 'S').map(([, size]) => Number(size)))
    takeIn(starts)
    for (const line of lines) checkLine(line)
    for (const [what, note] of lines) if (what === 'C') await checkNote(String(note))
  }

  /** Adds new entries in order. */
  function takeIn(starts: ReadonlySet<number>): void {
    if (starts.has(leaves.length)) atStart()
    const size = readEntries(leaves.length, (each) => {
      takeEntry(each)
      if (starts.has(leaves.length)) atStart()
    })
    if (size !== leaves.length) wrong(`the head states ${size} entries, but there are ${leaves.length}`)
    for (const start of starts) if (start > leaves.length) wrong(`a start saw ${start} entries that are gone`)
  }

  function readEntries(from: number, each: (row: Row) => void): number {
    const db = new DatabaseSync(join(config.data, 'ledger.sqlite'), { readOnly: true, timeout: 5000 })
    try {
      db.exec('BEGIN')
      const rows = db
        .prepare('SELECT idx, payload, signature FROM entries WHERE idx >= ? ORDER BY idx')
        .iterate(from)
      for (const { idx, payload, signature } of rows) {
        each({ idx: Number(idx), payload: bytesOf(payload), signature: bytesOf(signature) })
      }
      const head: unknown = db.prepare('SELECT size FROM head').get()
      // Sound: a row is an object. Values that are not numbers are not sizes.
      return Number((head as { readonly size: unknown }).size)
    } finally {
      // Ends the read even if a statement stays open until it is collected: a gateway that stops would wait for it.
      if (db.isTransaction) db.exec('ROLLBACK')
      db.close()
    }
  }

  function takeEntry({ idx, payload, signature }: Row): void {
    const receipt = parsed(payload)
    const id = sha256Hex(payload)
    const envelope = formatEnvelope(payload, receipt.key, signature)
    if (idx !== leaves.length) wrong(`entry ${leaves.length} is missing`)
    if (leaves.length > 0 && (receipt.prev_receipt_hash !== newest.id || receipt.seq !== newest.seq + 1))
      wrong(`entry ${idx} does not link to the previous one`)
    if (receipt.time < newest.time) wrong(`entry ${idx} goes back in time`)
    if (indexes.has(id)) wrong(`entry ${idx} occurs twice`)
    tree.append(leafHash(envelope))
    roots.push(tree.root())
    leaves.push(sha256Hex(envelope))
    indexes.set(id, idx)
    newest = { id, seq: receipt.seq, time: receipt.time }
    counts.entries++
    takeReceipt(id, receipt)
  }

  function takeReceipt(id: string, receipt: Payload): void {
    if (receipt.kind === 'decision' && receipt.verdict === 'ALLOW') {
      const expires = receipt.expires === undefined ? Infinity : Date.parse(receipt.expires)
      calls.set(id, { enforced: receipt.assurance === 'enforced', expires, status: undefined, late: false })
      open.add(id)
    }
    if (receipt.kind === 'effect') takeEffect(receipt)
    if (receipt.kind === 'recovery') takeRecovery(receipt)
    row = receipt.kind === 'effect' && receipt.status === 'UNKNOWN' ? row + 1 : 0
  }

  function takeEffect({ decision = '', status = '', cause, late }: Payload): void {
    const call = calls.get(decision)
    if (!call) return wrong(`an effect belongs to no allowed call: ${decision}`)
    const fits = late === true ? call.status === 'UNKNOWN' && !call.late : call.status === undefined
    if (!fits) wrong(`a call has more than one outcome: ${decision}`)
    if (late === true) call.late = true
    call.status = status
    open.delete(decision)
    if (status !== 'UNKNOWN') return
    counts.closedUnknown++
    if (cause === 'crash') uncovered++
  }

  function takeRecovery({ closed = 0, time }: Payload): void {
    counts.recoveries++
    if (closed < uncovered || closed > row) wrong(`a recovery states ${closed}, but ${row} calls were closed`)
    uncovered = 0
    noneLeft(Date.parse(time), 'after a recovery')
  }

  /** Just opened: no call of the previous run is open, unless its caller may still report it. */
  function atStart(): void {
    counts.starts++
    if (uncovered > 0) wrong(`${uncovered} calls were closed without a recovery receipt`)
    noneLeft(Date.parse(newest.time), 'after a start')
  }

  function noneLeft(time: number, when: string): void {
    for (const id of open) {
      const call = calls.get(id)
      if (call?.enforced === true) wrong(`a call is open ${when}: ${id}`)
      else if ((call?.expires ?? 0) < time) wrong(`an unreported call is open ${when}: ${id}`)
    }
  }

  function checkLine([what, id = '', at, hash]: Line): void {
    if (what === 'A') {
      counts.acknowledged++
      if (!indexes.has(String(id))) wrong(`an acknowledged receipt is lost: ${id}`)
    }
    if (what === 'F' && (indexes.get(String(id)) !== at || leaves[Number(at)] !== hash))
      wrong(`an acknowledged receipt was changed or moved: ${id}`)
    if (what === 'D') checkEffect(String(id))
  }

  function checkEffect(id: string): void {
    counts.effects++
    if (calls.get(id)?.enforced !== true) wrong(`a tool ran without a durable decision: ${id}`)
    if (ran.has(id)) wrong(`a tool ran twice for one decision: ${id}`)
    ran.add(id)
  }

  async function checkNote(note: string): Promise<void> {
    counts.checkpoints++
    const { size, root, origin } = parseCheckpoint(note)
    const own = roots[size]
    if (own === undefined || toHex(own) !== toHex(root)) {
      wrong(`a checkpoint of ${size} is not a prefix`)
      return
    }
    const seeds = keyring.keys.filter(({ role }) => role === 'ledger').map(({ seed }) => seed)
    const keys = await Promise.all(seeds.map((seed) => importSigningKey(seed)))
    if ((await sealCheckpoint({ origin, size, root: own }, keys)) !== note)
      wrong(`the checkpoint of ${size} differs when it is signed again`)
  }

  function reread(): void {
    const size = readEntries(0, ({ idx, payload, signature }) => {
      const envelope = formatEnvelope(payload, parsed(payload).key, signature)
      if (leaves[idx] !== sha256Hex(envelope)) wrong(`entry ${idx} has changed`)
    })
    if (size < leaves.length) wrong(`${leaves.length} entries were seen, but only ${size} remain`)
  }

  return { violations, counts, check, reread }
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError('the tables are strict: this column must contain bytes')
}

function parsed(payload: Uint8Array): Payload {
  // Sound: every member is compared with its expected value.
  return JSON.parse(Buffer.from(payload).toString()) as Payload
}
