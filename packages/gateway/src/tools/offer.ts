// The names of offered things: `SERVER/TOOL` for a tool, `SERVER:METHOD` for other governed features of a server (faculties).

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Definition } from '@tollgate/kernel/admin'

/** A definition that a server offers, under its name in the kernel. */
export interface Offer {
  readonly name: string
  readonly definition: Definition
}

/** The governed features of a server besides its tools. */
export const FACULTIES = [
  'resources/read',
  'prompts/get',
  'completion/complete',
  'resources/subscribe',
  'resources/unsubscribe',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
] as const

const SERVER = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Whether a name is valid for a server. */
export function isServerName(name: string): boolean {
  return SERVER.test(name)
}

const USABLE = /^[A-Za-z0-9_.\-/]{1,128}$/

/** Whether a tool with this name can be offered and called. */
export function isUsable(tool: string): boolean {
  return USABLE.test(tool)
}

/** The server of a name. */
export function serverOf(name: string): string {
  const at = name.search(/[/:]/)
  return at === -1 ? name : name.slice(0, at)
}

/** The tool's name on its server; undefined for a faculty. */
export function toolOf(name: string): string | undefined {
  const server = serverOf(name)
  return name.charAt(server.length) === '/' ? name.slice(server.length + 1) : undefined
}

/** The part of a definition that comes from the server, without the members that the gateway added. */
export function serverPart({ content }: Pick<Definition, 'content'>): JsonObject {
  const { tool } = content
  if (isObject(tool)) return tool
  return Object.fromEntries(Object.entries(content).filter(([name]) => !OURS.includes(name)))
}

const OURS = ['kind', 'server', 'origin']

/** The origin of the server of a definition; undefined if it was not recorded. */
export function originIn({ content }: Pick<Definition, 'content'>): string | undefined {
  return textOf(content, 'origin') || undefined
}

/** Whether a value is a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a JSON array. `Array.isArray` does not narrow a readonly array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The text of a member; empty if it has none. */
export function textOf(listed: JsonObject, member: string): string {
  const value = Object.hasOwn(listed, member) ? listed[member] : undefined
  return typeof value === 'string' ? value : ''
}

/** A boolean annotation of a tool; undefined if it is not set. */
export function hintOf(listed: JsonObject, hint: string): boolean | undefined {
  const { annotations } = listed
  if (!isObject(annotations) || !Object.hasOwn(annotations, hint)) return undefined
  const value = annotations[hint]
  return typeof value === 'boolean' ? value : undefined
}
