// The private records that a decision depends on: their names, and how they are read. A record is valid only if the newest receipt
// for it contains its hash.

import {
  memoryOf,
  parseJson,
  sha256Hex,
  type Decision,
  type Effect,
  type SessionChange,
} from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import { NOBODY } from '../names.ts'
import type { Read } from './remembered.ts'
import type { Policy } from '../policy/parse/parse.ts'
import { remembersData, sharesLimits } from '../policy/uses.ts'
import {
  keepPrincipal,
  keepTenant,
  NEW_PRINCIPAL,
  NEW_SESSION,
  NEW_TENANT,
  type Kept,
  type PrincipalState,
  type SessionState,
  type TenantState,
} from './session.ts'
import type { RiskHistory } from '../gates/session-risk/history.ts'
import type { Stored } from './store.ts'
import type { Provenance } from '../gates/taint/provenance.ts'
import type { TrustState } from '../gates/trust/trust.ts'
import { DETECTORS } from '../gates/index.ts'

/** The names of the records that a call depends on. Records that the policy does not use are undefined. */
export interface RecordNames {
  readonly session: string
  readonly principal: string
  readonly tenant: string | undefined
  readonly lineage: string | undefined
  readonly provenance: string | undefined
  readonly trust: string | undefined
}

/** The owner of records. Names contain no control characters, so the parts of a record name stay separate. */
export interface Owner {
  readonly tenant: string
  readonly principal: string | undefined
}

function ownerOf({ tenant, principal }: Owner): string {
  return `${tenant}\n${principal ?? NOBODY}`
}

/** Returns the name of the record of a session. */
export function sessionName(owner: Owner, session: string): string {
  return `session\n${ownerOf(owner)}\n${memoryOf(owner.principal ?? NOBODY, session)}`
}

/** Returns the name of the record of a session's data. */
export function provenanceName(owner: Owner, session: string): string {
  return `provenance\n${ownerOf(owner)}\n${memoryOf(owner.principal ?? NOBODY, session)}`
}

/** Returns the name that receipts with the trust of a principal anchor. */
export function trustName(owner: Owner): string {
  return `trust\n${ownerOf(owner)}`
}

/** Returns the name of the record of a principal. */
export function principalName(owner: Owner): string {
  return `principal\n${ownerOf(owner)}`
}

/** Returns the names of the records that a call depends on under a policy. `root` is the root delegator. */
export function recordNames(intent: Intent, policy: Policy, root: string | undefined): RecordNames {
  const { tenant, session } = intent
  return {
    session: sessionName(intent, session),
    principal: principalName(intent),
    tenant: sharesLimits(policy) ? `tenant\n${tenant}` : undefined,
    lineage: root === undefined ? undefined : principalName({ tenant, principal: root }),
    provenance: remembersData(policy) ? provenanceName(intent, session) : undefined,
    trust: policy.gates.trust ? trustName(intent) : undefined,
  }
}

/** Returns how each of these records is read. */
export function readsOf(names: RecordNames, intent: Intent, root: string | undefined): readonly Read[] {
  const { session, principal, tenant, lineage, provenance, trust } = names
  const owner = intent.principal ?? NOBODY
  const reads: Read[] = [
    { name: session, parse: readSession },
    { name: principal, parse: (stored) => readPrincipal(stored, owner) },
  ]
  if (tenant !== undefined) reads.push({ name: tenant, parse: readTenant })
  if (lineage !== undefined) reads.push({ name: lineage, parse: (stored) => readPrincipal(stored, root) })
  if (provenance !== undefined) reads.push({ name: provenance, parse: readKeptProvenance })
  if (trust !== undefined) reads.push({ name: trust, parse: readTrustState })
  return reads
}

/** Parses the stored record of a session; `broken` if it differs from the state after its last decision. */
export function readSession(stored: Stored): SessionState {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return NEW_SESSION
  // The session was closed by a receipt, so the missing record is expected.
  if (anchor?.closed === true && stored.record === undefined) return { ...NEW_SESSION, seq: anchor.seq }
  const [text] = readState(stored.record, anchor) ?? []
  if (text === undefined) return { ...NEW_SESSION, seq: (anchor?.seq ?? -1) + 1, broken: true }
  // Safe cast: only `stateText` makes texts with such a hash. Members that an older version did not write get their initial values.
  return { ...NEW_SESSION, ...(JSON.parse(text) as SessionState) }
}

/** Parses the stored record of a principal; `broken` if it differs from the state after its last decision. */
export function readPrincipal(stored: Stored, owner: string | undefined): Kept<PrincipalState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return keepPrincipal(NEW_PRINCIPAL)
  const lines = readState(stored.record, anchor)
  // The decision was for the principal itself, or for one that it had delegated to.
  const text = anchor?.principal === owner ? lines?.[1] : lines?.[3]
  if (!text) return keepPrincipal({ ...NEW_PRINCIPAL, broken: true })
  return keepPrincipal(principalFrom(text))
}

/** Parses a principal from `stateText`. Missing members get their initial values. */
export function principalFrom(text: string): PrincipalState {
  // Safe cast: only `stateText` makes texts with such a hash.
  const known = JSON.parse(text) as PrincipalState
  const { watch } = known
  // Safe cast: an older version may have left the member out, despite the type.
  const whole = (watch as RiskHistory | undefined) && { watch: { ...DETECTORS.risk.noHistory, ...watch } }
  return { ...NEW_PRINCIPAL, ...known, ...whole }
}

/** Parses the stored record of a tenant; `broken` if it differs from the state after its last decision. */
function readTenant(stored: Stored): Kept<TenantState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return keepTenant(NEW_TENANT)
  const text = readState(stored.record, anchor)?.[2]
  if (!text) return keepTenant({ ...NEW_TENANT, broken: true })
  // Safe cast: only `stateText` makes texts with such a hash.
  return keepTenant(JSON.parse(text) as TenantState)
}

/** Returns the lines of a stored state if its hash is the one in the newest receipt. */
function readState(text: string | undefined, anchor: Anchor | undefined): string[] | undefined {
  if (text === undefined || anchor === undefined) return undefined
  return sha256Hex(text.toWellFormed()) === anchor.next ? text.split('\n') : undefined
}

/** The state of a record according to the newest receipt for it. */
interface Anchor {
  readonly next: string
  readonly seq: number
  readonly principal: string
  readonly closed: boolean
}

function readAnchor(payload: Uint8Array | undefined): Anchor | undefined {
  if (payload === undefined) return undefined
  // Safe cast: an anchor is a decision or session change that this writer appended. For any other, no hash matches.
  const receipt = parseJson(payload) as unknown as Decision | SessionChange
  const { principal } = receipt
  if (receipt.kind === 'session') {
    const { next_state_hash: next = '', decisions = 0, op } = receipt
    return op === 'close'
      ? { next, seq: decisions, principal, closed: true }
      : { next, seq: decisions - 1, principal, closed: false }
  }
  return { next: receipt.next_state_hash, seq: receipt.session.seq, principal, closed: false }
}

/** The data record of a session, and whether it was lost or changed. */
export interface KeptProvenance {
  readonly value: Provenance
  readonly broken: boolean
}

/** Parses the stored data record of a session. */
export function readKeptProvenance({ record, anchor }: Stored): KeptProvenance {
  // Safe cast: only decisions, effects and session closings anchor such a name.
  const receipt = anchor && (parseJson(anchor) as unknown as Decision | Effect | SessionChange)
  const gone = receipt === undefined || receipt.kind === 'session'
  if (gone && record === undefined) return { value: DETECTORS.taint.none, broken: false }
  const expected = gone ? undefined : receipt.provenance_hash
  if (record === undefined || sha256Hex(record.toWellFormed()) !== expected) {
    return { value: DETECTORS.taint.none, broken: true }
  }
  return { value: DETECTORS.taint.parse(record), broken: false }
}

/** A changed data record: the value in memory, the stored text, and the hash for the receipt. */
export interface ChangedData extends KeptProvenance {
  readonly text: string
  readonly hash: string
}

/**
 * Returns the data of a session after `next`, or undefined if it is unchanged. A broken record stays broken, because a new one
 * would look complete. If `next` throws, the record is unchanged; such a call is not allowed.
 */
export function changedData(
  before: KeptProvenance,
  next: () => Provenance | undefined,
): ChangedData | undefined {
  if (before.broken) return undefined
  const value = nextOrNothing(next)
  if (value === undefined || value === before.value) return undefined
  const text = DETECTORS.taint.text(value)
  return { value, broken: false, text, hash: sha256Hex(text) }
}

function nextOrNothing(next: () => Provenance | undefined): Provenance | undefined {
  try {
    return next()
  } catch {
    // The step that needs the data fails for the same reason, unless an earlier step denied.
    return undefined
  }
}

/** Returns the trust of a principal. The newest receipt contains it, so there is no record that could be lost. */
export function readTrustState({ anchor }: Stored): TrustState {
  if (anchor === undefined) return DETECTORS.trust.new
  // Safe cast: only receipts with a trust value anchor such a name.
  const { trust, time } = parseJson(anchor) as unknown as Decision | Effect
  return { score: DETECTORS.trust.parse(trust ?? ''), at: Date.parse(time) }
}
