// The report of a check of a whole ledger, and the checks that need no database.

import { sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'

export interface FsckProblem {
  readonly code: string
  /** Index of the entry or name of the record; undefined if the whole file is concerned. */
  readonly at: string | undefined
  readonly message: string
  /** Hints for the user, one line each. */
  readonly hints?: readonly string[]
}

export interface FsckReport {
  readonly ok: boolean
  readonly entries: number
  /** The number of entries that were verified under a signed checkpoint. The others are newer than it. */
  readonly verified: number
  readonly problems: readonly FsckProblem[]
  /** The number of problems beyond the listed ones. */
  readonly more: number
  /** Size of the write-ahead log in bytes. If it is not 0, the file alone may lack the newest entries. */
  readonly log: number
}

export interface FsckProgress {
  readonly stage: 'database' | 'entries' | 'evidence' | 'records'
  readonly done: number
  readonly total: number
}

/** An allowed call is open until its first effect. */
export function noteOpen(
  open: Set<string>,
  id: string,
  receipt: JsonObject,
  kind: string,
  wrong: (what: string) => void,
): void {
  if (receipt['kind'] !== kind) wrong('the kind column differs from the kind in the receipt')
  const { decision } = receipt
  if (receipt['kind'] === 'decision' && receipt['verdict'] === 'ALLOW') open.add(id)
  if (receipt['kind'] === 'effect' && typeof decision === 'string') open.delete(decision)
}

// Records whose hash is in the newest decision about them.
const STATES: ReadonlySet<string> = new Set(['session', 'principal', 'tenant'])

/** The problem of a private record, compared with the newest receipt about it; undefined if there is none. */
export function problemWithRecord(
  name: string,
  payload: unknown,
  text: unknown,
): [string, string] | undefined {
  if (!(payload instanceof Uint8Array)) return ['ANCHOR_WRONG', 'it points to an entry that does not exist']
  const { kind, op, next_state_hash: state, provenance_hash: data } = readObject(payload)
  const of = name.slice(0, name.indexOf('\n'))
  // After a session was closed, it has no state to check.
  if ((kind === 'session' && op === 'close') || (!STATES.has(of) && of !== 'provenance')) return undefined
  const next = of === 'provenance' ? data : state
  if (!(text instanceof Uint8Array)) {
    return ['STATE_MISSING', 'its state is missing: side effects are denied until the session is closed']
  }
  if (sha256Hex(text) === next) return undefined
  return ['STATE_WRONG', 'its state does not match its newest receipt: side effects are denied']
}

/** The receipt in a payload; empty if it is not an object. */
export function readObject(payload: Uint8Array): JsonObject {
  const value = JSON.parse(Buffer.from(payload).toString()) as Json
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
