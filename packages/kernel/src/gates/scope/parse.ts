// Parses a scope from outside. Every member is checked strictly and has a size limit.

import { canonicalize, EFFECT_CLASSES, SCOPE_SOURCES, type EffectClass } from '@tollgate/evidence'
import { KernelError } from '../../error.ts'
import type { Scope } from './scope.ts'

const FIELDS: readonly string[] = ['effects', 'tools', 'sinks', 'looked_up', 'until', 'by']
/** The maximum number of tool patterns in a scope. */
export const MOST_TOOLS: number = 256
/** The maximum number of sinks in a scope. */
export const MOST_SINKS: number = 1024
const MAX_NAME_LENGTH = 256
const MAX_SINK_LENGTH = 512
// Limited, because the scope is stored with every call of the session.
const MAX_SCOPE_LENGTH = 1 << 15
// Limited, because receipts contain the tools.
const MAX_TOOLS_BYTES = 12_000

/**
 * Parses a scope. Lists are sorted and without duplicates, so that equal scopes have equal texts.
 *
 * @throws KernelError `REQUEST_INVALID`. The message names the member, never a value.
 */
export function parseScope(value: unknown): Scope {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it must be an object')
  // Sound: an object, not a list. Every member is checked below.
  const fields = value as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).some((name) => !FIELDS.includes(name))
  if (unknown) throw wrong(`it may only have \`${FIELDS.join('`, `')}\``)
  const { effects, tools, sinks, looked_up, until, by } = fields
  const scope: Scope = {
    ...(effects !== undefined && { effects: readEffects(effects) }),
    ...(tools !== undefined && { tools: readTexts('tools', tools, MOST_TOOLS, MAX_NAME_LENGTH) }),
    ...(sinks !== undefined && { sinks: readTexts('sinks', sinks, MOST_SINKS, MAX_SINK_LENGTH) }),
    ...(looked_up !== undefined && readLookedUp(looked_up)),
    ...(until !== undefined && { until: readMoment(until) }),
    by: SCOPE_SOURCES.find((source) => source === by) ?? fail('`by` must be `host`, `user` or `proposed`'),
  }
  if (canonicalize(scope).length > MAX_SCOPE_LENGTH)
    throw wrong(`it is longer than ${MAX_SCOPE_LENGTH} characters`)
  if (bytesOf(scope.tools ?? []) > MAX_TOOLS_BYTES)
    throw wrong(`\`tools\` is longer than ${MAX_TOOLS_BYTES} bytes`)
  return scope
}

function bytesOf(texts: readonly string[]): number {
  return new TextEncoder().encode(canonicalize(texts)).length
}

function readEffects(value: unknown): readonly EffectClass[] {
  const names = readTexts('effects', value, EFFECT_CLASSES.length, MAX_NAME_LENGTH)
  const known = EFFECT_CLASSES.filter((effect) => names.includes(effect))
  return known.length === names.length
    ? known
    : fail(`\`effects\` may only contain \`${EFFECT_CLASSES.join('`, `')}\``)
}

function readTexts(field: string, value: unknown, most: number, longest: number): readonly string[] {
  if (!Array.isArray(value) || value.length > most)
    throw wrong(`\`${field}\` must be a list of at most ${most}`)
  // Sound: a list with unchecked items.
  const items = value as readonly unknown[]
  const texts = items.filter((item): item is string => isPlain(item, longest))
  if (texts.length < items.length) {
    throw wrong(`\`${field}\` must contain texts of 1 to ${longest} characters without control characters`)
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

/** `false` is left out, so that equal scopes have equal texts. */
function readLookedUp(value: unknown): Pick<Scope, 'looked_up'> {
  if (typeof value !== 'boolean') throw wrong('`looked_up` must be true or false')
  return value ? { looked_up: true } : {}
}

const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?Z$/

/** A time in the format of receipts. */
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
