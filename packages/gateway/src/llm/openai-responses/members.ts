// The known members of results and their parts. A model might read unknown ones, so they are removed.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { entryOf, word } from '../filter.ts'
import { idOf } from './text.ts'

/** Returns the part of a member to keep; undefined to remove it. */
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

export const TEXT_PART: Members = { ...PART, text: any }
export const PICTURE_PART: Members = { ...PART, detail: short, image_url: any, file_id: any }
export const FILE_PART: Members = {
  ...PART,
  detail: short,
  file_data: any,
  file_id: any,
  file_url: any,
  filename: any,
}
/** The output of a shell command. */
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
  // The provider knows the text of a check by its id.
  acknowledged_safety_checks: each(within({ id, code: short })),
}

/** The members of a result item, with the one that holds the content. */
export function resultMembers(member: string): Members {
  return { ...RESULT, [member]: any }
}

/** Removes unknown members of an object in place. Returns whether there were any. */
export function tidy(object: JsonObject, members: Members): boolean {
  let changed = false
  for (const [name, value] of Object.entries(object)) {
    const kept = entryOf(members, name)?.(value)
    if (kept === value) continue
    changed = true
    if (kept === undefined) Reflect.deleteProperty(object, name)
    else Object.assign(object, { [name]: kept })
  }
  return changed
}
