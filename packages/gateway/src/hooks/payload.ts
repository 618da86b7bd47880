// Reads members of payloads. Unknown members are tolerated, because each version of a client adds some; a missing or odd one that
// the decision needs is refused.

import { isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { PayloadFault } from './event.ts'

const MAX_ID = 120
/** Ids and names of tools: visible characters without spaces. They become parts of names in receipts. */
const ID = /^[\x21-\x7e]{1,120}$/
const MAX_PATH = 4096

/** An id or a name that must be present. @throws PayloadFault */
export function idIn(payload: JsonObject, member: string): string {
  const value = payload[member]
  if (typeof value === 'string' && ID.test(value)) return value
  throw new PayloadFault(`\`${member}\` must be a text of 1 to ${MAX_ID} visible characters`)
}

/** As `idIn`; undefined if the member is missing, null or empty. */
export function optionalId(payload: JsonObject, member: string): string | undefined {
  const value = payload[member]
  return value === undefined || value === null || value === '' ? undefined : idIn(payload, member)
}

/** A text that must be present. @throws PayloadFault */
export function textIn(payload: JsonObject, member: string): string {
  const value = payload[member]
  if (typeof value === 'string') return value
  throw new PayloadFault(`\`${member}\` must be a text`)
}

/** The working directory; undefined if the payload has none. @throws PayloadFault for a path that is not absolute. */
export function directoryIn(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const isPath =
    typeof value === 'string' && value.length <= MAX_PATH && /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(value)
  if (isPath && !value.includes('\0')) return value
  throw new PayloadFault('the working directory must be an absolute path')
}

/** The arguments of a call: an object, or an object as JSON text. @throws PayloadFault */
export function argsIn(value: Json | undefined): JsonObject {
  if (value === undefined || value === null) return {}
  const args = typeof value === 'string' ? parsed(value) : value
  if (isObject(args)) return args
  throw new PayloadFault('the arguments of the call must be an object')
}

/** A value that may be JSON text. Other texts stay as they are. */
export function outputIn(value: Json | undefined): Json {
  if (typeof value !== 'string') return value ?? null
  return /^\s*[[{]/.test(value) ? (parsed(value) ?? value) : value
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    // The error contains no content, but the caller has the better message.
    return undefined
  }
}
