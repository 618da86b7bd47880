// Listings: what servers offer, page by page; of several servers one after the other, under names that say whose they are.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Faculty, ServerLink } from './link.ts'
import { without } from './protocol.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { ListMethod } from './methods.ts'
import { offeredItem, type Listed } from './offered.ts'
import type { ProxyAnswer, Reach, Turn } from './proxy.ts'
import { UpstreamFault, type UpstreamAnswer } from './server/upstream.ts'
import { isTold } from './told.ts'

/** What can be listed, and the member of the result that holds it. */
type ListMember = 'tools' | Listed

/** One page of a listing. */
export async function listAll(
  reach: Reach,
  method: ListMethod,
  member: ListMember,
  params: JsonObject,
  turn: Turn,
): Promise<ProxyAnswer> {
  const { cursor } = params
  if (cursor !== undefined && typeof cursor !== 'string') throw badCursor()
  const [only] = reach.links
  if (!reach.merged && only) return { result: await page(only, method, member, cursor, turn) }
  const { at, inner } = readCursor(cursor, reach.links)
  const link = reach.links[at]
  if (!link) return { result: { [member]: [] } }
  const result = await pageOrNothing(link, method, member, inner, turn)
  const next = result['nextCursor']
  const following =
    typeof next === 'string' ? cursorOf(at, next) : at + 1 < reach.links.length ? cursorOf(at + 1) : undefined
  const items = itemsIn(result, member).map((item) => underItsServer(link, member, item))
  return { result: { [member]: items, ...(following !== undefined && { nextCursor: following }) } }
}

const CAPABILITY: Readonly<Record<ListMember, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resources',
}

async function page(
  link: ServerLink,
  method: ListMethod,
  member: ListMember,
  cursor: string | undefined,
  turn: Turn,
): Promise<JsonObject> {
  const { capabilities } = await link.hello()
  if (capabilities[CAPABILITY[member]] === undefined) {
    throw new RpcFault(CODE.methodNotFound, `the server \`${link.name}\` has no ${CAPABILITY[member]}`)
  }
  // Names and descriptions are read by models: nothing is shown of a server that nobody has looked at.
  const faculty = FACULTY[member]
  if (faculty && !link.isPinned(faculty)) return { [member]: [] }
  if (cursor !== undefined && !link.cursors.has(cursor)) throw badCursor()
  const got = await newest(link, method, cursor, turn)
  // Why not is the server's own word.
  if (!got.ok) throw new RpcFault(CODE.internal, `the server \`${link.name}\` does not list its ${member}`)
  const { nextCursor, ttlMs, cacheScope } = got.result
  const following = typeof nextCursor === 'string' && isCursor(nextCursor) ? nextCursor : undefined
  link.cursors.keep(following)
  const items = itemsIn(got.result, member)
  return {
    ...(member === 'tools'
      ? governed(link, items, ttlMs)
      : { [member]: told(member, items), ...lasting(ttlMs) }),
    ...(following !== undefined && { nextCursor: following }),
    ...(cacheScope === 'public' && { cacheScope: 'private' }),
  }
}

const MAX_ATTEMPTS = 5

/** An answer from before a change must not stand for what is offered now: then it is asked again. */
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
  throw new RpcFault(CODE.internal, `what \`${link.name}\` offers changes faster than it can be asked`)
}

const FACULTY: Readonly<Partial<Record<ListMember, Faculty>>> = {
  prompts: 'prompts/get',
  resources: 'resources/read',
  resourceTemplates: 'resources/read',
}

function lasting(ttlMs: Json | undefined): JsonObject {
  return typeof ttlMs === 'number' ? { ttlMs } : {}
}

// Opaque, and for no reader but the server: no text fits into it.
const CURSOR = /^[\x21-\x7e]{1,512}$/

function isCursor(cursor: string): boolean {
  return CURSOR.test(cursor) && isTold(cursor)
}

function told(member: Listed, items: readonly Json[]): readonly JsonObject[] {
  return items.map((item) => offeredItem(member, item)).filter((item) => item !== undefined)
}

/** Tools as a person has approved of them; the others as blocked. */
function governed(link: ServerLink, tools: readonly Json[], ttlMs: Json | undefined): JsonObject {
  const taken = link.take(tools)
  const all = taken.length === tools.length && taken.every((tool, i) => tool === tools[i])
  // What is blocked now may be approved in a moment.
  return {
    tools: taken.map(withoutHeaders),
    ...(all ? lasting(ttlMs) : lasting(ttlMs === undefined ? undefined : 0)),
  }
}

/** A tool without its wishes for HTTP headers: those are between us and the server, and its client sends them for it. */
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

/** One server of several that is down, or has nothing of the kind, does not hide the others. */
async function pageOrNothing(
  link: ServerLink,
  method: ListMethod,
  member: ListMember,
  cursor: string | undefined,
  turn: Turn,
): Promise<JsonObject> {
  try {
    return await page(link, method, member, cursor, turn)
  } catch (fault) {
    const absent = fault instanceof UpstreamFault || fault instanceof RpcFault
    if (absent && cursor === undefined) return { [member]: [] }
    throw fault
  }
}

function underItsServer(link: ServerLink, member: ListMember, item: Json): Json {
  if ((member !== 'tools' && member !== 'prompts') || !isObject(item)) return item
  const { name } = item
  return typeof name === 'string' ? { ...item, name: `${link.name}/${name}` } : item
}

function itemsIn(result: JsonObject, member: ListMember): readonly Json[] {
  const items = result[member]
  return isList(items) ? items : []
}

function cursorOf(at: number, inner?: string): string {
  return Buffer.from(JSON.stringify(inner === undefined ? [at] : [at, inner])).toString('base64url')
}

function readCursor(
  cursor: string | undefined,
  links: readonly ServerLink[],
): { at: number; inner: string | undefined } {
  if (cursor === undefined) return { at: 0, inner: undefined }
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [at, inner] = Array.isArray(read) ? (read as readonly unknown[]) : []
    const right = typeof at === 'number' && Number.isInteger(at) && at >= 0 && at < links.length
    if (right && (inner === undefined || typeof inner === 'string')) return { at, inner }
  } catch {
    // Not one of ours: the same answer as below.
  }
  throw badCursor()
}

function badCursor(): RpcFault {
  return new RpcFault(CODE.invalidParams, 'the cursor is not one that was given out here')
}
