// Toolsets: one entry of a request declares a family of tools, and calls name the family and the member.

import { isObject, type Json } from '@tollgate/evidence'
import { entryOf } from '../filter.ts'

const POINTER = 'left_click left_click_drag left_mouse_down left_mouse_up right_click middle_click mouse_move'
const BOTH = `${POINTER} double_click triple_click scroll type key hold_key wait screenshot zoom`
const BROWSER =
  'navigate list_tabs new_tab switch_tab close_tab read_page get_page_text read_console read_network'
const ON_PAGES = 'find form_input file_upload scroll_to hover javascript_exec'

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['browser', `${BOTH} ${BROWSER} ${ON_PAGES}`.split(' ')],
  ['computer', `${BOTH} cursor_position`.split(' ')],
])

/** The family that a type of tool declares, such as `browser`; undefined if it is no toolset. */
export function toolsetOf(type: string): string | undefined {
  const family = /^([a-z]+)_toolset_\d{8}$/.exec(type)?.[1]
  return family !== undefined && MEMBERS.has(family) ? family : undefined
}

/** The enabled members of a family, by their names in the policy. */
export function membersOf(family: string, configs: Json | undefined): readonly string[] {
  const members = MEMBERS.get(family) ?? []
  return members.filter((member) => !isOff(configs, member)).map((member) => `${family}/${member}`)
}

/** The name of a call in the policy: its tool, or the member of a toolset; undefined if it has none. */
export function memberName(toolset: Json | undefined, name: Json | undefined): string | undefined {
  if (typeof name !== 'string' || name === '') return undefined
  if (toolset === undefined || toolset === null) return name
  return typeof toolset === 'string' && MEMBERS.has(toolset) ? `${toolset}/${name}` : undefined
}

/** Whether a tool's name looks like that of a toolset member. */
export function looksLikeMember(name: string): boolean {
  return MEMBERS.has(name.split('/', 1)[0] ?? '') && name.includes('/')
}

function isOff(configs: Json | undefined, member: string): boolean {
  const config = isObject(configs) ? entryOf(configs, member) : undefined
  return isObject(config) && config['enabled'] === false
}
