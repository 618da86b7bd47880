// Finds the targets of a call and where each target comes from: the user, a tool's data, a tool's text, or unknown.

import type { Intent } from '../../road/capture.ts'
import { NOBODY } from '../../names.ts'
import type { ReadText } from '../texts.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { isSink } from '../taint/sinks.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isName, isNamedToken, outerOf, tokensOf } from '../taint/named.ts'
import { piecesOf, wordsIn } from '../../text/phrases.ts'
import { fieldOf } from '../../text/returned.ts'
import { hashOf, lookUp, type Provenance, type Spoken } from '../taint/remembered.ts'
import { hostValue, type Value } from '../../text/values.ts'

/**
 * The origin of a target, from the most to the least trusted:
 * - `named`: the first message of the user names it;
 * - `context`: that message names half of it, or another argument of the call;
 * - `inside`: it is an internal hostname;
 * - `returned`: a tool returned it as a separate value;
 * - `record`: unknown, but it is the number of a record;
 * - `claimed`: the caller claims that a later message of the user names it;
 * - `text`: running text of a tool contains it;
 * - `unknown`: none of these.
 */
export type TargetOrigin =
  | 'named'
  | 'context'
  | 'inside'
  | 'returned'
  | 'record'
  | 'claimed'
  | 'text'
  | 'unknown'

const BY_TRUST: readonly TargetOrigin[] = [
  'named',
  'context',
  'inside',
  'returned',
  'record',
  'claimed',
  'text',
  'unknown',
]

/** The targets of a call, summarised. */
export interface CallTarget {
  /** The least trusted origin of its targets. */
  readonly origin: TargetOrigin
  /** Whether that target is a page or a hostname. */
  readonly web: boolean
  /** Keyed hashes of the targets that the user has not named. */
  readonly unnamed: readonly string[]
  /** The user has not named it, and an earlier call copied it from a tool's output. */
  readonly stored?: true
}

/** A text that contains a target of a call. */
interface TargetText {
  readonly text: string
  readonly values: readonly Value[]
}

// A call with more targets is not traced target by target.
const MAX_TARGETS = 32
const MAX_TOKENS = 16
const MAX_TEXT_LENGTH = 400

/** The targets of a call; undefined if the session has no known user message or the call has no target. */
export function callTargetOf(intent: Intent, snapshot: Snapshot): CallTarget | undefined {
  const provenance = snapshot.provenance()
  const targets = targetsIn(snapshot)
  const [first] = targets
  if (!provenance || !first) return undefined
  const values = targets.flatMap((target) => target.values)
  if (snapshot.effect === 'admin' && targets.some(({ text }) => isCaller(text, intent, snapshot))) {
    return { origin: 'unknown', web: false, unnamed: [] }
  }
  const target = values.length > 0 ? callTargetAt(values, provenance, snapshot) : undefined
  if (target && first.values.length > 0) return isWhole(targets, provenance) ? target : lesser(target)
  const inWords = originInWords(first.text, provenance)
  if (target && (inWords === 'named' || rankOf(target.origin) >= rankOf('returned'))) return target
  const isKnown =
    inWords === 'named' || inWords === 'claimed' || !isFromContext(first.text, provenance, snapshot)
  return { origin: isKnown ? inWords : 'context', web: false, unnamed: [] }
}

const ONE_WORD = /^\p{L}{1,16}$/u

/** Whether the user named half of the text, or the text is a single word and the user named another argument. */
function isFromContext(text: string, provenance: Provenance, snapshot: Snapshot): boolean {
  const isHalf = isMostly(text.replaceAll('_', ' '), (token) => isName(provenance, token))
  if (!isHalf && !ONE_WORD.test(text)) return false
  return isHalf || snapshot.texts().some((each) => isNamedArgument(each, provenance))
}

/** Whether the user also named every target that has no recognisable value. */
function isWhole(targets: readonly TargetText[], provenance: Provenance): boolean {
  return targets.every(({ text, values }) => values.length > 0 || originInWords(text, provenance) === 'named')
}

function lesser(target: CallTarget): CallTarget {
  return target.origin === 'named' ? { ...target, origin: 'context' } : target
}

const SMALL = /^[+-]?[0-9]{1,7}(?:[.,][0-9]{1,9})?$/

/** The texts that contain targets, in the order in which the policy declares them. */
function targetsIn(snapshot: Snapshot): readonly TargetText[] {
  const { sinks = [], destinations = [] } = snapshot.tool?.declared ?? {}
  const declared = sinks.length > 0 ? sinks : destinations === 'none' ? [] : destinations
  const staysHere = destinations === 'none'
  const texts = snapshot.texts()
  // Without a declaration, only values that are certainly targets count.
  if (declared.length === 0) return texts.flatMap(targetAnywhere)
  return declared.flatMap((sink) =>
    texts.flatMap(({ path, text, values }) => {
      if (!isSink(path, [sink]) || SMALL.test(text)) return []
      // If the tool sends no data, `table.column` is not a hostname.
      return [{ text, values: outerOf(staysHere ? values.filter(({ kind }) => kind !== 'host') : values) }]
    }),
  )
}

function targetAnywhere({ text, values }: ReadText): readonly TargetText[] {
  const clear = outerOf(values).filter(({ kind }) => kind !== 'id' && kind !== 'key')
  return clear.length === 0 ? [] : [{ text, values: clear }]
}

/** Whether the target is the caller or one of its delegators. */
function isCaller(text: string, { principal = NOBODY }: Intent, { chain = [] }: Snapshot): boolean {
  return text === principal || chain.some(({ statement }) => statement.delegator === text)
}

function callTargetAt(values: readonly Value[], provenance: Provenance, snapshot: Snapshot): CallTarget {
  if (values.length > MAX_TARGETS) return { origin: 'unknown', web: true, unnamed: [] }
  let [origin, web, stored]: [TargetOrigin, boolean, boolean] = ['named', false, false]
  const unnamed: string[] = []
  for (const value of values) {
    const known = originOf(value, provenance, snapshot)
    const isStored = FOUND.has(known) && wasStored(value, provenance, snapshot)
    // Reading back a value that the agent stored does not make it trusted.
    const own = isStored ? 'unknown' : known
    stored ||= isStored
    if (own !== 'named') unnamed.push(hashOf(keyFor(snapshot, provenance), value))
    if (rankOf(own) < rankOf(origin)) continue
    web = isWeb(value) || (web && own === origin)
    origin = own
  }
  return { origin, web, unnamed, ...(stored && { stored }) }
}

/** Origins of targets that a tool returned, or whose source is unknown. */
const FOUND: ReadonlySet<TargetOrigin> = new Set(['returned', 'text', 'record', 'unknown'])

/** The key for hashes of targets in the risk history of the responsible principal: that of its first session with a key. */
export function keyFor({ lineage, principal }: Snapshot, provenance: Provenance | undefined): string {
  const known = (lineage ?? principal).watch.key
  return known === '' ? (provenance?.key ?? '') : known
}

/** The targets that a person approved with a call, as names. */
export function vouchedFor(snapshot: Snapshot): readonly Spoken[] {
  if (!snapshot.voiced()) return []
  const names = targetsIn(snapshot).flatMap(({ text, values }) =>
    values.length > 0 ? values.map((value) => value.text) : tokensOf(text),
  )
  return names.slice(0, MAX_TARGETS).map((text) => ({ kind: 'name', text }))
}

function rankOf(origin: TargetOrigin): number {
  return BY_TRUST.indexOf(origin)
}

function isWeb({ kind }: Value): boolean {
  return kind === 'url' || kind === 'host'
}

function originOf(value: Value, provenance: Provenance, snapshot: Snapshot): TargetOrigin {
  if (isName(provenance, value.text)) return 'named'
  if (isInside(value, snapshot)) return 'inside'
  const { origin } = lookUp(provenance, value)
  if (origin === 'output') return 'returned'
  if (origin !== 'said' && origin !== 'unknown') return 'text'
  // Phrases are kept from the user only, never from the agent.
  if (isClaimed(piecesOf(wordsIn(value.text)), provenance)) return 'claimed'
  return value.kind === 'id' ? 'record' : 'unknown'
}

function wasStored(value: Value, provenance: Provenance, snapshot: Snapshot): boolean {
  const { stored } = (snapshot.lineage ?? snapshot.principal).watch
  if (stored.length === 0) return false
  const key = keyFor(snapshot, provenance)
  const host = isWeb(value) ? hostOf(value.kind, value.text) : ''
  return stored.includes(hashOf(key, value)) || (host !== '' && stored.includes(hashOf(key, hostValue(host))))
}

const MAX_STORED = 32

/** Keyed hashes of the values that a call copies from tool output and that the user has not named. */
export function copiedIn(snapshot: Snapshot): readonly string[] {
  const provenance = snapshot.voiced() ? snapshot.provenance() : undefined
  if (!provenance) return []
  const sinks = snapshot.tool?.declared?.sinks ?? []
  const copied = snapshot.texts().flatMap(({ path, values }) => {
    const isAct = sinks.length > 0 && isSink(path, sinks)
    return outerOf(values)
      .slice(0, MAX_STORED)
      .filter((value) => isCopied(value, isAct, provenance))
  })
  return copied.slice(0, MAX_STORED).map((value) => hashOf(keyFor(snapshot, provenance), value))
}

function isCopied(value: Value, isAct: boolean, provenance: Provenance): boolean {
  if (isName(provenance, value.text)) return false
  const { origin } = lookUp(provenance, value)
  // The call itself is judged on the data it acts on. Ordinary work often copies the numbers of records.
  if (origin === 'output') return !isAct && value.kind !== 'id'
  return origin !== 'said' && origin !== 'unknown'
}

function isClaimed(pieces: readonly Spoken[], provenance: Provenance): boolean {
  return pieces.length > 0 && pieces.every((piece) => lookUp(provenance, piece).origin === 'said')
}

function isInside({ kind, text }: Value, { policy }: Snapshot): boolean {
  const host = hostOf(kind, text)
  if (host === '') return false
  const target = { scheme: kind === 'email' ? 'mailto' : '', host, port: 0 }
  return (policy.gates.taint?.internal ?? []).some((pattern) => matchesHost(pattern, target))
}

const AUTHORITY = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^/?#:@]+)/

function hostOf(kind: Value['kind'], text: string): string {
  if (kind === 'email') return text.slice(text.lastIndexOf('@') + 1)
  return kind === 'url' || kind === 'host' ? (AUTHORITY.exec(text)?.[1] ?? '') : ''
}

/** The origin of a target without recognisable values. The source that contains half of its words counts. */
function originInWords(text: string, provenance: Provenance): TargetOrigin {
  if (isMostly(text, (token) => isNamedToken(provenance, token))) return 'named'
  const later = (token: string): boolean => isClaimed([{ kind: 'phrase', text: token }], provenance)
  const isSaidLater =
    isMostly(text, later) || isClaimed(piecesOf(wordsIn(text.slice(0, MAX_TEXT_LENGTH))), provenance)
  if (text.length <= MAX_TEXT_LENGTH && lookUp(provenance, fieldOf(text)).origin === 'output')
    return 'returned'
  return isSaidLater ? 'claimed' : 'unknown'
}

function isNamedArgument({ text, values }: ReadText, provenance: Provenance): boolean {
  if (text.length > 64 || text.includes(' ')) return false
  if (values.some((value) => isName(provenance, value.text))) return true
  return isMostly(text, (token) => isNamedToken(provenance, token))
}

function isMostly(text: string, isSaid: (token: string) => boolean): boolean {
  const tokens = text.length > MAX_TEXT_LENGTH ? [] : tokensOf(text)
  if (tokens.length === 0 || tokens.length > MAX_TOKENS) return false
  return tokens.filter(isSaid).length * 2 >= tokens.length
}
