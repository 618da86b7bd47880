// Servers and tools as a person names them: `SERVER`, `SERVER/TOOL`, or `SERVER:METHOD` for what else of a server is governed.

import type { ListedServer, ListedTool, ShownTool } from '../tools/listing.ts'
import { nearest } from '../tools/near.ts'
import { ask, queryOf } from './ask.ts'
import type { Connection } from './connect.ts'
import { shown } from './table.ts'
import { CommandError, type Terminal } from './terminal.ts'

/** What somebody named: a whole server, or one tool of it. */
export interface Named {
  readonly server: ListedServer
  /** All of the server's, or the one. */
  readonly tools: readonly ListedTool[]
  readonly isServer: boolean
}

/** The servers that the gateway knows of. */
export async function serversOf(connection: Connection): Promise<readonly ListedServer[]> {
  return (await ask<{ readonly servers: readonly ListedServer[] }>(connection, '/v1/tools')).servers
}

/** A tool with its definitions. */
export function definitionsOf(connection: Connection, tool: string): Promise<ShownTool> {
  return ask(connection, `/v1/tools/definition?${queryOf({ tool }).toString()}`)
}

/** Finds what somebody named. @throws CommandError with what they may have meant. */
export function find(servers: readonly ListedServer[], name: string): Named {
  for (const server of servers) {
    if (server.server === name) return { server, tools: server.tools, isServer: true }
    const tool = server.tools.find((each) => each.tool === name)
    if (tool) return { server, tools: [tool], isServer: false }
  }
  const names = servers.flatMap(({ server, tools }) => [server, ...tools.map(({ tool }) => tool)])
  const near = nearest(name, names)
  throw new CommandError(
    `there is no server or tool \`${shown(name.slice(0, 160))}\``,
    ...(near === undefined ? [] : [`did you mean \`${shown(near)}\`?`]),
    '`tollgate mcp list` shows what there is',
  )
}

/** Says why there may be less than somebody expects, where the data directory is asked and not a gateway. */
export function sayIfAlone(terminal: Terminal, connection: Connection): void {
  if (!connection.local) return
  terminal.say('no gateway runs here: pins are known, and what servers offer is not')
}
