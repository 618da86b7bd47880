// What is remembered of a session and of a principal between calls: the fold over their decisions.
//
// The records live in the private store, and the newest decision of each says, in `next_state_hash`, what they must be.

import { canonicalize, parseJson, sha256Hex, type Decision, type SessionChange } from '@tollgate/evidence'
import { NOBODY, type Intent } from './call.ts'
import { EMPTY_LEAK, NO_MEMORY, type Leak, type RiskMemory } from './risk.ts'
import type { Stored } from './store.ts'

/** What is remembered of one session. */
export interface SessionState {
  /** How many decisions it has had: the next one's `session.seq`. */
  readonly seq: number
  readonly risk: RiskMemory
  /** Something sensitive was read in it. */
  readonly source: boolean
  /** Turns since the last that no gate denied; at most 9. */
  readonly denials: number
  /** Its record was once lost or changed: no side effect passes in it any more. */
  readonly broken: boolean
}

/** What is remembered of one principal, over all its sessions. */
export interface PrincipalState {
  readonly leak: Leak
  /** When it last read something sensitive; 0 for never. */
  readonly source: number
  /** For each rate of the policy, what is left of it. */
  readonly rates: Readonly<Record<string, Allowance>>
  /** Its record was once lost or changed: no side effect passes for it any more. */
  readonly broken: boolean
}

/** What is left of a rate: refilled with time, see `temporal`. */
export interface Allowance {
  readonly left: number
  readonly at: number
}

/** A session without history. */
export const NEW_SESSION: SessionState = { seq: 0, risk: NO_MEMORY, source: false, denials: 0, broken: false }

/** A principal without history. */
export const NEW_PRINCIPAL: PrincipalState = { leak: EMPTY_LEAK, source: 0, rates: {}, broken: false }

/** A record beside its canonical text, for one that changes less often than it is written. */
export interface Kept<T> {
  readonly value: T
  readonly text: string
}

/** Writes a principal's record down. */
export function keepPrincipal(value: PrincipalState): Kept<PrincipalState> {
  return { value, text: principalText(value) }
}

/** Both records that a decision rests on, or leaves behind. */
export interface State {
  readonly session: SessionState
  readonly principal: Kept<PrincipalState>
  /** What the decision's receipt says of it: SHA-256 of the text of both. */
  readonly hash: string
}

/** The state of a session, its principal's record included. */
export function stateOf(
  session: SessionState,
  principal: Kept<PrincipalState>,
  text: string = stateText(session, principal),
): State {
  return { session, principal, hash: sha256Hex(text) }
}

/** What is stored, the same under the name of each record: a decision commits to both at once. */
export function stateText(session: SessionState, { text }: Kept<PrincipalState>): string {
  return `${sessionText(session)}\n${text}`
}

// The canonical text of the records, written out: every call writes both, and the general writer takes five times as long.

function sessionText({ seq, risk, source, denials, broken }: SessionState): string {
  const { average, centroid, leak, turns } = risk
  const memory = `{"average":${average},"centroid":${centroidText(centroid)},"leak":${leakText(leak)},"turns":${turns}}`
  return `{"broken":${broken},"denials":${denials},"risk":${memory},"seq":${seq},"source":${source}}`
}

function principalText({ leak, source, rates, broken }: PrincipalState): string {
  return `{"broken":${broken},"leak":${leakText(leak)},"rates":${canonicalize(rates)},"source":${source}}`
}

function leakText({ sum, at, turns }: Leak): string {
  return `{"at":${at},"sum":${sum},"turns":${turns}}`
}

/** The canonical text of a centroid. */
export function centroidText([exfiltration, privilege, compliance]: RiskMemory['centroid']): string {
  return `[${exfiltration},${privilege},${compliance}]`
}

/** The names of the two records a call rests on. Names hold no control characters, so the parts stay apart. */
export interface RecordNames {
  readonly session: string
  readonly principal: string
}

/** The names of the records a call rests on. */
export function recordNames({ tenant, principal, session }: NamedBy): RecordNames {
  const owner = `${tenant}\n${principal ?? NOBODY}`
  return { session: `session\n${owner}\n${session}`, principal: `principal\n${owner}` }
}

type NamedBy = Pick<Intent, 'tenant' | 'principal' | 'session'>

/** A session's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readSession(stored: Stored): SessionState {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return NEW_SESSION
  // Closed on the record: what was remembered of it is gone for good, and nothing is missing.
  if (anchor?.closed === true && stored.record === undefined) return { ...NEW_SESSION, seq: anchor.seq }
  const [text] = readState(stored.record, anchor?.next) ?? []
  if (text === undefined) return { ...NEW_SESSION, seq: (anchor?.seq ?? -1) + 1, broken: true }
  // Sound: only `stateText` makes texts with such a hash.
  return JSON.parse(text) as SessionState
}

/** A principal's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readPrincipal(stored: Stored): Kept<PrincipalState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return keepPrincipal(NEW_PRINCIPAL)
  const [, text] = readState(stored.record, anchor?.next) ?? []
  if (text === undefined) return keepPrincipal({ ...NEW_PRINCIPAL, broken: true })
  // Sound: only `stateText` makes texts with such a hash.
  return { value: JSON.parse(text) as PrincipalState, text }
}

/** Both texts of a stored state, if it is the one that the newest decision on it left behind. */
function readState(text: string | undefined, next: string | undefined): string[] | undefined {
  return text === undefined || sha256Hex(text.toWellFormed()) !== next ? undefined : text.split('\n')
}

/** What the newest receipt on a record says it must be. */
interface Anchor {
  readonly next: string
  readonly seq: number
  readonly closed: boolean
}

function readAnchor(payload: Uint8Array | undefined): Anchor | undefined {
  if (payload === undefined) return undefined
  // Sound: an anchor is the payload of a decision or a closing that this writer appended; else no hash will fit.
  const receipt = parseJson(payload) as unknown as Decision | SessionChange
  if (receipt.kind === 'session') return { next: '', seq: receipt.decisions ?? 0, closed: true }
  return { next: receipt.next_state_hash, seq: receipt.session.seq, closed: false }
}
