// Finds the sinks of a call: the values that must be in the scope of its session. Messages name a sink by its path only.

import { isList, isObject, type Json } from '@tollgate/evidence/core'
import type { Destination } from '../../destinations/find.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { hostValue, MOST_VALUES, valuesIn, type Value } from '../../text/values.ts'
import { walk } from '../../text/walk.ts'

/** A value that a call acts on. */
export interface Sink {
  /** The path of the argument; empty for a page. */
  readonly path: string
  /** Its spellings. The sink is in a scope if one of them is. */
  readonly names: readonly string[]
  /** The hostname of the sink. */
  readonly host: string | undefined
  /** The recognisable values in it; none in a plain name. */
  readonly values: readonly Pick<Value, 'kind' | 'text'>[]
}

/** The facts of a call that determine its sinks. */
export type Acting = Pick<Snapshot, 'effect' | 'sideEffect' | 'tool' | 'destinations'>

/**
 * The sinks of a call: the values of the arguments that the policy declares as sinks. Without a declaration, every address, hostname,
 * account and similar value in any argument. In both cases also the destinations of the call.
 */
export function sinksOf(args: Json, snapshot: Acting): readonly Sink[] {
  const declared = snapshot.tool?.declared?.sinks ?? []
  const found =
    declared.length === 0
      ? valuesOf(args)
      : declared.flatMap((path) => sinksAt(args, path.replaceAll('[*]', '')))
  return [...found, ...targetsOf(snapshot, declared, found)]
}

/** Whether a call can have sinks outside a scope: it has a side effect, or it is a read that contacts a destination. */
export function isActing(snapshot: Acting): boolean {
  return snapshot.sideEffect || goingTo(snapshot).length > 0
}

/** The destinations of the call. An e-mail address that a read only mentions is not a destination. */
function goingTo(snapshot: Acting): readonly Destination[] {
  const all = snapshot.destinations()
  return snapshot.sideEffect
    ? all
    : all.filter(({ scheme, from }) => scheme !== 'mailto' || from === 'declared')
}

/** The destinations that no other sink covers. If sinks are declared, addresses in other texts are content. */
function targetsOf(snapshot: Acting, declared: readonly string[], found: readonly Sink[]): readonly Sink[] {
  const hosts = new Set(found.map(({ host }) => host))
  return goingTo(snapshot).flatMap(({ host, at, from }) => {
    const path = dotted(at)
    if (declared.length > 0 && (from === 'found' || declared.some((sink) => isUnder(path, sink)))) return []
    return hosts.has(host) ? [] : [{ path, names: [host], host, values: [hostValue(host)] }]
  })
}

/** The dotted path of a JSON pointer, without list indices. */
function dotted(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.filter((part) => !/^[0-9]{1,16}$/.test(part)).join('.')
}

function isUnder(path: string, declared: string): boolean {
  const plain = declared.replaceAll('[*]', '')
  return path === plain || path.startsWith(`${plain}.`)
}

function valuesOf(args: Json): readonly Sink[] {
  const sinks: Sink[] = []
  walk(args, '', 'read', (path, text) => {
    const values = valuesIn(text)
    sinks.push(...sinksIn(path, values))
    if (isCut(values)) sinks.push(wholeOf(path, text, values))
  })
  return sinks
}

/** Whether the list of values may be cut. Then the whole text must be in the scope. */
function isCut(values: readonly Value[]): boolean {
  return values.length >= MOST_VALUES
}

function wholeOf(path: string, text: string, values: readonly Value[], host?: string): Sink {
  return { path, names: [spelt(text)], host, values }
}

/** The sinks under a declared path: every scalar below it. */
function sinksAt(args: Json, path: string): readonly Sink[] {
  const sinks: Sink[] = []
  for (const value of below(args, path.split('.'))) gather(value, path, sinks)
  return sinks
}

function below(value: Json, names: readonly string[]): readonly Json[] {
  if (isList(value)) return value.flatMap((item) => below(item, names))
  const [name, ...rest] = names
  if (name === undefined) return [value]
  if (!isObject(value) || !Object.hasOwn(value, name)) return []
  return below(value[name] ?? null, rest)
}

function gather(value: Json, path: string, sinks: Sink[]): void {
  if (value === null || value === '') return
  if (isList(value)) {
    for (const item of value) gather(item, path, sinks)
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      sinks.push(...sinksIn(path, valuesIn(name)))
      gather(value[name] ?? null, path, sinks)
    }
  } else if (canBeTarget(value)) sinks.push(...sinksOfText(path, String(value)))
}

const SMALL = /^[+-]?[0-9]{1,7}(?:[.,][0-9]{1,9})?$/
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{4,15}(?:Z|[+-][0-9:]{4,6})?)?$/

/** Whether a scalar can name a target. An amount, an index, a date or a boolean cannot. */
function canBeTarget(value: string | number | boolean): boolean {
  if (typeof value === 'boolean') return false
  const text = String(value).trim()
  return text !== '' && !SMALL.test(text) && !DAY.test(text)
}

/**
 * The sinks in one text: every recognised value, and the whole text unless it consists only of these values. Names of people next to
 * their e-mail addresses are ignored.
 */
function sinksOfText(path: string, text: string): readonly Sink[] {
  const values = valuesIn(text)
  const found = sinksIn(path, values)
  const rest = restOf(text, values)
  const isList = rest === '' || (values.some(({ kind }) => kind === 'email') && !HAS_DIGIT.test(rest))
  if (found.length > 0 && isList && !isCut(values)) return found
  const [only] = found
  // A path or name that contains an address must be in the scope as a whole.
  const whole = wholeOf(path, text, values, only?.host)
  return only && found.length > 1 ? [...found, whole] : [whole]
}

const HAS_DIGIT = /[0-9]/
const NO_LETTER = /[^\p{L}\p{N}]/gu
// The value of a URL without a path is its hostname.
const SCHEME = /https?:\/\/$/iu

/** The letters and digits of a text outside its values. */
function restOf(text: string, values: readonly Value[]): string {
  let rest = ''
  let at = 0
  for (const { start, end } of values) {
    if (start > at) rest += text.slice(at, start).replace(SCHEME, '')
    at = Math.max(at, end)
  }
  return (rest + text.slice(at)).replace(NO_LETTER, '')
}

/** The values of a text as sinks. A value inside another, such as the hostname in a URL, is another spelling of it. */
function sinksIn(path: string, values: readonly Value[]): readonly Sink[] {
  const sinks: (Sink & { readonly values: Value[]; readonly end: number })[] = []
  for (const value of values) {
    const { kind, text, start, end } = value
    const last = sinks.at(-1)
    if (last && start < last.end) {
      // If a URL contains a URL, only the outer one is a destination.
      const own = kind === 'host' && last.host === undefined
      last.values.push(value)
      sinks[sinks.length - 1] = {
        ...last,
        ...(own && { names: [...last.names, spelt(text)], host: text }),
        end: Math.max(end, last.end),
      }
    } else sinks.push({ path, names: [spelt(text)], host: hostIn(kind, text), values: [value], end })
  }
  return sinks
}

function hostIn(kind: Value['kind'], text: string): string | undefined {
  if (kind === 'host') return text
  return kind === 'email' ? text.slice(text.lastIndexOf('@') + 1) : undefined
}

const SPACES = /\s+/gu

/** The normal form of a name, address or pattern. Case, width and extra spaces do not matter. */
export function spelt(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(SPACES, ' ').trim()
  return plain.length > 1 && (plain.startsWith('#') || plain.startsWith('@')) ? plain.slice(1) : plain
}
