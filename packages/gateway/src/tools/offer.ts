// What servers offer, and the names it goes by: `SERVER/TOOL` for a tool, `SERVER:METHOD` for whatever else of a server is
// governed (its faculties).

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Definition } from '@tollgate/kernel/admin'

/** Something that a server offers, under the name that the kernel knows it by. */
export interface Offer {
  readonly name: string
  readonly definition: Definition
}

/** What is governed of a server besides its tools. */
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

/** Whether a server may be called so. */
export function isServerName(name: string): boolean {
  return SERVER.test(name)
}

const USABLE = /^[A-Za-z0-9_.\-/]{1,128}$/

/** Whether a tool of this name can be offered and called at all. */
export function isUsable(tool: string): boolean {
  return USABLE.test(tool)
}

/** The server that a name belongs to. */
export function serverOf(name: string): string {
  const at = name.search(/[/:]/)
  return at === -1 ? name : name.slice(0, at)
}

/** The tool's own name, as its server says it; undefined if the name is that of a faculty. */
export function toolOf(name: string): string | undefined {
  const server = serverOf(name)
  return name.charAt(server.length) === '/' ? name.slice(server.length + 1) : undefined
}

/** What a person has to look at in a definition: all that the server said, and nothing of what we added to it. */
export function saidIn({ content }: Pick<Definition, 'content'>): JsonObject {
  const { tool } = content
  if (isObject(tool)) return tool
  return Object.fromEntries(Object.entries(content).filter(([name]) => !OURS.includes(name)))
}

const OURS = ['kind', 'server', 'origin']

/** Where the server of a definition comes from; undefined if that was not noted. */
export function originIn({ content }: Pick<Definition, 'content'>): string | undefined {
  return textOf(content, 'origin') || undefined
}

/** Whether a value is an object of JSON. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a list of JSON. `Array.isArray` does not narrow a readonly array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The text that a member holds; empty if it holds none. */
export function textOf(said: JsonObject, member: string): string {
  const value = Object.hasOwn(said, member) ? said[member] : undefined
  return typeof value === 'string' ? value : ''
}

/** What a tool's annotations say to a yes-or-no question; undefined if they are silent. */
export function hintOf(said: JsonObject, hint: string): boolean | undefined {
  const { annotations } = said
  if (!isObject(annotations) || !Object.hasOwn(annotations, hint)) return undefined
  const value = annotations[hint]
  return typeof value === 'boolean' ? value : undefined
}
