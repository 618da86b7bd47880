// What tools did: the effect that closes an allowed call, and what it leaves behind.

import { saltedHash, sha256Hex, toHex, type Effect, type Json } from '@tollgate/evidence'
import { sortedLabels } from './content.ts'
import { heardBlindly, inspect, UNINSPECTED, type Inspection } from './inspect.ts'
import { policyOf, type Kernel } from './kernel.ts'
import { keepHeard } from './kept.ts'
import type { Appended, Read, Turn } from './ledger.ts'
import { lateName, openingName, openingText, referenceName, type Opening } from './openings.ts'
import type { Policy } from './policy/parse.ts'
import type { TrustSettings } from './policy/settings/trust.ts'
import { remembersData } from './policy/uses.ts'
import {
  changedData,
  provenanceName,
  readKeptProvenance,
  readTrustState,
  trustName,
  type ChangedData,
  type KeptProvenance,
} from './records.ts'
import { payerOf } from './storage.ts'
import { hear, type Heard } from './taint/provenance.ts'
import { effectOutcome, moved, trustText, type TrustState } from './trust.ts'

/** What a tool did, as far as it is known. */
export type Outcome =
  | {
      readonly status: 'COMPLETED' | 'FAILED'
      /** The output's bytes; only their hash is recorded. */
      readonly output: Uint8Array
      readonly delivery?: Effect['delivery']
      /** What was found in it. */
      readonly inspection?: Inspection
    }
  | { readonly status: 'UNKNOWN'; readonly cause: NonNullable<Effect['cause']> }
  | { readonly status: 'CANCELLED' }

/** Who says so, and whether the effect had already been closed as unknown. */
export interface Circumstances {
  readonly reportedBy: Effect['reported_by']
  readonly late?: boolean
}

/**
 * An allowed call that is about to be closed, and the policy that says what is to be remembered of it: the one that was in
 * force when its records were asked for.
 */
export interface Due {
  readonly opening: Opening
  readonly policy: Policy
}

/** An allowed call that is to be closed now. */
export function dueNow(kernel: Kernel, opening: Opening): Due {
  return { opening, policy: policyOf(kernel, opening.tenant) }
}

/** Appends an effect in a turn. Taking the opening out of memory is left to the caller, after all that can fail. */
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
  const heard = remembersData(due.policy) ? toRemember(kernel, due, outcome) : []
  const left = leftBy(kernel, turn, due, { outcome, heard })
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
      ...(left.trust && { trust: trustText(left.trust) }),
    }),
  )
  if (late) turn.write(lateName(id), undefined, undefined)
  else turn.put(openingName(opening), undefined)
  if (outcome.status === 'UNKNOWN') turn.write(lateName(id), openingText(opening), openingText(opening))
  else forgetReference(kernel, turn, opening)
  if (hash?.salt !== undefined) turn.put(`salt\n${appended.id}`, hash.salt)
  if (left.data) turn.write(provenanceName(opening, opening.session), left.data, left.data.text)
  keepHeard(kernel, opening, { appended, heard, key: left.key }, turn)
  if (left.trust) turn.write(trustName(opening), left.trust, undefined)
  kernel.storage.charge(payerOf(opening), turn, turn.written - written)
  return appended
}

/** What is known needs no name any more, unless its caller has called another call the same since. */
function forgetReference({ openings }: Kernel, turn: Turn, opening: Opening): void {
  const { reference } = opening
  if (reference === undefined || (openings.named(opening, reference) ?? opening).id !== opening.id) return
  turn.write(referenceName(opening, reference), undefined, undefined)
}

/** What was found in the output, if there is one and it was looked through. */
export function inspectionIn(outcome: Outcome): Inspection | undefined {
  return 'output' in outcome ? outcome.inspection : undefined
}

/** What an effect leaves behind, where it changes anything. */
interface Left {
  readonly data: ChangedData | undefined
  /** The key of the session's data from now on. */
  readonly key: string
  readonly trust: TrustState | undefined
}

/** What came of a call, and what the session heard of it. */
interface Came {
  readonly outcome: Outcome
  readonly heard: readonly Heard[]
}

function leftBy(kernel: Kernel, turn: Turn, { opening, policy }: Due, { outcome, heard }: Came): Left {
  const { trust: settings } = policy.gates
  const trust = settings && trustAfter(turn, settings, opening, outcome)
  if (!remembersData(policy)) return { data: undefined, key: '', trust }
  // Sound: under this name only such records are kept, and it was asked for.
  const before = turn.read(provenanceName(opening, opening.session)) as KeptProvenance
  const data = changedData(before, () => hear(before.value, () => toHex(kernel.host.salt()), heard))
  return { data, key: (data ?? before).value.key, trust }
}

function trustAfter(
  turn: Turn,
  settings: TrustSettings,
  opening: Opening,
  { status }: Outcome,
): TrustState | undefined {
  // Sound: under this name only such records are kept, and it was asked for.
  const trusted = turn.read(trustName(opening)) as TrustState
  const outcome = effectOutcome(status)
  const next = outcome ? moved(trusted, outcome, turn.time, settings) : trusted
  return next === trusted ? undefined : next
}

/** What the session is to remember of an effect. One of which nobody knows what it was counts as done. */
function toRemember(kernel: Kernel, due: Due, outcome: Outcome): readonly Heard[] {
  if (outcome.status === 'CANCELLED') return []
  // What a tool is declared to return counts, whatever could be seen of it.
  return [...heardBlindly(returnsOf(kernel, due)), ...(inspectionIn(outcome)?.heard ?? [])]
}

/** What is known of an output that did not come along. */
export function unseenFor(kernel: Kernel, due: Due): Inspection | undefined {
  return remembersData(due.policy) ? uninspected(kernel, due) : undefined
}

/** What is known of an output that nobody could look through. */
export function uninspected(kernel: Kernel, due: Due): Inspection {
  return { ...UNINSPECTED, labels: sortedLabels([...UNINSPECTED.labels, ...returnsOf(kernel, due)]) }
}

/** Labels that the answers of a tool carry by declaration. */
function returnsOf({ catalogue }: Kernel, { opening, policy }: Due): readonly string[] {
  return catalogue.find(opening.tool, policy)?.declared?.returns ?? []
}

function anchorsOf({ data, trust }: Left, opening: Opening): readonly string[] {
  return [...(data ? [provenanceName(opening, opening.session)] : []), ...(trust ? [trustName(opening)] : [])]
}

/** The records that an effect may change. */
export function readsFor({ opening, policy }: Due): readonly Read[] {
  return [
    ...(remembersData(policy)
      ? [{ name: provenanceName(opening, opening.session), parse: readKeptProvenance }]
      : []),
    ...(policy.gates.trust ? [{ name: trustName(opening), parse: readTrustState }] : []),
  ]
}

/** Looks through what a tool has answered to an allowed call, before anybody gets it. */
export function inspectFor(kernel: Kernel, due: Due, content: Json): Inspection {
  try {
    return inspect(content, { policy: due.policy, returns: returnsOf(kernel, due) })
  } catch {
    // Why it failed may hold what the tool said.
    return uninspected(kernel, due)
  }
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
