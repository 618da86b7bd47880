// Removes tools that run at the provider from the body of a request, and what refers to them.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { ToolPlace } from './dialect.ts'
import { isGiven } from './filter.ts'

/** The place of an entry in a list of the body; undefined if there is no list. */
export function placeIn(list: Json | undefined, entry: Json): ToolPlace | undefined {
  if (!isList(list)) return undefined
  return {
    remove() {
      // Sound: the body may be changed.
      const own = list as Json[]
      const at = own.indexOf(entry)
      if (at >= 0) own.splice(at, 1)
    },
  }
}

/** Members that say something about `tools`, and have no meaning without it. */
const ABOUT_TOOLS = ['tool_choice', 'parallel_tool_calls', 'toolConfig'] as const

/**
 * Removes tools from a body. Returns false if the request forces one of them, or any tool while none is left: then it must not be
 * sent.
 */
export function removeTools(body: JsonObject, places: Iterable<ToolPlace>): boolean {
  for (const place of places) place.remove()
  const left = isList(body['tools']) ? body['tools'] : []
  if (!standsWith(body['tool_choice'], left)) return false
  if (isEmpty(body['tools'])) for (const name of ['tools', ...ABOUT_TOOLS]) Reflect.deleteProperty(body, name)
  if (isEmpty(body['mcp_servers'])) Reflect.deleteProperty(body, 'mcp_servers')
  const { container } = body
  if (isObject(container) && isEmpty(container['skills'])) Reflect.deleteProperty(container, 'skills')
  return true
}

function isEmpty(list: Json | undefined): boolean {
  return isList(list) && list.length === 0
}

const FREE: ReadonlySet<Json | undefined> = new Set(['auto', 'none'])
const ANY: ReadonlySet<Json | undefined> = new Set(['required', 'any'])

/** Whether a choice of tools can be followed with the tools that are left. An unknown form cannot. */
function standsWith(choice: Json | undefined, left: readonly Json[]): boolean {
  if (!isGiven(choice)) return true
  const kind = isObject(choice) ? choice['type'] : choice
  if (FREE.has(kind)) return true
  if (ANY.has(kind)) return left.length > 0
  if (!isObject(choice)) return false
  const listed =
    choice['tools'] ?? (isObject(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : null)
  const chosen = isList(listed) ? listed : [choice]
  return chosen.every((one) => isObject(one) && left.some((entry) => isObject(entry) && isMeant(entry, one)))
}

/** Whether a choice means this entry: by name, or by type if it has no name. */
function isMeant(entry: JsonObject, choice: JsonObject): boolean {
  const { tools } = entry
  if (isList(tools) && tools.some((inner) => isObject(inner) && isMeant(inner, choice))) return true
  const name = nameIn(choice)
  return name === undefined ? baseOf(entry) === baseOf(choice) : nameIn(entry) === name
}

function nameIn(entry: JsonObject): Json | undefined {
  const { function: inFunction, custom: inCustom, server_label: label, name } = entry
  const inside = isObject(inFunction) ? inFunction['name'] : isObject(inCustom) ? inCustom['name'] : undefined
  return label ?? name ?? inside
}

const VERSION = /(?:_preview)?(?:_\d{4}_?\d{2}_?\d{2})?$/

/** A type without its version. */
function baseOf({ type }: JsonObject): string {
  return typeof type === 'string' ? type.replace(VERSION, '') : ''
}
