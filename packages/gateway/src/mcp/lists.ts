// Lists the tools, prompts and resources of one server, page by page.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { ServerLink } from './link.ts'
import { without } from './protocol.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { ListMethod } from './methods.ts'
import { offeredItem, type Listed } from './offered.ts'
import type { Turn } from './proxy.ts'
import type { UpstreamAnswer } from './server/upstream.ts'
import { isSafeText } from './safe-text.ts'

/** The kinds of lists: the member of the result with the items, the server's capability, and what must be approved. */
export const LISTS = {
  'tools/list': { member: 'tools', capability: 'tools', faculty: undefined },
  'prompts/list': { member: 'prompts', capability: 'prompts', faculty: 'prompts/get' },
  'resources/list': { member: 'resources', capability: 'resources', faculty: 'resources/read' },
  'resources/templates/list': {
    member: 'resourceTemplates',
    capability: 'resources',
    faculty: 'resources/read',
  },
} as const

/** One page of the list of a server. @throws RpcFault or UpstreamFault. */
export async function listPage(
  link: ServerLink,
  method: ListMethod,
  cursor: string | undefined,
  turn: Turn,
): Promise<JsonObject> {
  const { member, capability, faculty } = LISTS[method]
  const { capabilities } = await link.hello()
  if (capabilities[capability] === undefined) {
    throw new RpcFault(CODE.methodNotFound, `the server \`${link.name}\` has no ${capability}`)
  }
  // Models read names and descriptions, so an unapproved server shows none.
  if (faculty && !link.isPinned(faculty)) return { [member]: [] }
  if (cursor !== undefined && !link.cursors.has(cursor)) throw badCursor()
  const got = await newest(link, method, cursor, turn)
  // The server's own error text is not forwarded.
  if (!got.ok) throw new RpcFault(CODE.internal, `the server \`${link.name}\` refused to list its ${member}`)
  const { nextCursor, ttlMs, cacheScope } = got.result
  const following = typeof nextCursor === 'string' && isCursor(nextCursor) ? nextCursor : undefined
  if (following !== undefined) link.cursors.set(following, true)
  const items = itemsIn(got.result, member)
  return {
    ...(member === 'tools'
      ? approvedTools(link, items, ttlMs)
      : { [member]: listedItems(member, items), ...ttlOf(ttlMs) }),
    ...(following !== undefined && { nextCursor: following }),
    ...(cacheScope === 'public' && { cacheScope: 'private' }),
  }
}

const MAX_ATTEMPTS = 5

/** Asks again if the offer changed meanwhile, so that an outdated answer is never used. */
async function newest(
  link: ServerLink,
  method: ListMethod,
  cursor: string | undefined,
  { signal }: Turn,
): Promise<UpstreamAnswer> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { generation } = link
    const got = await link.upstream.request(method, cursor === undefined ? {} : { cursor }, { signal })
    if (generation === link.generation) return got
  }
  throw new RpcFault(CODE.internal, `the lists of \`${link.name}\` change faster than they can be read`)
}

function ttlOf(ttlMs: Json | undefined): JsonObject {
  return typeof ttlMs === 'number' ? { ttlMs } : {}
}

// Opaque, for the server only. It must not hold readable text.
const CURSOR = /^[\x21-\x7e]{1,512}$/

function isCursor(cursor: string): boolean {
  return CURSOR.test(cursor) && isSafeText(cursor)
}

function listedItems(member: Listed, items: readonly Json[]): readonly JsonObject[] {
  return items.map((item) => offeredItem(member, item)).filter((item) => item !== undefined)
}

/** Approved tools as they are, others as blocked. */
function approvedTools(link: ServerLink, tools: readonly Json[], ttlMs: Json | undefined): JsonObject {
  const taken = link.take(tools)
  const all = taken.length === tools.length && taken.every((tool, i) => tool === tools[i])
  // A blocked tool may be approved at any moment.
  return {
    tools: taken.map(withoutHeaders),
    ...(all ? ttlOf(ttlMs) : ttlOf(ttlMs === undefined ? undefined : 0)),
  }
}

/** A tool without its `x-mcp-header` marks. The gateway sends those headers to the server itself. */
function withoutHeaders(tool: JsonObject): JsonObject {
  const { inputSchema } = tool
  if (!isObject(inputSchema) || !textOf(inputSchema).includes('"x-mcp-header"')) return tool
  return { ...tool, inputSchema: bare(inputSchema) }
}

function bare(schema: JsonObject): JsonObject {
  const { properties } = schema
  const own = without(schema, 'x-mcp-header')
  if (!isObject(properties)) return own
  const inner = Object.entries(properties).map(([name, each]): [string, Json] => [
    name,
    isObject(each) ? bare(each) : each,
  ])
  return { ...own, properties: Object.fromEntries(inner) }
}

export function itemsIn(result: JsonObject, member: string): readonly Json[] {
  const items = result[member]
  return isList(items) ? items : []
}

export function badCursor(): RpcFault {
  return new RpcFault(CODE.invalidParams, 'unknown cursor: start again without one')
}
