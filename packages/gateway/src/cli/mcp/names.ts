// Servers and tools as a person names them: `SERVER`, `SERVER/TOOL`, or `SERVER:METHOD` for what else of a server is governed.

import type { ListedServer, ListedTool, Listing, ShownTool, ListingFilter } from '../../tools/listing.ts'
import { nearest } from '../../tools/near.ts'
import { ask, queryOf } from '../program/ask.ts'
import type { Connection } from '../program/connect.ts'
import { shown } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

/** What somebody named: a whole server, or one tool of it. */
export interface NamedTools {
  readonly server: ListedServer
  /** All of the server's, or the one. */
  readonly tools: readonly ListedTool[]
  readonly isServer: boolean
}

/** What the gateway knows of, or the part of it that is wanted. */
export function listingOf(connection: Connection, wanted: ListingFilter = {}): Promise<Listing> {
  return ask(connection, `/v1/tools?${queryOf({ ...wanted }).toString()}`)
}

/** A tool with its definitions. */
export function definitionsOf(connection: Connection, tool: string): Promise<ShownTool> {
  return ask(connection, `/v1/tools/definition?${queryOf({ tool }).toString()}`)
}

/** Finds what somebody named, also where the listing does not reach. @throws CommandError with what they may have meant. */
export async function find(
  connection: Connection,
  { servers, more }: Listing,
  name: string,
): Promise<NamedTools> {
  const here = findIn(servers, name)
  if (here && (!here.isServer || here.server.more === 0)) return here
  // A listing has room for a part of each server; asked for alone, there is more of it.
  const further = more > 0 ? await lookFurther(connection, name) : undefined
  return further ?? here ?? notFound(servers, name)
}

async function lookFurther(connection: Connection, name: string): Promise<NamedTools | undefined> {
  const ofServer = await listingOf(connection, { server: name })
  return findIn([...ofServer.servers, ...(await listingOf(connection, { tool: name })).servers], name)
}

function findIn(servers: readonly ListedServer[], name: string): NamedTools | undefined {
  for (const server of servers) {
    if (server.server === name) return { server, tools: server.tools, isServer: true }
    const tool = server.tools.find((each) => each.tool === name)
    if (tool) return { server, tools: [tool], isServer: false }
  }
  return undefined
}

function notFound(servers: readonly ListedServer[], name: string): never {
  const names = servers.flatMap(({ server, tools }) => [server, ...tools.map(({ tool }) => tool)])
  const near = nearest(name, names)
  throw new CommandError(
    `there is no server or tool \`${shown(name.slice(0, 160))}\``,
    ...(near === undefined ? [] : [`did you mean \`${shown(near)}\`?`]),
    '`tollgate mcp list` shows what there is',
  )
}

/** Says that not all of what was named is there. */
export function warnOfMore(terminal: Terminal, named: readonly NamedTools[], remedy: string): void {
  for (const { server, isServer } of named) {
    if (!isServer || server.more === 0) continue
    terminal.warn(`\`${shown(server.server)}\` has ${server.more} more than can be told at once`, remedy)
  }
}

/** Says why there may be less than somebody expects, where the data directory is asked and not a gateway. */
export function sayIfAlone(terminal: Terminal, connection: Connection): void {
  if (!connection.local) return
  terminal.say('no gateway runs here: pins are known, and what servers offer is not')
}
