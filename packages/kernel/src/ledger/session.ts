// What is remembered between calls, of a session, a principal and a tenant: the fold over their decisions.
//
// The records live in the private store, and the newest decision on each says, in `next_state_hash`, what they must be.

import { sha256Hex, type Tier } from '@tollgate/evidence/core'
import type { HeldScope } from '../gates/scope/scope.ts'
import type { RiskHistory } from '../gates/session-risk/history.ts'
import type { Leak, RiskMemory } from '../gates/session-risk/risk.ts'
import { DETECTORS } from '../gates/index.ts'

/** What is left of a limit, see `limits.ts`. */
export interface Allowance {
  readonly left: number
  readonly at: number
}

/** What is left of each limit, by its name. */
export type Allowances = Readonly<Record<string, Allowance>>

/** What is remembered of one session. */
export interface SessionState {
  /** How many decisions it has had: the next one's `session.seq`. */
  readonly seq: number
  readonly risk: RiskMemory
  /** Something sensitive was read in it. */
  readonly source: boolean
  /** When it last did something that a person should have seen; 0 for never, or once a person has agreed. */
  readonly suspect: number
  /** Turns since the last that no gate denied; at most 9. */
  readonly denials: number
  /** What is left of the limits that go by session. */
  readonly limits: Allowances
  /** The tier that a person raised it to, and until when, in milliseconds. */
  readonly elevated: Elevation | null
  /** What it was opened for. */
  readonly scope: HeldScope | null
  /** Its record was once lost or changed: no side effect passes in it any more. */
  readonly broken: boolean
}

/** A tier for a time. */
export interface Elevation {
  readonly tier: Tier
  readonly until: number
}

/** What is remembered of one principal, over all its sessions. */
export interface PrincipalState {
  readonly leak: Leak
  /** When it, or who it delegated to, last read something sensitive; 0 for never. */
  readonly source: number
  /** What is watched of it, and of who it delegated to. */
  readonly watch: RiskHistory
  /** What is left of the limits that go by principal. */
  readonly limits: Allowances
  /** Its record was once lost or changed: no side effect passes for it any more. */
  readonly broken: boolean
}

/** What is remembered of one tenant, over all its principals. */
export interface TenantState {
  /** What is left of the limits that go by tool or by tenant. */
  readonly limits: Allowances
  /** Its record was once lost or changed: no side effect passes in it any more. */
  readonly broken: boolean
}

const NO_LIMITS: Allowances = {}

/** A session without history. */
export const NEW_SESSION: SessionState = {
  seq: 0,
  risk: DETECTORS.risk.noMemory,
  source: false,
  suspect: 0,
  denials: 0,
  limits: NO_LIMITS,
  elevated: null,
  scope: null,
  broken: false,
}

/** A principal without history. */
export const NEW_PRINCIPAL: PrincipalState = {
  leak: DETECTORS.risk.noLeak,
  source: 0,
  watch: DETECTORS.risk.noHistory,
  limits: NO_LIMITS,
  broken: false,
}

/** A tenant without history. */
export const NEW_TENANT: TenantState = { limits: NO_LIMITS, broken: false }

/** A record beside its canonical text, for one that changes less often than it is written. */
export interface Kept<T> {
  readonly value: T
  readonly text: string
}

/** Writes a principal's record down. */
export function keepPrincipal(value: PrincipalState): Kept<PrincipalState> {
  return { value, text: principalText(value) }
}

/** Writes a tenant's record down. */
export function keepTenant(value: TenantState): Kept<TenantState> {
  return { value, text: `{"broken":${value.broken},"limits":${limitsText(value.limits)}}` }
}

/** The records that a decision rests on, or leaves behind. */
interface Records {
  readonly session: SessionState
  readonly principal: Kept<PrincipalState>
  /** Only where the policy has limits that go by tool or tenant. */
  readonly tenant: Kept<TenantState> | undefined
  /** The record of the principal that the call was delegated by, at the root; only for a delegated call. */
  readonly lineage: Kept<PrincipalState> | undefined
}

/** The records, and what the decision's receipt says of them: SHA-256 of the text of all. */
export interface State extends Records {
  readonly hash: string
}

/** The session in what is kept under the name of one: its record, or the state that its last decision left. */
export function sessionIn(kept: unknown): SessionState {
  // Sound: under such a name only the two are kept, see `stateIn` in `judge.ts`.
  const known = kept as State | SessionState
  return 'session' in known ? known.session : known
}

/** The state that these records make. */
export function stateOf(records: Records, text: string = stateText(records)): State {
  const { session, principal, tenant, lineage } = records
  return { session, principal, tenant, lineage, hash: sha256Hex(text) }
}

/** What is stored, the same under the name of each record: a decision commits to all of them at once. A line each. */
export function stateText({ session, principal, tenant, lineage }: Records): string {
  const own = `${sessionText(session)}\n${principal.text}`
  // Most calls rest on these two alone.
  return tenant || lineage ? `${own}\n${tenant?.text ?? ''}\n${lineage?.text ?? ''}` : own
}

// The canonical text of the records, written out: every call writes some, and the general writer takes five times as long.

function sessionText(session: SessionState): string {
  const { seq, risk, source, suspect, denials, limits, elevated, scope, broken } = session
  const { average, centroid, leak, turns } = risk
  const memory = `{"average":${average},"centroid":${centroidText(centroid)},"leak":${leakText(leak)},"turns":${turns}}`
  const raised = elevated ? `{"tier":"${elevated.tier}","until":${elevated.until}}` : 'null'
  // Most sessions have none.
  const opened = scope ? `"scope":${DETECTORS.scope.text(scope)},` : ''
  const doubted = suspect === 0 ? '' : `,"suspect":${suspect}`
  return `{"broken":${broken},"denials":${denials},"elevated":${raised},"limits":${limitsText(limits)},"risk":${memory},${opened}"seq":${seq},"source":${source}${doubted}}`
}

function principalText({ leak, source, watch, limits, broken }: PrincipalState): string {
  // Most principals have none.
  const watched = watch === DETECTORS.risk.noHistory ? '' : `,"watch":${DETECTORS.risk.historyText(watch)}`
  return `{"broken":${broken},"leak":${leakText(leak)},"limits":${limitsText(limits)},"source":${source}${watched}}`
}

function limitsText(limits: Allowances): string {
  if (limits === NO_LIMITS) return '{}'
  let text = ''
  for (const name of Object.keys(limits).sort()) {
    const { at, left } = limits[name] ?? FORGOTTEN
    text += `,${nameText(name)}:{"at":${at},"left":${left}}`
  }
  return `{${text.slice(1)}}`
}

const FORGOTTEN: Allowance = { left: 0, at: 0 }

// The names of a policy's limits come again and again.
const MOST_NAMES = 1000
const nameTexts = new Map<string, string>()

function nameText(name: string): string {
  const known = nameTexts.get(name)
  if (known !== undefined) return known
  const text = JSON.stringify(name)
  if (nameTexts.size < MOST_NAMES) nameTexts.set(name, text)
  return text
}

function leakText({ sum, at, turns, axis }: Leak): string {
  return `{"at":${at},${axis === undefined ? '' : `"axis":"${axis}",`}"sum":${sum},"turns":${turns}}`
}

/** The canonical text of a centroid. */
export function centroidText([exfiltration, privilege, compliance]: RiskMemory['centroid']): string {
  return `[${exfiltration},${privilege},${compliance}]`
}
