// What goes on of a reply besides its words and calls: only members that are known, and only what they can be.

import type { Json, JsonObject } from '@tollgate/evidence'

/** A JSON value that is an object and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A JSON value that is a list. */
export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** The members of an object that are named, in the order of the names. What is not known does not go on. */
export function only(object: JsonObject, names: readonly string[]): Record<string, Json> {
  const kept: Record<string, Json> = {}
  for (const name of names) {
    const value = object[name]
    if (value !== undefined && Object.hasOwn(object, name)) kept[name] = value
  }
  return kept
}

const WORD = /^[\w.:/-]{0,128}$/
const MOST_DEPTH = 6

/** Counts and short words, however they are nested, such as a usage; undefined for what is neither. Long texts do not pass. */
export function figures(value: Json | undefined, depth = 0): Json | undefined {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return WORD.test(value) ? value : undefined
  if (value === undefined || depth > MOST_DEPTH) return undefined
  if (isList(value)) return value.map((item) => figures(item, depth + 1)).filter((item) => item !== undefined)
  const kept: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) {
    const figure = WORD.test(name) ? figures(member, depth + 1) : undefined
    if (figure !== undefined) kept[name] = figure
  }
  return kept
}

/** Log probabilities of exactly these words; null for any others, which may be those of a call. */
export function logprobsOf(tokens: Json | undefined, text: string): Json {
  if (!isList(tokens) || !tokens.every(isObject)) return null
  if (tokens.map(({ token }) => (typeof token === 'string' ? token : '\0')).join('') !== text) return null
  return tokens.map((token) => ({
    ...probability(token),
    top_logprobs: isList(token['top_logprobs'])
      ? token['top_logprobs'].filter(isObject).map(probability)
      : [],
  }))
}

function probability({ token = '', logprob, bytes }: JsonObject): JsonObject {
  return { token, logprob: figures(logprob) ?? null, bytes: figures(bytes) ?? null }
}
