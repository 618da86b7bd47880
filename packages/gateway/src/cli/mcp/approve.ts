// `tollgate mcp approve` and `tollgate mcp revoke`: pin and unpin tool definitions, by the hash that was shown.

import { isAtLeast, type Finding } from '../../tools/finding.ts'
import type { ListedTool, Listing, ShownTool } from '../../tools/listing.ts'
import { ask } from '../program/ask.ts'
import { chosenOf } from './approve-choice.ts'
import type { FacultyGroup } from './faculties.ts'
import type { GatewayOptions } from '../commands.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { definitionsOf, find, listingOf, noteNoGateway, warnOfMore, type NamedTools } from './names.ts'
import { present } from './present.ts'
import { shown } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

interface ApproveOptions extends GatewayOptions {
  readonly yes?: boolean
  readonly despiteFindings?: boolean
  readonly schemas?: boolean
  readonly also?: readonly (FacultyGroup | 'all')[]
}

/** Pins tools, or everything that a server offers. */
export async function runApprove(
  terminal: Terminal,
  options: ApproveOptions,
  ...names: readonly string[]
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const listing = await listingOf(connection)
    if (listing.servers.length === 0) noteNoGateway(terminal, connection)
    const named = await namedIn(connection, listing, names)
    warnOfMore(terminal, named, 'tools that are not shown below stay unchanged; run this again for them')
    const tools = await candidates(terminal, connection, named)
    if (tools.length === 0) {
      terminal.data({ pinned: [] }, '')
      terminal.say('nothing to approve: everything offered is already approved')
      return 0
    }
    const about = findingsOf(tools)
    present(terminal, tools, about, options.schemas === true)
    refuseHigh(about, options)
    const chosen = await chosenOf(terminal, tools, names, options)
    if (chosen.length === 0) {
      terminal.data({ pinned: [] }, '')
      terminal.say('nothing was approved')
      return 1
    }
    return await pinAll(terminal, connection, chosen)
  })
}

function namedIn(
  connection: Connection,
  listing: Listing,
  names: readonly string[],
): Promise<readonly NamedTools[]> {
  return Promise.all(names.map((name) => find(connection, listing, name)))
}

/** Returns the offered tools that are not pinned. @throws CommandError for a single tool that cannot be approved. */
async function candidates(
  terminal: Terminal,
  connection: Connection,
  named: readonly NamedTools[],
): Promise<readonly ShownTool[]> {
  const wanted = new Map(
    named.flatMap(({ tools, isServer }) => tools.map((each) => [each.tool, { each, isServer }])),
  )
  const tools: ShownTool[] = []
  for (const { each, isServer } of wanted.values()) {
    if (each.state === 'gone' && !isServer) {
      throw new CommandError(
        `no server offers \`${shown(each.tool)}\` now, so it cannot be reviewed`,
        'connect a client to its server first',
      )
    }
    if (each.state === 'gone' || each.state === 'pinned') continue
    const refused = each.findings.find(({ code }) => code === 'SCHEMA_REFUSED')
    if (refused && isServer) terminal.warn(`\`${shown(each.tool)}\` stays blocked: ${shown(refused.message)}`)
    else tools.push(await definitionsOf(connection, each.tool))
  }
  return tools
}

function findingsOf(tools: readonly ShownTool[]): readonly Finding[] {
  const all = tools.flatMap(({ findings }) => findings)
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
}

function refuseHigh(findings: readonly Finding[], { despiteFindings }: ApproveOptions): void {
  const high = findings.filter((each) => isAtLeast(each, 'high'))
  if (high.length === 0 || despiteFindings === true) return
  throw new CommandError(
    `${high.length} high-severity ${high.length === 1 ? 'finding' : 'findings'}; nothing was approved`,
    'read the findings above, and approve the tools without such findings by their names',
    'or add `--despite-findings` to approve the others too',
  )
}

async function pinAll(
  terminal: Terminal,
  connection: Connection,
  tools: readonly ShownTool[],
): Promise<number> {
  const orders = tools.map(({ tool, offered }) => ({ tool, body: { tool, hash: offered } }))
  const done = await each(terminal, connection, '/v1/tools/pin', orders)
  terminal.data({ pinned: done }, () =>
    done.map(({ tool, receipt }) => `${receipt.slice(0, 16)}  ${shown(tool)}`).join('\n'),
  )
  terminal.say(`approved ${done.length}, with exactly the definitions that were offered`)
  return done.length === tools.length ? 0 : 1
}

interface ApprovedTool {
  readonly tool: string
  readonly receipt: string
}

/** Sends the requests one by one. A refused request does not stop the others. */
async function each(
  terminal: Terminal,
  connection: Connection,
  path: string,
  orders: readonly { readonly tool: string; readonly body: object }[],
): Promise<readonly ApprovedTool[]> {
  const done: ApprovedTool[] = []
  for (const { tool, body } of orders) {
    try {
      const { receipt } = await ask<{ readonly receipt: string }>(connection, path, body)
      done.push({ tool, receipt })
    } catch (fault) {
      if (!(fault instanceof CommandError)) throw fault
      terminal.warn(`\`${shown(tool)}\`: ${fault.message}`, ...fault.hints)
    }
  }
  return done
}

/** Unpins tools, or everything that a server has pinned. */
export async function runRevoke(
  terminal: Terminal,
  options: GatewayOptions,
  ...names: readonly string[]
): Promise<number> {
  return withConnection(options, 'restrict', async (connection) => {
    const named = await namedIn(connection, await listingOf(connection), names)
    const lists = await Promise.all(named.map((each) => approvedOf(terminal, connection, each)))
    const pinned = [...new Set(lists.flat().map(({ tool }) => tool))]
    const orders = pinned.map((tool) => ({ tool, body: { tool } }))
    const done = await each(terminal, connection, '/v1/tools/unpin', orders)
    terminal.data({ unpinned: done }, () =>
      done.map(({ tool, receipt }) => `${receipt.slice(0, 16)}  ${shown(tool)}`).join('\n'),
    )
    terminal.say(
      done.length === 0 ? 'nothing to revoke' : `revoked ${done.length}; calls to them are denied now`,
    )
    return done.length === pinned.length ? 0 : 1
  })
}

/** Returns the pinned tools among the named ones. For a long server it asks for each state separately. */
async function approvedOf(
  terminal: Terminal,
  connection: Connection,
  { server, tools, isServer }: NamedTools,
): Promise<readonly ListedTool[]> {
  if (!isServer || server.more === 0) return tools.filter(({ pinned }) => pinned !== null)
  const states = ['pinned', 'changed', 'gone'] as const
  const listings = await Promise.all(
    states.map((state) => listingOf(connection, { server: server.server, state })),
  )
  if (listings.some(({ more }) => more > 0)) terminal.warn('there are more tools to revoke; run this again')
  return listings.flatMap(({ servers }) => servers.flatMap((each) => each.tools))
}
