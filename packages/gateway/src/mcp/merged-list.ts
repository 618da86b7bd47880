// The list of all servers of an endpoint. It is one page if it fits, because some clients ignore `nextCursor`.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { ServerLink } from './link.ts'
import { badCursor, itemsIn, listPage, LISTS } from './lists.ts'
import { RpcFault, textOf } from './message.ts'
import type { ListMethod } from './methods.ts'
import type { ProxyAnswer, Reach, Turn } from './proxy.ts'
import { UpstreamFault } from './server/upstream.ts'
import { nameTools } from './tool-names.ts'
import { orLate } from './waiting.ts'

/** The largest page. Clients read messages of at least this size. */
const MAX_ITEMS = 5000
const MAX_LENGTH = 4 << 20
/** The number of pages that are read of one server for one page of ours. */
const MAX_PAGES = 100

/** One page of a list. @throws RpcFault or UpstreamFault. */
export async function listAll(
  reach: Reach,
  method: ListMethod,
  { cursor }: JsonObject,
  turn: Turn,
): Promise<ProxyAnswer> {
  if (cursor !== undefined && typeof cursor !== 'string') throw badCursor()
  const [only] = reach.links
  if (!reach.merged && only) return { result: await listPage(only, method, cursor, turn) }
  const places = cursor === undefined ? reach.links.map((_, at) => ({ at })) : readCursor(cursor, reach)
  const read = cursor === undefined ? listInTime : listFrom
  // At once, so that the time is that of the slowest server.
  const lists = await Promise.all(places.map((place) => read(reach, method, place, turn)))
  const { pages, next } = joined(lists)
  // All servers have listed their tools by now, so a name of two tools is noticed.
  const items = pages.flatMap(({ link, items: own }) => underServer(reach, method, link, own, turn))
  return {
    result: { [LISTS[method].member]: items, ...(next.length > 0 && { nextCursor: cursorOf(next) }) },
  }
}

/** A place in the list of one server. */
interface ListPlace {
  /** The position of the server. */
  readonly at: number
  /** Its cursor; undefined for the beginning. */
  readonly inner?: string
}

/** One page of a server. */
interface ServerPage {
  readonly link: ServerLink
  readonly place: ListPlace
  readonly items: readonly Json[]
}

/** ListedPages in their order, and the places where the list continues. */
interface ListedPages {
  readonly pages: readonly ServerPage[]
  readonly next: readonly ListPlace[]
}

/** The pages of all servers, as far as they fit into one page. */
function joined(lists: readonly ListedPages[]): ListedPages {
  const room = new Room()
  return lists.reduce<ListedPages>(
    (all, { pages, next }) => {
      const end = pages.findIndex(({ items }) => !room.take(items))
      const first = pages[end]
      return {
        pages: [...all.pages, ...(first ? pages.slice(0, end) : pages)],
        next: [...all.next, ...(first ? [first.place] : next)],
      }
    },
    { pages: [], next: [] },
  )
}

/** The room in one page of ours. */
class Room {
  #items = 0
  #length = 0

  /** Whether the items fit. The first ones always do. */
  take(items: readonly Json[]): boolean {
    const isFirst = this.#items === 0
    this.#items += items.length
    this.#length += textOf(items).length
    return isFirst || (this.#items <= MAX_ITEMS && this.#length <= MAX_LENGTH)
  }
}

/** The list of a server from its beginning. A slow server must not delay the others: its list comes with the next page. */
async function listInTime(
  reach: Reach,
  method: ListMethod,
  place: ListPlace,
  turn: Turn,
): Promise<ListedPages> {
  const link = reach.links[place.at]
  // For a client that ignores the next page: the gateway tells it when the tools are there.
  let isListed = method !== 'tools/list'
  const listed = isListed ? undefined : link?.offered('').finally(() => (isListed = true))
  listed?.catch(() => undefined)
  const list = await orLate(listFrom(reach, method, place, turn), reach.patience)
  if (list) return list
  if (link && !isListed) listed?.then(() => reach.onListed(link)).catch(() => undefined)
  return { pages: [], next: [place] }
}

/** Reads the list of one server from a place on, as far as it fits. */
async function listFrom(
  { links }: Reach,
  method: ListMethod,
  from: ListPlace,
  turn: Turn,
): Promise<ListedPages> {
  const link = links[from.at]
  const room = new Room()
  const pages: ServerPage[] = []
  let place: ListPlace | undefined = from
  while (link && place && pages.length < MAX_PAGES) {
    const { inner }: ListPlace = place
    const isGiven = place === from && inner !== undefined
    const result: JsonObject = await listPage(link, method, inner, turn).catch((fault: unknown) =>
      absent(fault, isGiven),
    )
    const items = itemsIn(result, LISTS[method].member)
    if (!room.take(items)) break
    pages.push({ link, place, items })
    const { nextCursor } = result
    place = typeof nextCursor === 'string' ? { at: from.at, inner: nextCursor } : undefined
  }
  return { pages, next: place ? [place] : [] }
}

/** One server that is down, or has no such items, does not hide the others. Only a page that the client asked for can fail. */
function absent(fault: unknown, isGiven: boolean): JsonObject {
  if (!isGiven && (fault instanceof UpstreamFault || fault instanceof RpcFault)) return {}
  throw fault
}

function underServer(
  reach: Reach,
  method: ListMethod,
  { name: server }: ServerLink,
  items: readonly Json[],
  turn: Turn,
): readonly Json[] {
  if (method === 'tools/list') return nameTools(reach, turn.caller, server, items.filter(isObject))
  if (method !== 'prompts/list') return items
  return items.map((item) =>
    isObject(item) && typeof item['name'] === 'string'
      ? { ...item, name: `${server}/${item['name']}` }
      : item,
  )
}

function cursorOf(places: readonly ListPlace[]): string {
  const text = JSON.stringify(places.map(({ at, inner }) => (inner === undefined ? [at] : [at, inner])))
  return Buffer.from(text).toString('base64url')
}

function readCursor(cursor: string, { links }: Reach): readonly ListPlace[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const places = Array.isArray(read) ? read.map((each: unknown) => readPlace(each, links.length)) : []
    const isAscending = places.every(({ at }, i) => i === 0 || at > (places[i - 1]?.at ?? at))
    if (places.length > 0 && isAscending) return places
  } catch {
    // Not a cursor of this gateway. Handled below.
  }
  throw badCursor()
}

function readPlace(value: unknown, servers: number): ListPlace {
  const [at, inner] = Array.isArray(value) ? (value as readonly unknown[]) : []
  if (typeof at !== 'number' || !Number.isInteger(at) || at < 0 || at >= servers) throw badCursor()
  if (inner === undefined) return { at }
  if (typeof inner !== 'string') throw badCursor()
  return { at, inner }
}
