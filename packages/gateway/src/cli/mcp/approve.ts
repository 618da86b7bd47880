// `tollgate mcp approve` and `revoke`: a person says which definitions may be used. Each is pinned by the hash that was shown.

import process from 'node:process'
import { createInterface } from 'node:readline'
import { isAtLeast, type Finding } from '../../tools/finding.ts'
import type { ListedTool, Listing, ShownTool } from '../../tools/listing.ts'
import { ask } from '../program/ask.ts'
import type { GatewayOptions } from '../commands.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { definitionsOf, find, listingOf, sayIfAlone, warnOfMore, type NamedTools } from './names.ts'
import { present } from './present.ts'
import { shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface ApproveOptions extends GatewayOptions {
  readonly yes?: boolean
  readonly despiteFindings?: boolean
}

/** Approves of tools, or of all that a server offers. */
export async function runApprove(
  terminal: Terminal,
  options: ApproveOptions,
  ...names: readonly string[]
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const listing = await listingOf(connection)
    if (listing.servers.length === 0) sayIfAlone(terminal, connection)
    const named = await namedIn(connection, listing, names)
    warnOfMore(terminal, named, 'what is not shown below stays as it is; run this again for the rest')
    const tools = await candidates(terminal, connection, named)
    if (tools.length === 0) {
      terminal.data({ pinned: [] }, '')
      terminal.say('nothing to approve: all that is offered is approved already')
      return 0
    }
    const about = findingsOf(tools)
    present(terminal, tools, about)
    refuseGrave(about, options)
    if (!(await isWanted(tools, options))) {
      terminal.say('nothing is approved')
      return 1
    }
    return await pinAll(terminal, connection, tools)
  })
}

function namedIn(
  connection: Connection,
  listing: Listing,
  names: readonly string[],
): Promise<readonly NamedTools[]> {
  return Promise.all(names.map((name) => find(connection, listing, name)))
}

/** What is offered and not approved. What was named alone and cannot be approved is told. */
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
        `no server offers \`${shown(each.tool)}\` now, so nobody can look at it`,
        'it is offered once a client has connected to its server',
      )
    }
    if (each.state === 'gone' || each.state === 'pinned') continue
    const refused = each.findings.find(({ code }) => code === 'SCHEMA_REFUSED')
    if (refused && isServer) terminal.warn(`\`${shown(each.tool)}\` stays blocked: ${shown(refused.message)}`)
    else tools.push(await definitionsOf(connection, each.tool))
  }
  return tools
}

/** What was found in exactly the definitions that are shown, each thing once. */
function findingsOf(tools: readonly ShownTool[]): readonly Finding[] {
  const all = tools.flatMap(({ findings }) => findings)
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
}

function refuseGrave(findings: readonly Finding[], { despiteFindings }: ApproveOptions): void {
  const grave = findings.filter((each) => isAtLeast(each, 'high'))
  if (grave.length === 0 || despiteFindings === true) return
  throw new CommandError(
    `${grave.length === 1 ? 'a finding is' : `${grave.length} findings are`} high; nothing is approved`,
    'read what was found, above; name the tools that you do want one by one',
    'or approve of all of it with `--despite-findings`',
  )
}

async function isWanted(tools: readonly ShownTool[], { yes }: ApproveOptions): Promise<boolean> {
  if (yes === true) return true
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(
      'somebody has to say yes, and this is no terminal',
      'add `--yes` if you have read the above',
    )
  }
  const what = tools.length === 1 ? shown(tools[0]?.tool ?? '') : `these ${tools.length}`
  process.stderr.write(`tollgate: approve ${what}? [y/N] `)
  return /^y(es)?$/i.test((await lineFromPerson()).trim())
}

/** One line from the terminal; empty if it ends. The terminal stays as it is, so that Ctrl-C means what it always does. */
function lineFromPerson(): Promise<string> {
  const reader = createInterface({ input: process.stdin, terminal: false })
  return new Promise((resolve) => {
    reader.once('line', (line) => {
      resolve(line)
      reader.close()
    })
    reader.once('close', () => resolve(''))
  })
}

async function pinAll(
  terminal: Terminal,
  connection: Connection,
  tools: readonly ShownTool[],
): Promise<number> {
  const orders = tools.map(({ tool, offered }) => ({ tool, body: { tool, hash: offered } }))
  const done = await each(terminal, connection, '/v1/tools/pin', orders)
  terminal.data({ pinned: done }, () =>
    done.map(({ tool, receipt }) => `${receipt}  ${shown(tool)}`).join('\n'),
  )
  terminal.say(`${done.length} approved, by the definitions above; any other is denied`)
  return done.length === tools.length ? 0 : 1
}

interface ApprovedTool {
  readonly tool: string
  readonly receipt: string
}

/** Sends the orders one by one. One that is refused does not keep the others back. */
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

/** Takes approvals back: of tools, or of all that a server has. */
export async function runRevoke(
  terminal: Terminal,
  options: GatewayOptions,
  ...names: readonly string[]
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const named = await namedIn(connection, await listingOf(connection), names)
    const lists = await Promise.all(named.map((each) => approvedOf(terminal, connection, each)))
    const pinned = [...new Set(lists.flat().map(({ tool }) => tool))]
    const orders = pinned.map((tool) => ({ tool, body: { tool } }))
    const done = await each(terminal, connection, '/v1/tools/unpin', orders)
    terminal.data({ unpinned: done }, () =>
      done.map(({ tool, receipt }) => `${receipt}  ${shown(tool)}`).join('\n'),
    )
    terminal.say(
      done.length === 0 ? 'nothing was approved there' : `${done.length} revoked: blocked from now on`,
    )
    return done.length === pinned.length ? 0 : 1
  })
}

/** What is approved of what somebody named; of a server that offers more than can be told at once, all of it the same. */
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
  if (listings.some(({ more }) => more > 0)) terminal.warn('there is more to revoke; run this again for it')
  return listings.flatMap(({ servers }) => servers.flatMap((each) => each.tools))
}
