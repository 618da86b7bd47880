// Keeps calls and effects in private records for replay. The ledger only has their hashes.

import type { DelegationStatement, Json } from '@tollgate/evidence'
import type { BrowserCall, Context, Intent, Source } from './capture.ts'
import type { Observation } from './observation.ts'
import type { CallPlace } from '../shell/place.ts'
import type { ReadText } from '../gates/texts.ts'
import type { RegisteredDelegation } from '../gates/delegation/delegations.ts'
import type { Left } from './next-state.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import type { Opening, SessionOf } from './openings.ts'
import { remembersData } from '../policy/uses.ts'
import { provenanceName, type KeptProvenance } from '../ledger/records.ts'
import { stateText, type State } from '../ledger/session.ts'
import { keyOf, type Settled } from './settle.ts'
import type { Snapshot } from './snapshot.ts'
import { isFull, payerOf } from '../ledger/storage.ts'
import type { SeenValues } from '../gates/taint/provenance.ts'
import type { Hashed, Origin } from '../gates/taint/remembered.ts'
import { DETECTORS } from '../gates/index.ts'

/** A kept call: the captured call, and the inputs of its decision that no receipt contains. */
export interface KeptCall {
  readonly args: Json
  readonly claimed?: string
  readonly context: Context
  readonly misplaced?: boolean
  readonly browser?: BrowserCall
  readonly place?: CallPlace
  readonly prompting?: boolean
  /** The observation that the Sentinel posted. */
  readonly posted?: Observation
  readonly approval?: string
  readonly delegation?: string
  readonly sources?: readonly Source[]
  readonly reference?: string
  readonly unreadable?: string
  /** Hash of the definition that the server offered; null if it offered none. */
  readonly offered?: string | null
  readonly demanded?: { readonly hash: string; readonly text: string }
  /** The delegation of the call and its parents. */
  readonly chain?: readonly KeptLink[]
  /** Whether observe mode was on. */
  readonly observing?: boolean
  /** Id of the approval request about it. */
  readonly asked?: string
  /** The records before the decision, see `stateText`. */
  readonly state: string
  readonly trust?: readonly [score: number, at: number]
  /** The data of the session, if earlier kept calls may not give it: '' for nothing, null if it was lost. */
  readonly data?: string | null
  /** The key of the session's data. */
  readonly key?: string
}

/** One link of a delegation chain. */
export interface KeptLink {
  readonly id: string
  readonly statement: DelegationStatement
  readonly keyId: string
  readonly revoked: boolean
}

/** A kept effect: the values that the session saw, as keyed hashes. */
export interface KeptEffect {
  readonly of: SessionOf
  readonly key: string
  readonly heard: readonly {
    readonly origin: Origin
    readonly labels: readonly string[]
    readonly values: readonly Hashed[]
    readonly cut: boolean
    readonly words?: boolean
  }[]
}

/** The prefix of the names of all kept records. */
export const KEPT = 'kept\n'

/** Returns the name of the kept record of a receipt. The clock comes first, so that the records sort in ledger order. */
export function keptName({ id, clock }: Appended): string {
  return `${KEPT}${String(clock).padStart(16, '0')}\n${id}`
}

// Longer calls are not kept, so that long arguments cannot fill the disk. Denied calls have a lower limit.
const MAX_KEPT_LENGTH = 1 << 16
const MAX_DENIED_LENGTH = 1 << 14

/**
 * Keeps a call, if keeping is on; a call that observe mode allowed is always kept. If the call contains a secret, only that fact is
 * kept: the secret must not be in the store.
 */
export function keepCall(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  made: { settled: Settled; appended: Appended; before: State; left: Left },
  turn: Turn,
): void {
  const { settled, appended } = made
  if (!kernel.keeping.on && settled.reason !== 'OBSERVE_MODE_ALLOWED') return
  const most = settled.verdict === 'DENY' ? MAX_DENIED_LENGTH : MAX_KEPT_LENGTH
  const fits = sizeOf(intent) <= most
  const text = fits && !mayHoldSecret(intent, snapshot) ? keptText(kernel, intent, snapshot, made) : undefined
  if (text !== undefined && text.length <= most) {
    turn.put(keptName(appended), text)
    return
  }
  if (fits && text === undefined) turn.put(keptName(appended), SECRET_REMOVED)
  // Without this call the session's data cannot be recomputed, so the next kept call includes the data.
  kernel.seeded.delete(provenanceName(intent, intent.session))
}

function keptText(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  { settled, appended, before, left }: { settled: Settled; appended: Appended; before: State; left: Left },
): string {
  const kept: KeptCall = {
    // In the original order, not the canonical one: the order of texts affects the session's data.
    args: intent.args,
    ...callOf(intent, snapshot),
    ...requestBehind(kernel, intent, snapshot, { ...settled, opened: appended.id }),
    state: stateText(before),
    ...memoryOf(kernel, intent, snapshot, left),
  }
  return JSON.stringify(kept)
}

/** Kept instead of a call that contains a secret. */
const SECRET_REMOVED = '{"removed":"secret"}'

/** The prefix of an encrypted record that the host application could not decrypt. */
export const SEALED = 'sealed:'

/** Returns why a kept call is unreadable; undefined if it is readable or was not kept. */
export function whyUnreadable(text: string | undefined): string | undefined {
  if (text === SECRET_REMOVED) return 'not replayable: secret removed'
  return text?.startsWith(SEALED) === true ? 'not readable: the key of the kept calls is missing' : undefined
}

function mayHoldSecret(intent: Intent, snapshot: Snapshot): boolean {
  try {
    return holdsSecret(intent, snapshot)
  } catch {
    // An unreadable call was denied for the same reason. If a secret cannot be ruled out, it counts as found.
    return true
  }
}

/** Returns whether the call contains something that looks like a secret. It scans all texts, including those that no step reads. */
function holdsSecret(intent: Intent, snapshot: Snapshot): boolean {
  const { args, sources } = intent
  const texts = remembersData(snapshot.policy) ? snapshot.texts() : DETECTORS.texts.read(args)
  if (texts.some(hasSecret)) return true
  const read = snapshot.data ? snapshot.untrusted() : []
  // If the session keeps data, the texts of tools were already scanned.
  const unread = sources.filter(({ source_channel }) => read.length === 0 || source_channel === 'USER')
  if (read.some(hasSecret) || unread.some(({ text }) => hasSecret(DETECTORS.texts.readOne(text)))) return true
  const { claimed, context, browser, reference, demanded, place } = intent
  const others = JSON.stringify([
    claimed,
    context,
    browser,
    place,
    snapshot.observation,
    reference,
    demanded?.text,
  ])
  // Safe cast: the text was just written as JSON.
  return DETECTORS.texts.read(JSON.parse(others) as Json).some(hasSecret)
}

function hasSecret({ marks }: ReadText): boolean {
  return marks.some(({ label }) => label === 'secret')
}

/** Returns a lower bound of the size, without serialising the call. */
function sizeOf({ text, sources, demanded }: Intent): number {
  return sources.reduce((sum, source) => sum + source.text.length, text.length + (demanded?.text.length ?? 0))
}

function callOf(intent: Intent, snapshot: Snapshot): Omit<KeptCall, 'args' | 'state'> {
  const { claimed, context, misplaced, browser, approval, delegation, sources, reference, unreadable } =
    intent
  const { demanded } = intent
  const { chain, observing } = snapshot
  const offered = intent.offered === null ? null : snapshot.tool?.offered
  return {
    context,
    ...(claimed !== undefined && { claimed }),
    ...(misplaced && { misplaced }),
    ...(browser && { browser }),
    ...(intent.place && { place: intent.place }),
    ...(intent.prompting && { prompting: true }),
    ...(snapshot.observed === 'sentinel' && snapshot.observation && { posted: snapshot.observation }),
    ...(approval !== undefined && { approval }),
    ...(delegation !== undefined && { delegation }),
    ...(sources.length > 0 && { sources }),
    ...(reference !== undefined && { reference }),
    ...(unreadable !== undefined && { unreadable }),
    ...(offered !== undefined && { offered }),
    ...(demanded && { demanded: { hash: demanded.hash, text: demanded.text } }),
    ...(chain && { chain: chain.map(linkOf) }),
    ...(observing && { observing }),
  }
}

/** Returns the request that the decision depends on, used or not. */
function requestBehind(
  { approvals }: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  { uses, waits, opened }: Settled & { readonly opened: string },
): Pick<KeptCall, 'asked'> {
  const request = uses ?? waits
  if (request) return { asked: request.id }
  if (approvals.size === 0) return {}
  // A request that this decision opened does not count.
  const found = approvals.find({ ...keyOf(intent, snapshot), besides: opened })
  return found ? { asked: found.id } : {}
}

function linkOf({ id, statement, keyId, revoked }: RegisteredDelegation): KeptLink {
  return { id, statement, keyId, revoked }
}

function memoryOf(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  left: Left,
): Pick<KeptCall, 'trust' | 'data' | 'key'> {
  const { data, trusted, time } = snapshot
  const key = (left.data ?? data)?.value.key ?? ''
  const seed = data && isDue(kernel, provenanceName(intent, intent.session), time)
  return {
    ...(trusted && { trust: [trusted.score, trusted.at] }),
    ...(key !== '' && { key }),
    ...(seed && { data: dataText(data) }),
  }
}

function dataText({ value, broken }: KeptProvenance): string | null {
  if (broken) return null
  return value === DETECTORS.taint.none ? '' : DETECTORS.taint.text(value)
}

const DAY = 86_400_000
const MAX_SEEDED = 10_000

/** Returns whether the session's data is kept completely: at first, and once a day, so that older records can be deleted. */
function isDue({ seeded }: Kernel, name: string, time: number): boolean {
  if (time - (seeded.get(name) ?? -DAY) < DAY) return false
  if (seeded.size >= MAX_SEEDED) seeded.clear()
  seeded.set(name, time)
  return true
}

/** Keeps the values that a session saw in an effect, if keeping is on. `key` is the key of the session's data after the effect. */
export function keepSeen(
  kernel: Kernel,
  opening: Opening,
  { appended, seen, key }: { appended: Appended; seen: readonly SeenValues[]; key: string },
  turn: Turn,
): void {
  if (!kernel.keeping.on || seen.length === 0) return
  const { tenant, principal, session } = opening
  if (isFull(kernel, payerOf(opening), turn.time)) {
    // Over the limit, only the effect itself is recorded.
    kernel.seeded.delete(provenanceName(opening, session))
    return
  }
  const of = { tenant, principal, session }
  const kept: KeptEffect = { of, key, heard: seen.map((each) => hashedUnder(key, each)) }
  turn.put(keptName(appended), JSON.stringify(kept))
}

function hashedUnder(
  key: string,
  { origin, labels, values, cut = false, words = false }: SeenValues,
): KeptEffect['heard'][number] {
  const taken = key === '' ? [] : values.slice(0, DETECTORS.taint.maxSeen)
  return {
    origin,
    labels,
    values: taken.map((value) => ({ hash: DETECTORS.taint.hash(key, value) })),
    cut: cut || values.length > DETECTORS.taint.maxSeen,
    ...(words && { words }),
  }
}

/** Parses a kept call; undefined if this version did not write it. */
export function readKeptCall(text: string | undefined): KeptCall | undefined {
  const kept = readObject(text)
  // Safe cast: only `keepCall` writes such a record for a decision.
  return kept && 'state' in kept ? (kept as unknown as KeptCall) : undefined
}

/** Parses a kept effect; undefined if this version did not write it. */
export function readKeptEffect(text: string | undefined): KeptEffect | undefined {
  const kept = readObject(text)
  // Safe cast: only `keepSeen` writes such a record for an effect.
  return kept && 'heard' in kept ? (kept as unknown as KeptEffect) : undefined
}

function readObject(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // A damaged record counts as not kept.
    return undefined
  }
}
