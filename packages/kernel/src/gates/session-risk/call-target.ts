// What a call aims at, and who has named it: the user, a tool, a text, or nobody.

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
 * Who has named a target, from the best to the worst: the user's first words; not it, but what the call says beside it; it is
 * the company's own; a tool returned it as a
 * value by itself; nobody, but it is a number of some record; later words of the user, as the caller has it; running text of a
 * tool; nobody.
 */
export type TargetOrigin =
  | 'named'
  | 'beside'
  | 'inside'
  | 'returned'
  | 'loose'
  | 'claimed'
  | 'told'
  | 'nobody'

const BY_TRUST: readonly TargetOrigin[] = [
  'named',
  'beside',
  'inside',
  'returned',
  'loose',
  'claimed',
  'told',
  'nobody',
]

/** What a call aims at. */
export interface CallTarget {
  /** The worst of its targets. */
  readonly standing: TargetOrigin
  /** That one is a page or a host, and not somebody's address. */
  readonly web: boolean
  /** Keyed hashes of the targets that the user has not named. */
  readonly unnamed: readonly string[]
  /** Nobody has named it, and it was written down before because it stood somewhere. */
  readonly stored?: true
}

/** A text that says whom or what a call is about. */
interface TargetText {
  readonly text: string
  readonly values: readonly Value[]
}

// More targets than any honest call has are not looked up one by one.
const MAX_TARGETS = 32
const MOST_TOKENS = 16
const LONGEST = 400

/** What a call aims at; undefined where no words of the user are known, or it has no target. */
export function callTargetOf(intent: Intent, snapshot: Snapshot): CallTarget | undefined {
  const provenance = snapshot.provenance()
  const targets = targetsIn(snapshot)
  const [first] = targets
  if (!provenance || !first) return undefined
  const values = targets.flatMap((target) => target.values)
  if (snapshot.effect === 'admin' && targets.some(({ text }) => isOneself(text, intent, snapshot))) {
    return { standing: 'nobody', web: false, unnamed: [] }
  }
  const aim = values.length > 0 ? callTargetAt(values, provenance, snapshot) : undefined
  if (aim && first.values.length > 0) return isWhole(targets, provenance) ? aim : lesser(aim)
  const told = standingInWords(first.text, provenance)
  if (aim && (told === 'named' || rankOf(aim.standing) >= rankOf('returned'))) return aim
  const isKnown = told === 'named' || told === 'claimed' || !isBeside(first.text, provenance, snapshot)
  return { standing: isKnown ? told : 'beside', web: false, unnamed: [] }
}

const ONE_WORD = /^\p{L}{1,16}$/u

/** Whether a text says what to do rather than to what, or the half of it, and another argument has what the user has named. */
function isBeside(text: string, provenance: Provenance, snapshot: Snapshot): boolean {
  const isHalf = isMostly(text.replaceAll('_', ' '), (token) => isName(provenance, token))
  if (!isHalf && !ONE_WORD.test(text)) return false
  return isHalf || snapshot.texts().some((each) => isNamedBeside(each, provenance))
}

/** Whether whatever else the call is about was named in words, too. */
function isWhole(targets: readonly TargetText[], provenance: Provenance): boolean {
  return targets.every(
    ({ text, values }) => values.length > 0 || standingInWords(text, provenance) === 'named',
  )
}

function lesser(aim: CallTarget): CallTarget {
  return aim.standing === 'named' ? { ...aim, standing: 'beside' } : aim
}

const SMALL = /^[+-]?[0-9]{1,7}(?:[.,][0-9]{1,9})?$/

/** The texts that say whom or what a call is about, in the order in which the policy declares them. */
function targetsIn(snapshot: Snapshot): readonly TargetText[] {
  const { sinks = [], destinations = [] } = snapshot.tool?.declared ?? {}
  const declared = sinks.length > 0 ? sinks : destinations === 'none' ? [] : destinations
  const staysHere = destinations === 'none'
  const texts = snapshot.texts()
  // Nobody has said which arguments matter: then only what cannot be anything but a target.
  if (declared.length === 0) return texts.flatMap(targetAnywhere)
  return declared.flatMap((sink) =>
    texts.flatMap(({ path, text, values }) => {
      if (!isSink(path, [sink]) || SMALL.test(text)) return []
      // Where nothing goes out, `table.column` is no host.
      return [{ text, values: outerOf(staysHere ? values.filter(({ kind }) => kind !== 'host') : values) }]
    }),
  )
}

function targetAnywhere({ text, values }: ReadText): readonly TargetText[] {
  const clear = outerOf(values).filter(({ kind }) => kind !== 'id' && kind !== 'key')
  return clear.length === 0 ? [] : [{ text, values: clear }]
}

/** Whether the call is about whoever makes it. */
function isOneself(text: string, { principal = NOBODY }: Intent, { chain = [] }: Snapshot): boolean {
  return text === principal || chain.some(({ statement }) => statement.delegator === text)
}

function callTargetAt(values: readonly Value[], provenance: Provenance, snapshot: Snapshot): CallTarget {
  if (values.length > MAX_TARGETS) return { standing: 'nobody', web: true, unnamed: [] }
  let [standing, web, stored]: [TargetOrigin, boolean, boolean] = ['named', false, false]
  const unnamed: string[] = []
  for (const value of values) {
    const known = standingOf(value, provenance, snapshot)
    const isStored = FOUND.has(known) && wasStored(value, provenance, snapshot)
    // What the agent wrote down itself is not better known for being read back.
    const own = isStored ? 'nobody' : known
    stored ||= isStored
    if (own !== 'named') unnamed.push(hashOf(keyFor(snapshot, provenance), value))
    if (rankOf(own) < rankOf(standing)) continue
    web = isWeb(value) || (web && own === standing)
    standing = own
  }
  return { standing, web, unnamed, ...(stored && { stored }) }
}

/** Standings of what stood somewhere, or of what nobody knows where it stood. */
const FOUND: ReadonlySet<TargetOrigin> = new Set(['returned', 'told', 'loose', 'nobody'])

/** The key under which the targets of whoever answers for the call are remembered: that of the first session that had one. */
export function keyFor({ lineage, principal }: Snapshot, provenance: Provenance | undefined): string {
  const known = (lineage ?? principal).watch.key
  return known === '' ? (provenance?.key ?? '') : known
}

/** What a person has agreed to with a call: its targets, as names. */
export function vouchedFor(snapshot: Snapshot): readonly Spoken[] {
  if (!snapshot.voiced()) return []
  const names = targetsIn(snapshot).flatMap(({ text, values }) =>
    values.length > 0 ? values.map((value) => value.text) : tokensOf(text),
  )
  return names.slice(0, MAX_TARGETS).map((text) => ({ kind: 'name', text }))
}

function rankOf(standing: TargetOrigin): number {
  return BY_TRUST.indexOf(standing)
}

function isWeb({ kind }: Value): boolean {
  return kind === 'url' || kind === 'host'
}

function standingOf(value: Value, provenance: Provenance, snapshot: Snapshot): TargetOrigin {
  if (isName(provenance, value.text)) return 'named'
  if (isInside(value, snapshot)) return 'inside'
  const { origin } = lookUp(provenance, value)
  if (origin === 'output') return 'returned'
  if (origin !== 'said' && origin !== 'unknown') return 'told'
  // What an agent says itself is no phrase of anybody: only the user's words are.
  if (isClaimed(piecesOf(wordsIn(value.text)), provenance)) return 'claimed'
  return value.kind === 'id' ? 'loose' : 'nobody'
}

function wasStored(value: Value, provenance: Provenance, snapshot: Snapshot): boolean {
  const { stored } = (snapshot.lineage ?? snapshot.principal).watch
  if (stored.length === 0) return false
  const key = keyFor(snapshot, provenance)
  const host = isWeb(value) ? hostOf(value.kind, value.text) : ''
  return stored.includes(hashOf(key, value)) || (host !== '' && stored.includes(hashOf(key, hostValue(host))))
}

const MOST_STORED = 32

/** What a call writes down that stood somewhere and that the user has not named: keyed hashes. */
export function copiedIn(snapshot: Snapshot): readonly string[] {
  const provenance = snapshot.voiced() ? snapshot.provenance() : undefined
  if (!provenance) return []
  const sinks = snapshot.tool?.declared?.sinks ?? []
  const copied = snapshot.texts().flatMap(({ path, values }) => {
    const isAct = sinks.length > 0 && isSink(path, sinks)
    return outerOf(values)
      .slice(0, MOST_STORED)
      .filter((value) => isCopied(value, isAct, provenance))
  })
  return copied.slice(0, MOST_STORED).map((value) => hashOf(keyFor(snapshot, provenance), value))
}

function isCopied(value: Value, isAct: boolean, provenance: Provenance): boolean {
  if (isName(provenance, value.text)) return false
  const { origin } = lookUp(provenance, value)
  // Data that a call acts on is judged with that call; and records are noted by their numbers in all honest work.
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

/** Who has named a target that is told in words: whoever has said half of them. */
function standingInWords(text: string, provenance: Provenance): TargetOrigin {
  if (isMostly(text, (token) => isNamedToken(provenance, token))) return 'named'
  const later = (token: string): boolean => isClaimed([{ kind: 'phrase', text: token }], provenance)
  const isSaidLater =
    isMostly(text, later) || isClaimed(piecesOf(wordsIn(text.slice(0, LONGEST))), provenance)
  if (text.length <= LONGEST && lookUp(provenance, fieldOf(text)).origin === 'output') return 'returned'
  return isSaidLater ? 'claimed' : 'nobody'
}

function isNamedBeside({ text, values }: ReadText, provenance: Provenance): boolean {
  if (text.length > 64 || text.includes(' ')) return false
  if (values.some((value) => isName(provenance, value.text))) return true
  return isMostly(text, (token) => isNamedToken(provenance, token))
}

function isMostly(text: string, isSaid: (token: string) => boolean): boolean {
  const tokens = text.length > LONGEST ? [] : tokensOf(text)
  if (tokens.length === 0 || tokens.length > MOST_TOKENS) return false
  return tokens.filter(isSaid).length * 2 >= tokens.length
}
