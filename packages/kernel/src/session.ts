// What is remembered of a session and of a principal between calls: the fold over their decisions.
//
// The records live in the private store, and the newest decision of each says, in `next_state_hash`, what they must be.

import { canonicalize, parseJson, sha256Hex, type Decision } from '@tollgate/evidence'
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

/** A record beside its canonical text and hash. */
export interface Kept<T> {
  readonly value: T
  readonly text: string
  readonly hash: string
}

/** Writes a session's record down. */
export function keepSession(value: SessionState): Kept<SessionState> {
  return kept(value, sessionText(value))
}

/** Writes a principal's record down. */
export function keepPrincipal(value: PrincipalState): Kept<PrincipalState> {
  return kept(value, principalText(value))
}

function kept<T>(value: T, text: string): Kept<T> {
  return { value, text, hash: sha256Hex(text) }
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

// Most decisions rest on the very records that the session's last one left behind.
const joined = new WeakMap<Kept<SessionState>, { readonly principal: string; readonly hash: string }>()

/** The one hash that a receipt carries for both records a decision rests on. */
export function stateHash(session: Kept<SessionState>, principal: Kept<PrincipalState>): string {
  const known = joined.get(session)
  if (known?.principal === principal.hash) return known.hash
  const hash = sha256Hex(session.hash + principal.hash)
  joined.set(session, { principal: principal.hash, hash })
  return hash
}

/** The name of a session's record. Names hold no control characters, so the parts stay apart. */
export function sessionName({
  tenant,
  principal,
  session,
}: Pick<Intent, 'tenant' | 'principal' | 'session'>): string {
  return `session\n${tenant}\n${principal ?? NOBODY}\n${session}`
}

/** The name of a principal's record. */
export function principalName({ tenant, principal }: Pick<Intent, 'tenant' | 'principal'>): string {
  return `principal\n${tenant}\n${principal ?? NOBODY}`
}

/** A record as it is stored: behind the hash of the record written beside it, because a receipt names only both together. */
export function storedText(kept: Kept<unknown>, beside: Kept<unknown>): string {
  return `${beside.hash} ${kept.text}`
}

/** A session's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readSession(stored: Stored): Kept<SessionState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return KEPT_NEW_SESSION
  const found = readRecord<SessionState>(stored.record, (own, beside) => own + beside, anchor?.next)
  return found ?? keepSession({ ...NEW_SESSION, seq: (anchor?.seq ?? -1) + 1, broken: true })
}

/** A principal's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readPrincipal(stored: Stored): Kept<PrincipalState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return KEPT_NEW_PRINCIPAL
  const found = readRecord<PrincipalState>(stored.record, (own, beside) => beside + own, anchor?.next)
  return found ?? keepPrincipal({ ...NEW_PRINCIPAL, broken: true })
}

const KEPT_NEW_SESSION = keepSession(NEW_SESSION)
const KEPT_NEW_PRINCIPAL = keepPrincipal(NEW_PRINCIPAL)

function readRecord<T>(
  stored: string | undefined,
  joined: (own: string, beside: string) => string,
  next: string | undefined,
): Kept<T> | undefined {
  if (stored === undefined || next === undefined) return undefined
  const text = stored.slice(65)
  const hash = sha256Hex(text.toWellFormed())
  if (sha256Hex(joined(hash, stored.slice(0, 64).toWellFormed())) !== next) return undefined
  // Sound: only `keepSession` and `keepPrincipal` make texts with such a hash.
  return { value: JSON.parse(text) as T, text, hash }
}

/** What the newest decision on a record says it must be. */
function readAnchor(payload: Uint8Array | undefined): { next: string; seq: number } | undefined {
  if (payload === undefined) return undefined
  // Sound: an anchor is the payload of a decision that this writer appended; if it is not, no hash will fit.
  const { next_state_hash, session } = parseJson(payload) as unknown as Decision
  return { next: next_state_hash, seq: session.seq }
}
