// Reads one call of a browser tool: what it acts on, the elements that it names and the address that it opens.

import { isList, isObject, sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import type { Adapter, BrowserTool, GuardedPage } from '../servers/adapters.ts'

/** A call of a browser tool. */
export interface BrowserRequest {
  readonly tool: BrowserTool
  readonly acts: GuardedPage['acts']
  /** The references of elements, in order; one that is not a text is empty. */
  readonly elements: readonly string[]
  /** The address that it opens, as the agent wrote it. */
  readonly address?: string
  /** Where it goes in the history. */
  readonly history?: 'back' | 'forward' | 'reload'
  /** The server's number of the page. */
  readonly page?: number
}

/** Reads a call. */
export function readRequest(adapter: Adapter, tool: BrowserTool, args: JsonObject): BrowserRequest {
  const history = historyOf(tool, args)
  // If a call names a step in the history, the server ignores an address beside it.
  const address = tool.address === undefined || history ? undefined : args[tool.address]
  const page = adapter.page === undefined ? undefined : args[adapter.page]
  return {
    tool,
    acts: address === undefined ? tool.acts : 'navigation',
    elements: tool.elements.flatMap((path) => valuesAt(args, path)).map((each) => textOf(each)),
    // An address that is not a text is unreadable, so it is denied.
    ...(address !== undefined && { address: textOf(address) }),
    ...(history && { history }),
    ...(typeof page === 'number' && { page }),
  }
}

function historyOf({ history }: BrowserTool, args: JsonObject): BrowserRequest['history'] {
  if (history === undefined || history === 'back') return history
  return (['back', 'forward', 'reload'] as const).find((way) => way === args[history])
}

/** The values at a path such as `uid`, `args[]` or `fields[].target`; an absent argument has none. */
function valuesAt(args: JsonObject, path: string): readonly Json[] {
  const [name = '', member] = path.split('[]')
  const value = args[name]
  if (value === undefined) return []
  if (member === undefined) return [value]
  if (!isList(value)) return ['']
  return member === '' ? value : value.map((item) => (isObject(item) ? (item[member.slice(1)] ?? '') : ''))
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : ''
}

/** A planner reference that is made from the call itself: the digest of session, tool and arguments. */
export function derivePlannerRef(session: string, tool: string, args: Json): string {
  return `sha256:${sha256Hex(JSON.stringify(['tollgate planner_ref', session, tool, args]))}`
}
