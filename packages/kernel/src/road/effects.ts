// Records the effect that closes an allowed call, and updates the state of its session.

import { saltedHash, sha256Hex, toHex, type Effect } from '@tollgate/evidence'
import { returnsOf, inspectionIn, type Inspection } from './inspect.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import { keepSeen } from './kept.ts'
import { meterEffect } from './metering.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import type { Read } from '../ledger/remembered.ts'
import { lateName, openingName, openingText, referenceName, type Opening } from './openings.ts'
import type { Policy } from '../policy/parse/parse.ts'
import { remembersData } from '../policy/uses.ts'
import {
  changedData,
  provenanceName,
  readKeptProvenance,
  readTrustState,
  trustName,
  type ChangedData,
  type KeptProvenance,
} from '../ledger/records.ts'
import { payerOf } from '../ledger/storage.ts'
import type { SeenValues } from '../gates/taint/provenance.ts'
import type { TrustState } from '../gates/trust/trust.ts'
import { DETECTORS } from '../gates/index.ts'
import type { TrustSettings } from '../gates/trust/settings.ts'

/** The outcome of a tool, as far as it is known. */
export type Outcome =
  | {
      readonly status: 'COMPLETED' | 'FAILED'
      /** The bytes of the output; only their hash is recorded. */
      readonly output: Uint8Array
      readonly delivery?: Effect['delivery']
      /** The result of the inspection. */
      readonly inspection?: Inspection
    }
  | { readonly status: 'UNKNOWN'; readonly cause: NonNullable<Effect['cause']> }
  | { readonly status: 'CANCELLED' }

/** The reporter of the effect, and whether the call was already closed as UNKNOWN. */
interface Circumstances {
  readonly reportedBy: Effect['reported_by']
  readonly late?: boolean
}

/** An allowed call that is being closed, and the policy that was in force when its records were requested. */
export interface Due {
  readonly opening: Opening
  readonly policy: Policy
}

/** Returns an allowed call with the current policy. */
export function dueNow(kernel: Kernel, opening: Opening): Due {
  return { opening, policy: policyOf(kernel, opening.tenant) }
}

/** Appends an effect in a turn. The caller removes the opening from memory, once nothing can fail any more. */
export function recordEffect(
  kernel: Kernel,
  turn: Turn,
  due: Due,
  outcome: Outcome,
  { reportedBy, late = false }: Circumstances,
): Appended {
  const { opening } = due
  const { written } = turn
  const { id, tenant } = opening
  const hash = 'output' in outcome ? commitOutput(kernel, opening, outcome.output) : undefined
  const seen = remembersData(due.policy) ? toRemember(kernel, due, outcome) : []
  const left = leftBy(kernel, turn, due, { outcome, seen })
  const { labels = [], findings = [] } = inspectionIn(outcome) ?? {}
  const appended = turn.append(
    { causes: [opening], anchors: anchorsOf(left, opening) },
    (header): Effect => ({
      ...header,
      kind: 'effect',
      tenant,
      decision: id,
      status: outcome.status,
      ...(outcome.status === 'UNKNOWN' && { cause: outcome.cause }),
      ...(hash && { effect_hash: hash.effect }),
      commit: hash?.salt === undefined ? 'plain' : 'salted',
      reported_by: reportedBy,
      delivery: ('delivery' in outcome ? outcome.delivery : undefined) ?? 'full',
      ...(late && { late: true as const }),
      ...(labels.length > 0 && { labels }),
      ...(findings.length > 0 && { findings }),
      ...(left.data && { provenance_hash: left.data.hash }),
      ...(left.trust && { trust: DETECTORS.trust.text(left.trust) }),
    }),
  )
  if (late) turn.write(lateName(id), undefined, undefined)
  else turn.put(openingName(opening), undefined)
  if (outcome.status === 'UNKNOWN') turn.write(lateName(id), openingText(opening), openingText(opening))
  else forgetReference(kernel, turn, opening)
  if (hash?.salt !== undefined) turn.put(`salt\n${appended.id}`, hash.salt)
  if (left.data) turn.write(provenanceName(opening, opening.session), left.data, left.data.text)
  keepSeen(kernel, opening, { appended, seen, key: left.key }, turn)
  if (left.trust) turn.write(trustName(opening), left.trust, undefined)
  kernel.storage.charge(payerOf(opening), turn, turn.written - written)
  meterEffect(kernel.host.meter, { status: outcome.status, reported_by: reportedBy, decision: id })
  return appended
}

/** Removes the caller's id of a closed call, unless the caller has reused it for another call. */
function forgetReference({ openings }: Kernel, turn: Turn, opening: Opening): void {
  const { reference } = opening
  if (reference === undefined || (openings.named(opening, reference) ?? opening).id !== opening.id) return
  turn.write(referenceName(opening, reference), undefined, undefined)
}

/** The state that an effect changes. */
interface LeftByEffect {
  readonly data: ChangedData | undefined
  /** The key of the session's data after the effect. */
  readonly key: string
  readonly trust: TrustState | undefined
}

/** The outcome of a call, and the values that the session saw in it. */
interface EffectInput {
  readonly outcome: Outcome
  readonly seen: readonly SeenValues[]
}

function leftBy(
  kernel: Kernel,
  turn: Turn,
  { opening, policy }: Due,
  { outcome, seen }: EffectInput,
): LeftByEffect {
  const { trust: settings } = policy.gates
  const trust = settings && trustAfter(turn, opening, outcome, settings)
  if (!remembersData(policy)) return { data: undefined, key: '', trust }
  // Safe cast: only such records are kept under this name, and it was requested.
  const before = turn.read(provenanceName(opening, opening.session)) as KeptProvenance
  const data = changedData(before, () =>
    DETECTORS.taint.addSeen(before.value, () => toHex(kernel.host.salt()), seen),
  )
  return { data, key: (data ?? before).value.key, trust }
}

function trustAfter(
  turn: Turn,
  opening: Opening,
  { status }: Outcome,
  settings: TrustSettings,
): TrustState | undefined {
  // Safe cast: only such records are kept under this name, and it was requested.
  const before = turn.read(trustName(opening)) as TrustState
  return DETECTORS.trust.afterEffect(before, status, turn.time, settings)
}

/** Returns the values that the session keeps of an effect. An UNKNOWN effect counts as completed. */
function toRemember(kernel: Kernel, due: Due, outcome: Outcome): readonly SeenValues[] {
  if (outcome.status === 'CANCELLED') return []
  // The declared labels of a tool count even if its output was not seen.
  return [...DETECTORS.taint.seenUnread(returnsOf(kernel, due)), ...(inspectionIn(outcome)?.heard ?? [])]
}

function anchorsOf({ data, trust }: LeftByEffect, opening: Opening): readonly string[] {
  return [...(data ? [provenanceName(opening, opening.session)] : []), ...(trust ? [trustName(opening)] : [])]
}

/** Returns the records that an effect may change. */
export function readsFor({ opening, policy }: Due): readonly Read[] {
  return [
    ...(remembersData(policy)
      ? [{ name: provenanceName(opening, opening.session), parse: readKeptProvenance }]
      : []),
    ...(policy.gates.trust ? [{ name: trustName(opening), parse: readTrustState }] : []),
  ]
}

function commitOutput(
  kernel: Kernel,
  { salted }: Opening,
  output: Uint8Array,
): { effect: string; salt: string | undefined } {
  if (!salted) return { effect: sha256Hex(output), salt: undefined }
  const salt = kernel.host.salt()
  return { effect: saltedHash('effect', salt, output), salt: toHex(salt) }
}
