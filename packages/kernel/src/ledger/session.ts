// The state that is kept between calls for a session, a principal and a tenant. It is a fold over their decisions.
//
// The records are in the private store. The newest decision for each contains the hash of its state in `next_state_hash`.

import { sha256Hex, type Tier } from '@tollgate/evidence/core'
import type { HeldScope } from '../gates/scope/scope.ts'
import type { RiskHistory } from '../gates/session-risk/history.ts'
import type { Leak, RiskMemory } from '../gates/session-risk/risk.ts'
import { DETECTORS } from '../gates/index.ts'

/** The remainder of a limit, see `limits.ts`. */
export interface Allowance {
  readonly left: number
  readonly at: number
}

/** The remainder of each limit, by name. */
export type Allowances = Readonly<Record<string, Allowance>>

/** The state of one session. */
export interface SessionState {
  /** The number of its decisions: the `session.seq` of the next one. */
  readonly seq: number
  readonly risk: RiskMemory
  /** Something sensitive was read in it. */
  readonly source: boolean
  /** Time of its last action that needed a person's attention; 0 for none, or once a person has approved. */
  readonly suspect: number
  /** Turns since the last one without a denial by a gate; at most 9. */
  readonly denials: number
  /** The remainder of the limits per session. */
  readonly limits: Allowances
  /** The tier that a person raised it to, and when that expires, in milliseconds. */
  readonly elevated: Elevation | null
  /** The scope that it was opened with. */
  readonly scope: HeldScope | null
  /** Its record was lost or changed: side effects are denied in it. */
  readonly broken: boolean
}

/** A tier for a limited time. */
export interface Elevation {
  readonly tier: Tier
  readonly until: number
}

/** The state of one principal across its sessions. */
export interface PrincipalState {
  readonly leak: Leak
  /** When it, or a delegate of it, last read something sensitive; 0 for never. */
  readonly source: number
  /** The risk history of the principal and its delegates. */
  readonly watch: RiskHistory
  /** The remainder of the limits per principal. */
  readonly limits: Allowances
  /** Its record was lost or changed: side effects are denied for it. */
  readonly broken: boolean
}

/** The state of one tenant across its principals. */
export interface TenantState {
  /** The remainder of the limits per tool and per tenant. */
  readonly limits: Allowances
  /** Its record was lost or changed: side effects are denied in it. */
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

/** A record with its canonical text, for records that change less often than they are written. */
export interface Kept<T> {
  readonly value: T
  readonly text: string
}

/** Returns a principal's state with its text. */
export function keepPrincipal(value: PrincipalState): Kept<PrincipalState> {
  return { value, text: principalText(value) }
}

/** Returns a tenant's state with its text. */
export function keepTenant(value: TenantState): Kept<TenantState> {
  return { value, text: `{"broken":${value.broken},"limits":${limitsText(value.limits)}}` }
}

/** The records before or after a decision. */
interface Records {
  readonly session: SessionState
  readonly principal: Kept<PrincipalState>
  /** Only if the policy has limits per tool or tenant. */
  readonly tenant: Kept<TenantState> | undefined
  /** The record of the root delegator; only for a delegated call. */
  readonly lineage: Kept<PrincipalState> | undefined
}

/** The records, and the SHA-256 of their text, which the receipt contains. */
export interface State extends Records {
  readonly hash: string
}

/** Returns the session from a value that is kept under the name of a session: a session state, or the state after a decision. */
export function sessionIn(kept: unknown): SessionState {
  // Safe cast: only these two are kept under such a name, see `stateIn` in `judge.ts`.
  const known = kept as State | SessionState
  return 'session' in known ? known.session : known
}

/** Returns the state for these records. */
export function stateOf(records: Records, text: string = stateText(records)): State {
  const { session, principal, tenant, lineage } = records
  return { session, principal, tenant, lineage, hash: sha256Hex(text) }
}

/** Returns the stored text, one line per record. Each record name stores the same text, so one hash covers all records. */
export function stateText({ session, principal, tenant, lineage }: Records): string {
  const own = `${sessionText(session)}\n${principal.text}`
  // Most calls need only these two.
  return tenant || lineage ? `${own}\n${tenant?.text ?? ''}\n${lineage?.text ?? ''}` : own
}

// The canonical text of the records is written by hand, because the general writer takes five times as long.

function sessionText(session: SessionState): string {
  const { seq, risk, source, suspect, denials, limits, elevated, scope, broken } = session
  const { average, centroid, leak, turns } = risk
  const memory = `{"average":${average},"centroid":${centroidText(centroid)},"leak":${leakText(leak)},"turns":${turns}}`
  const raised = elevated ? `{"tier":"${elevated.tier}","until":${elevated.until}}` : 'null'
  const opened = scope ? `"scope":${DETECTORS.scope.text(scope)},` : ''
  const doubted = suspect === 0 ? '' : `,"suspect":${suspect}`
  return `{"broken":${broken},"denials":${denials},"elevated":${raised},"limits":${limitsText(limits)},"risk":${memory},${opened}"seq":${seq},"source":${source}${doubted}}`
}

function principalText({ leak, source, watch, limits, broken }: PrincipalState): string {
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

// A cache of quoted limit names, which repeat often.
const MAX_NAMES = 1000
const nameTexts = new Map<string, string>()

function nameText(name: string): string {
  const known = nameTexts.get(name)
  if (known !== undefined) return known
  const text = JSON.stringify(name)
  if (nameTexts.size < MAX_NAMES) nameTexts.set(name, text)
  return text
}

function leakText({ sum, at, turns, axis }: Leak): string {
  return `{"at":${at},${axis === undefined ? '' : `"axis":"${axis}",`}"sum":${sum},"turns":${turns}}`
}

/** Returns the canonical text of a centroid. */
export function centroidText([exfiltration, privilege, compliance]: RiskMemory['centroid']): string {
  return `[${exfiltration},${privilege},${compliance}]`
}
