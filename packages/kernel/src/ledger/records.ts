// The private records that a call rests on: their names, and how they are read back. Each is believed only if the newest
// receipt on it says that it must be so.

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
import type { Read } from './ledger.ts'
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

/** The names of the records that a call rests on; those that its policy has no use for are left out. */
export interface RecordNames {
  readonly session: string
  readonly principal: string
  readonly tenant: string | undefined
  readonly lineage: string | undefined
  readonly provenance: string | undefined
  readonly trust: string | undefined
}

/** Whose records. Names hold no control characters, so their parts stay apart. */
export interface Owner {
  readonly tenant: string
  readonly principal: string | undefined
}

function ownerOf({ tenant, principal }: Owner): string {
  return `${tenant}\n${principal ?? NOBODY}`
}

/** The name of what is remembered of a session. */
export function sessionName(owner: Owner, session: string): string {
  return `session\n${ownerOf(owner)}\n${memoryOf(owner.principal ?? NOBODY, session)}`
}

/** The name of what is remembered of a session's data. */
export function provenanceName(owner: Owner, session: string): string {
  return `provenance\n${ownerOf(owner)}\n${memoryOf(owner.principal ?? NOBODY, session)}`
}

/** The name under which receipts say how far a principal is trusted. */
export function trustName(owner: Owner): string {
  return `trust\n${ownerOf(owner)}`
}

/** The name of what is remembered of a principal. */
export function principalName(owner: Owner): string {
  return `principal\n${ownerOf(owner)}`
}

/** The names of the records that a call rests on under a policy; `root` is who it was delegated by in the beginning. */
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

/** How each of these records is read. */
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

/** A session's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readSession(stored: Stored): SessionState {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return NEW_SESSION
  // Closed on the record: what was remembered of it is gone for good, and nothing is missing.
  if (anchor?.closed === true && stored.record === undefined) return { ...NEW_SESSION, seq: anchor.seq }
  const [text] = readState(stored.record, anchor) ?? []
  if (text === undefined) return { ...NEW_SESSION, seq: (anchor?.seq ?? -1) + 1, broken: true }
  // Sound: only `stateText` makes texts with such a hash. What an older one does not say has its beginning.
  return { ...NEW_SESSION, ...(JSON.parse(text) as SessionState) }
}

/** A principal's record as it comes from the store; broken if it is not what its last decision left behind. */
export function readPrincipal(stored: Stored, owner: string | undefined): Kept<PrincipalState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return keepPrincipal(NEW_PRINCIPAL)
  const lines = readState(stored.record, anchor)
  // The decision was its own, or that of somebody it had delegated to.
  const text = anchor?.principal === owner ? lines?.[1] : lines?.[3]
  if (!text) return keepPrincipal({ ...NEW_PRINCIPAL, broken: true })
  return keepPrincipal(principalFrom(text))
}

/** A principal as `stateText` wrote it; what was not written has nothing to say. */
export function principalFrom(text: string): PrincipalState {
  // Sound: only `stateText` makes texts with such a hash.
  const known = JSON.parse(text) as PrincipalState
  const { watch } = known
  // Sound: what an older version has not written is not there, whatever the type says.
  const whole = (watch as RiskHistory | undefined) && { watch: { ...DETECTORS.risk.noHistory, ...watch } }
  return { ...NEW_PRINCIPAL, ...known, ...whole }
}

/** A tenant's record as it comes from the store; broken if it is not what its last decision left behind. */
function readTenant(stored: Stored): Kept<TenantState> {
  const anchor = readAnchor(stored.anchor)
  if (anchor === undefined && stored.record === undefined) return keepTenant(NEW_TENANT)
  const text = readState(stored.record, anchor)?.[2]
  if (!text) return keepTenant({ ...NEW_TENANT, broken: true })
  // Sound: only `stateText` makes texts with such a hash.
  return keepTenant(JSON.parse(text) as TenantState)
}

/** The lines of a stored state, if it is the one that the newest decision on it left behind. */
function readState(text: string | undefined, anchor: Anchor | undefined): string[] | undefined {
  if (text === undefined || anchor === undefined) return undefined
  return sha256Hex(text.toWellFormed()) === anchor.next ? text.split('\n') : undefined
}

/** What the newest receipt on a record says it must be. */
interface Anchor {
  readonly next: string
  readonly seq: number
  readonly principal: string
  readonly closed: boolean
}

function readAnchor(payload: Uint8Array | undefined): Anchor | undefined {
  if (payload === undefined) return undefined
  // Sound: an anchor is the payload of a decision or of a change to a session that this writer appended; else no hash will fit.
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

/** What is remembered of a session's data, and whether it was once lost or changed. */
export interface KeptProvenance {
  readonly value: Provenance
  readonly broken: boolean
}

/** A session's data record as it comes from the store. */
export function readKeptProvenance({ record, anchor }: Stored): KeptProvenance {
  // Sound: only decisions, effects and closings anchor such a name.
  const receipt = anchor && (parseJson(anchor) as unknown as Decision | Effect | SessionChange)
  const gone = receipt === undefined || receipt.kind === 'session'
  if (gone && record === undefined) return { value: DETECTORS.taint.none, broken: false }
  const said = gone ? undefined : receipt.provenance_hash
  if (record === undefined || sha256Hex(record.toWellFormed()) !== said) {
    return { value: DETECTORS.taint.none, broken: true }
  }
  return { value: DETECTORS.taint.parse(record), broken: false }
}

/** A session's data record, changed: what is kept in memory, what is stored, and what the receipt says of it. */
export interface ChangedData extends KeptProvenance {
  readonly text: string
  readonly hash: string
}

/**
 * What is remembered of a session's data after `next`; undefined if that is what was before. What was once lost is not
 * begun anew: it would look whole. What cannot be worked out leaves it as it was, and the call did not pass.
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
    // The rung that needs it has failed for the same reason, unless an earlier one denied.
    return undefined
  }
}

/** A principal's trust: the newest receipt that changed it says what it is, so there is no record to be lost. */
export function readTrustState({ anchor }: Stored): TrustState {
  if (anchor === undefined) return DETECTORS.trust.new
  // Sound: only receipts that say so anchor such a name.
  const { trust, time } = parseJson(anchor) as unknown as Decision | Effect
  return { score: DETECTORS.trust.parse(trust ?? ''), at: Date.parse(time) }
}
