// The members that results and their parts have. Nobody knows what a model reads of any others, so that they are taken out.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { word } from '../filter.ts'
import { idOf } from './text.ts'

/** Gives what stays of a member; undefined if nothing does. */
type Keep = (value: Json) => Json | undefined

/** The members that an object may have. */
export type Members = Readonly<Record<string, Keep>>

const any: Keep = (value) => value
const id: Keep = (value) => (value === null ? null : idOf(value))
const short: Keep = (value) => (value === null ? null : word(value))
const figure: Keep = (value) => (value === null || typeof value === 'number' ? value : undefined)

const within =
  (members: Members): Keep =>
  (value) => {
    if (value === null) return null
    if (!isObject(value)) return undefined
    const copy = { ...value }
    return tidy(copy, members) ? copy : value
  }

const each =
  (keep: Keep): Keep =>
  (value) => {
    if (!isList(value)) return value === null ? null : undefined
    const kept = value.map(keep).filter((entry) => entry !== undefined)
    const isSame = kept.length === value.length && kept.every((entry, index) => entry === value[index])
    return isSame ? value : kept
  }

const PART: Members = { type: any, prompt_cache_breakpoint: within({ mode: short }) }

/** A part that is text. */
export const TEXT_PART: Members = { ...PART, text: any }
/** A part that is a picture. */
export const PICTURE_PART: Members = { ...PART, detail: short, image_url: any, file_id: any }
/** A part that is a file. */
export const FILE_PART: Members = {
  ...PART,
  detail: short,
  file_data: any,
  file_id: any,
  file_url: any,
  filename: any,
}
/** What a command of a shell has put out. */
export const COMMAND: Members = {
  stdout: any,
  stderr: any,
  outcome: within({ type: short, exit_code: figure }),
}

const RESULT: Members = {
  type: any,
  id,
  call_id: id,
  status: short,
  caller: within({ type: short, caller_id: id }),
  execution: short,
  max_output_length: figure,
  // What a check says comes from the provider, which knows it by its id.
  acknowledged_safety_checks: each(within({ id, code: short })),
}

/** An item that is a result, and the member that holds it. */
export function resultMembers(member: string): Members {
  return { ...RESULT, [member]: any }
}

/** Takes out of an object, in place, what is not known; whether there was anything. */
export function tidy(object: JsonObject, members: Members): boolean {
  let changed = false
  for (const [name, value] of Object.entries(object)) {
    const kept = Object.hasOwn(members, name) ? members[name]?.(value) : undefined
    if (kept === value) continue
    changed = true
    if (kept === undefined) Reflect.deleteProperty(object, name)
    else Object.assign(object, { [name]: kept })
  }
  return changed
}
