// The names of tools. Every coding agent has tools of its own for the same few things, under other names. One policy must fit all of
// them, so the door judges them under one name and with one name for each argument.

import { isList, type Json, type JsonObject } from '@tollgate/evidence'
import { PayloadFault, type HookCall } from './event.ts'
import { filesInPatch } from './patch.ts'

/** A tool of a client: its canonical name, and the arguments that have another name there. */
interface ToolRow {
  readonly tool: string
  /** From the name of the client to the canonical one. */
  readonly args?: Readonly<Record<string, string>>
}

/** The tools of one client by the client's names. */
export type ToolTable = Readonly<Record<string, ToolRow>>

/** The canonical tools, with what their arguments mean. */
export const BUILTIN = {
  shell: 'builtin/shell',
  read: 'builtin/read',
  write: 'builtin/write',
  edit: 'builtin/edit',
  delete: 'builtin/delete',
  patch: 'builtin/patch',
  search: 'builtin/search',
  fetch: 'builtin/fetch',
  webSearch: 'builtin/web_search',
  agent: 'builtin/agent',
  todo: 'builtin/todo',
} as const

/** A tool of no client. The gateway always denies it, so a receipt of it proves that a hook asks. */
export const CANARY = { name: 'tollgate_canary', tool: 'builtin/canary' } as const

const MCP = /^mcp__(.+?)__(.+)$/
/** Spellings of the names above. A server could otherwise offer a tool that passes for one of them. */
const RESERVED = /^(?:mcp__)?(?:tollgate__)?builtin(?:__|\/|$)/

/** The names that tools have outside of their client. */
interface Naming {
  readonly client: string
  readonly tools: ToolTable
}

/**
 * A call under canonical names. A tool of an MCP server keeps its spelling, which the kernel resolves. Any other tool without a row is
 * `CLIENT/NAME`, so that it can never pass for a tool with a row.
 *
 * @throws PayloadFault if an argument has two values after the renaming, or if the name of an MCP server is reserved.
 */
export function canonicalCall({ client, tools }: Naming, name: string, given: JsonObject): HookCall {
  if (name === CANARY.name) return { tool: CANARY.tool, args: {} }
  const row = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (!row) return MCP.test(name) ? serverCall(name, given) : { tool: `${client}/${name}`, args: given }
  const args = renamed(given, row.args ?? {})
  return { tool: row.tool, args: row.tool === BUILTIN.patch ? withFiles(args) : args }
}

/** A call of a tool of an MCP server, by any spelling of its name. @throws PayloadFault for a reserved name. */
export function serverCall(tool: string, args: JsonObject): HookCall {
  if (!RESERVED.test(tool)) return { tool, args }
  throw new PayloadFault('the MCP server has the reserved name `builtin`; rename it')
}

/** The canonical form `SERVER/TOOL` of a client's spelling of an MCP tool; undefined for another name. */
export function serverTool(name: string): string | undefined {
  const [, server, tool] = MCP.exec(name) ?? []
  return server === undefined ? undefined : `${server}/${tool}`
}

function renamed(given: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(given).map(([name, value]): readonly [string, Json] => {
    return [Object.hasOwn(names, name) ? (names[name] ?? name) : name, value]
  })
  if (new Set(entries.map(([name]) => name)).size === entries.length) return Object.fromEntries(entries)
  throw new PayloadFault('an argument of the call is given under two names')
}

/** Adds the files of a patch, so that a policy can judge them. An unreadable patch gets none. */
function withFiles(args: JsonObject): JsonObject {
  const { patch } = args
  const text = isList(patch) ? patch.at(-1) : patch
  const files = typeof text === 'string' ? filesInPatch(text) : undefined
  if ('paths' in args || 'deletes' in args) throw new PayloadFault('a patch must not state its files')
  return files ? { ...args, paths: files.written, deletes: files.deleted } : args
}
