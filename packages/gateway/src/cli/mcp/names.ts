// Finds servers and tools by name: `SERVER`, `SERVER/TOOL`, or `SERVER:METHOD` for other methods of a server.

import type { ListedServer, ListedTool, Listing, ShownTool, ListingFilter } from '../../tools/listing.ts'
import { ask, queryOf } from '../program/ask.ts'
import type { Connection } from '../program/connect.ts'
import { nearHint } from '../program/forms.ts'
import { shown } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

/** A whole server, or one tool of it. */
export interface NamedTools {
  readonly server: ListedServer
  /** All tools of the server, or only the named one. */
  readonly tools: readonly ListedTool[]
  readonly isServer: boolean
}

/** Returns the servers and tools that the gateway knows, optionally filtered. */
export function listingOf(connection: Connection, wanted: ListingFilter = {}): Promise<Listing> {
  return ask(connection, `/v1/tools?${queryOf({ ...wanted }).toString()}`)
}

/** Returns a tool with its definitions. */
export function definitionsOf(connection: Connection, tool: string): Promise<ShownTool> {
  return ask(connection, `/v1/tools/definition?${queryOf({ tool }).toString()}`)
}

/** Finds a server or tool, also beyond the first listing. @throws CommandError with a suggestion. */
export async function find(
  connection: Connection,
  { servers, more }: Listing,
  name: string,
): Promise<NamedTools> {
  const here = findIn(servers, name)
  if (here && (!here.isServer || here.server.more === 0)) return here
  // A listing contains only a part of a long server. A listing of one server contains more of it.
  const further = more > 0 ? await findBeyond(connection, name) : undefined
  return further ?? here ?? notFound(servers, name)
}

async function findBeyond(connection: Connection, name: string): Promise<NamedTools | undefined> {
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
  throw new CommandError(
    `no server or tool \`${shown(name.slice(0, 160))}\``,
    ...nearHint(name, names),
    'list all with `tollgate mcp list`',
  )
}

/** Warns if not all tools of a server are listed. */
export function warnOfMore(terminal: Terminal, named: readonly NamedTools[], remedy: string): void {
  for (const { server, isServer } of named) {
    if (!isServer || server.more === 0) continue
    terminal.warn(
      `\`${shown(server.server)}\` has ${server.more} more tools than one list can contain`,
      remedy,
    )
  }
}

/** Notes that offered tools are unknown when the command uses the data directory instead of a gateway. */
export function noteNoGateway(terminal: Terminal, connection: Connection): void {
  if (!connection.local) return
  terminal.say('no gateway is used: only pinned tools are known, not what servers offer')
}
