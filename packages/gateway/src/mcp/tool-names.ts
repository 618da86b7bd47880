// The names on the merged endpoint, in its lists and in calls. In lists, tools have names that model providers accept.

import type { JsonObject } from '@tollgate/evidence'
import { plainName } from '@tollgate/kernel/admin'
import { serverOf, toolOf } from '../tools/offer.ts'
import type { McpCaller } from './govern.ts'
import { toolName, type ServerLink } from './link.ts'
import type { Reach } from './proxy.ts'

/** The names of tools in the merged list: `files__read` (`plain`) or `files/read` (`slash`). Calls may use both. */
export type ToolNames = 'plain' | 'slash'

/** A server, and the name of its tool or prompt at the server. */
interface NamedTarget {
  readonly link: ServerLink
  readonly own: string
}

/** The server that a name with `/` addresses, and the name at that server; undefined if there is none. */
export function targetOf(
  { links, merged }: Pick<Reach, 'links' | 'merged'>,
  name: string,
): NamedTarget | undefined {
  const [only] = links
  if (!merged) return only && { link: only, own: name }
  const slash = name.indexOf('/')
  const link = links.find((each) => each.name === name.slice(0, Math.max(slash, 0)))
  return link && { link, own: name.slice(slash + 1) }
}

/** The tool that a name means, in any of its spellings; undefined if no server has it, or if it can mean several tools. */
export async function toolTargetOf(
  reach: Reach,
  caller: McpCaller,
  name: string,
): Promise<NamedTarget | undefined> {
  const named = targetOf(reach, name)
  if (named) return named
  // The tools of a server are known once it has listed them. One that is down has none, apart from those that are pinned.
  const near = reach.links.filter((link) => name.includes(`${link.name}__`))
  await Promise.allSettled(near.map((link) => link.offered(name)))
  const [only, ...others] = meantBy(reach, caller, name)
  return only === undefined || others.length > 0 ? undefined : targetOf(reach, only)
}

/** The tools of these servers that a name can mean. */
function meantBy({ govern, links }: Reach, caller: McpCaller, name: string): readonly string[] {
  return govern
    .meant(caller, name)
    .filter((tool) => toolOf(tool) !== undefined && links.some((link) => link.name === serverOf(tool)))
}

/** The listed tools of one server under their names in the merged list. A tool that shares its name with another is left out. */
export function nameTools(
  reach: Reach,
  caller: McpCaller,
  server: string,
  tools: readonly JsonObject[],
): readonly JsonObject[] {
  return tools.flatMap((tool) => {
    const { name: own } = tool
    if (typeof own !== 'string') return []
    const full = toolName(server, own)
    if (reach.names === 'slash') return [{ ...tool, name: full }]
    const name = plainName(full)
    const [, ...others] = meantBy(reach, caller, name)
    if (others.length === 0) return [{ ...tool, name }]
    const hint = 'rename one of the servers, or set `mcp.names: slash` in tollgate.yaml'
    reach.log('warn', 'two MCP tools share a name, so agents get neither of them', { name, tool: full, hint })
    return []
  })
}
