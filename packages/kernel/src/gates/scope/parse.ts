// Reading a scope that comes from outside: every field strictly, with limits on all of it. Where it comes from is the door's to
// say, never the sender's.

import { canonicalize, EFFECT_CLASSES, SCOPE_SOURCES, type EffectClass } from '@tollgate/evidence'
import { KernelError } from '../../error.ts'
import type { Scope } from './scope.ts'

const FIELDS: readonly string[] = ['effects', 'tools', 'sinks', 'looked_up', 'until', 'by']
/** Most patterns of tools in a scope. */
export const MOST_TOOLS: number = 256
/** Most sinks in a scope. */
export const MOST_SINKS: number = 1024
const MAX_NAME = 256
const MAX_SINK = 512
// The whole of it: it is kept beside every call of the session.
const MAX_SCOPE = 1 << 15
// Its tools stand in a receipt, which has room for so many bytes of them.
const MAX_TOOLS = 12_000

/**
 * Reads a scope. The lists come back sorted and without repetitions, so that two that say the same are the same.
 *
 * @throws KernelError `REQUEST_INVALID`, which names the field and never a value.
 */
export function parseScope(value: unknown): Scope {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it must be an object')
  // Sound: an object that is no list; every field is looked at.
  const fields = value as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).some((name) => !FIELDS.includes(name))
  if (unknown) throw wrong(`it has only \`${FIELDS.join('`, `')}\``)
  const { effects, tools, sinks, looked_up, until, by } = fields
  const scope: Scope = {
    ...(effects !== undefined && { effects: readEffects(effects) }),
    ...(tools !== undefined && { tools: readTexts('tools', tools, MOST_TOOLS, MAX_NAME) }),
    ...(sinks !== undefined && { sinks: readTexts('sinks', sinks, MOST_SINKS, MAX_SINK) }),
    ...(looked_up !== undefined && readLookedUp(looked_up)),
    ...(until !== undefined && { until: readMoment(until) }),
    by: SCOPE_SOURCES.find((source) => source === by) ?? fail('`by` must be `host`, `user` or `proposed`'),
  }
  if (canonicalize(scope).length > MAX_SCOPE) throw wrong(`it is longer than ${MAX_SCOPE} characters`)
  if (bytesOf(scope.tools ?? []) > MAX_TOOLS) throw wrong(`\`tools\` are longer than ${MAX_TOOLS} bytes`)
  return scope
}

function bytesOf(texts: readonly string[]): number {
  return new TextEncoder().encode(canonicalize(texts)).length
}

function readEffects(value: unknown): readonly EffectClass[] {
  const names = readTexts('effects', value, EFFECT_CLASSES.length, MAX_NAME)
  const known = EFFECT_CLASSES.filter((effect) => names.includes(effect))
  return known.length === names.length ? known : fail(`\`effects\` are of \`${EFFECT_CLASSES.join('`, `')}\``)
}

function readTexts(field: string, value: unknown, most: number, longest: number): readonly string[] {
  if (!Array.isArray(value) || value.length > most) throw wrong(`\`${field}\` is a list of at most ${most}`)
  // Sound: a list, of which nothing is believed yet.
  const items = value as readonly unknown[]
  const texts = items.filter((item): item is string => isPlain(item, longest))
  if (texts.length < items.length) {
    throw wrong(`\`${field}\` holds texts of 1 to ${longest} characters without control characters`)
  }
  return [...new Set(texts)].sort()
}

function isPlain(item: unknown, longest: number): item is string {
  if (typeof item !== 'string' || item === '' || item.length > longest || !item.isWellFormed()) return false
  for (let i = 0; i < item.length; i++) {
    const code = item.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false
  }
  return item.trim() !== ''
}

/** What is not so is left out: two scopes that say the same are the same. */
function readLookedUp(value: unknown): Pick<Scope, 'looked_up'> {
  if (typeof value !== 'boolean') throw wrong('`looked_up` is true or false')
  return value ? { looked_up: true } : {}
}

const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?Z$/

/** A moment as receipts write it, whatever fractions it came with. */
function readMoment(value: unknown): string {
  const time = typeof value === 'string' && MOMENT.test(value) ? Date.parse(value) : NaN
  if (Number.isNaN(time)) throw wrong('`until` is a time such as `2026-01-31T12:00:00Z`')
  return new Date(time).toISOString()
}

function wrong(problem: string): KernelError {
  return new KernelError('REQUEST_INVALID', `the scope cannot be used: ${problem}`)
}

function fail(problem: string): never {
  throw wrong(problem)
}
