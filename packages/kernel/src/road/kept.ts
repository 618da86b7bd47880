// What is kept of calls and their effects, privately, so that they can be decided again. The ledger itself has only hashes.

import type { DelegationStatement, Json } from '@tollgate/evidence'
import type { BrowserCall, Context, Intent, Source } from './capture.ts'
import type { Observation } from './observation.ts'
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

/** A call as it is kept: what was captured, and what else it was decided on that no receipt tells. */
export interface KeptCall {
  readonly args: Json
  readonly claimed?: string
  readonly context: Context
  readonly misplaced?: boolean
  readonly browser?: BrowserCall
  /** What the Sentinel had posted itself. */
  readonly posted?: Observation
  readonly approval?: string
  readonly delegation?: string
  readonly sources?: readonly Source[]
  readonly reference?: string
  readonly unreadable?: string
  /** Hash of the definition that the tool's server offered; null if it offered none. */
  readonly offered?: string | null
  readonly demanded?: { readonly hash: string; readonly text: string }
  /** The delegation it was made under, and all that this hung from. */
  readonly chain?: readonly KeptLink[]
  /** Observe mode was on for it. */
  readonly observing?: boolean
  /** The request that a person had been asked about it by. */
  readonly asked?: string
  /** The records it was decided on, see `stateText`. */
  readonly state: string
  readonly trust?: readonly [score: number, at: number]
  /** What was remembered of the session's data, where what was kept before may not tell: '' for nothing, null if it was lost. */
  readonly data?: string | null
  /** The key of the session's data. */
  readonly key?: string
}

/** One link of a chain of delegations. */
export interface KeptLink {
  readonly id: string
  readonly statement: DelegationStatement
  readonly keyId: string
  readonly revoked: boolean
}

/** What is kept of an effect: what the session heard, as the keyed hashes that it remembers. */
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

/** What the names of all that is kept begin with. */
export const KEPT = 'kept\n'

/** The name of what is kept beside a receipt. The clock comes first, so that what is kept lies in the order of the ledger. */
export function keptName({ id, clock }: Appended): string {
  return `${KEPT}${String(clock).padStart(16, '0')}\n${id}`
}

// Beyond, a call is only on the ledger: nobody fills the disk with long arguments, and who is denied least of all.
const MOST_KEPT = 1 << 16
const MOST_OF_DENIED = 1 << 14

/**
 * Keeps a call, if calls are kept; one that observe mode let pass always is. Of a call that holds a secret nothing is kept but
 * that it did: nobody needs it to be decided again, and it must not be in the store.
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
  const most = settled.verdict === 'DENY' ? MOST_OF_DENIED : MOST_KEPT
  const fits = sizeOf(intent) <= most
  const text = fits && !mayHoldSecret(intent, snapshot) ? keptText(kernel, intent, snapshot, made) : undefined
  if (text !== undefined && text.length <= most) {
    turn.put(keptName(appended), text)
    return
  }
  if (fits && text === undefined) turn.put(keptName(appended), SECRET_REMOVED)
  // What it leaves in its session cannot be worked out from this: the next call brings the session's data along.
  kernel.seeded.delete(provenanceName(intent, intent.session))
}

function keptText(
  kernel: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  { settled, appended, before, left }: { settled: Settled; appended: Appended; before: State; left: Left },
): string {
  const kept: KeptCall = {
    // As they came, not as they were hashed: in which order a text was met can be seen in what is remembered of it.
    args: intent.args,
    ...callOf(intent, snapshot),
    ...requestBehind(kernel, intent, snapshot, { ...settled, opened: appended.id }),
    state: stateText(before),
    ...memoryOf(kernel, intent, snapshot, left),
  }
  return JSON.stringify(kept)
}

/** What is kept in place of a call that holds a secret: only that there was one. */
const SECRET_REMOVED = '{"removed":"secret"}'

/** What the text of a record begins with if the host has encrypted it and could not open it again. */
export const SEALED = 'sealed:'

/** Why a call that was kept cannot be read back; undefined if it can be, or was not kept at all. */
export function whyUnreadable(text: string | undefined): string | undefined {
  if (text === SECRET_REMOVED) return 'not replayable: secret removed'
  return text?.startsWith(SEALED) === true ? 'not readable: the key of the kept calls is missing' : undefined
}

function mayHoldSecret(intent: Intent, snapshot: Snapshot): boolean {
  try {
    return holdsSecret(intent, snapshot)
  } catch {
    // A call that cannot be read was denied for the same reason. What could not be ruled out counts as found.
    return true
  }
}

/** Whether something in the call has the shape of a secret. All of its texts are read, also those that no rung reads. */
function holdsSecret(intent: Intent, snapshot: Snapshot): boolean {
  const { args, sources } = intent
  const texts = remembersData(snapshot.policy) ? snapshot.texts() : DETECTORS.texts.read(args)
  if (texts.some(hasSecret)) return true
  const read = snapshot.data ? snapshot.untrusted() : []
  // Texts of tools were read already where the session remembers data.
  const unread = sources.filter(({ source_channel }) => read.length === 0 || source_channel === 'USER')
  if (read.some(hasSecret) || unread.some(({ text }) => hasSecret(DETECTORS.texts.readOne(text)))) return true
  const { claimed, context, browser, reference, demanded } = intent
  const others = JSON.stringify([claimed, context, browser, snapshot.observation, reference, demanded?.text])
  // Sound: what was just written as JSON reads as JSON.
  return DETECTORS.texts.read(JSON.parse(others) as Json).some(hasSecret)
}

function hasSecret({ marks }: ReadText): boolean {
  return marks.some(({ label }) => label === 'secret')
}

/** How much there is at least, before it is written down. */
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

/** The request that the decision rests on, used up or not. */
function requestBehind(
  { approvals }: Kernel,
  intent: Intent,
  snapshot: Snapshot,
  { uses, waits, opened }: Settled & { readonly opened: string },
): Pick<KeptCall, 'asked'> {
  const request = uses ?? waits
  if (request) return { asked: request.id }
  if (approvals.size === 0) return {}
  // One that was opened just now is not what it rests on.
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
const MOST_SEEDED = 10_000

/** Whether a session's data is to be kept as a whole: at first, and once a day, so that what is kept can lose its beginning. */
function isDue({ seeded }: Kernel, name: string, time: number): boolean {
  if (time - (seeded.get(name) ?? -DAY) < DAY) return false
  if (seeded.size >= MOST_SEEDED) seeded.clear()
  seeded.set(name, time)
  return true
}

/** Keeps what a session heard of an effect, if calls are kept; `key` is that of the session's data from now on. */
export function keepSeen(
  kernel: Kernel,
  opening: Opening,
  { appended, heard, key }: { appended: Appended; heard: readonly SeenValues[]; key: string },
  turn: Turn,
): void {
  if (!kernel.keeping.on || heard.length === 0) return
  const { tenant, principal, session } = opening
  if (isFull(kernel, payerOf(opening), turn.time)) {
    // The effect itself is always recorded; of what was heard nothing more is kept, as if the call had been too long.
    kernel.seeded.delete(provenanceName(opening, session))
    return
  }
  const of = { tenant, principal, session }
  const kept: KeptEffect = { of, key, heard: heard.map((each) => hashedUnder(key, each)) }
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

/** Reads what was kept of a call. Undefined if it is not what this version writes. */
export function readKeptCall(text: string | undefined): KeptCall | undefined {
  const kept = readObject(text)
  // Sound: only `keepCall` writes under such a name, beside a decision.
  return kept && 'state' in kept ? (kept as unknown as KeptCall) : undefined
}

/** Reads what was kept of an effect. Undefined if it is not what this version writes. */
export function readKeptEffect(text: string | undefined): KeptEffect | undefined {
  const kept = readObject(text)
  // Sound: only `keepSeen` writes under such a name, beside an effect.
  return kept && 'heard' in kept ? (kept as unknown as KeptEffect) : undefined
}

function readObject(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // Damaged: as good as not kept.
    return undefined
  }
}
