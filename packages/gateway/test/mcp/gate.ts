// A complete gateway with MCP servers, for tests: real configuration, doors and ledger.

import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseReceipt, type Decision, type Effect } from '@tollgate/evidence'
import { pinTool } from '@tollgate/kernel/admin'
import { createData } from '../../src/cli/setup/create.ts'
import { runGateway, type RunningGateway } from '../../src/cli/setup/run-gateway.ts'
import { readConfig } from '../../src/config/config.ts'
import { silent, type Log } from '../../src/log.ts'
import { activate, newFolder } from '../gateway-rig.ts'
import { connectPeer, type Place } from './peers.ts'

/** A server as in the configuration. */
export type ServerEntry =
  | {
      readonly command: readonly string[]
      readonly env?: Readonly<Record<string, string>>
      readonly browser?: 'playwright' | 'devtools'
    }
  | { readonly url: string }

/** Allows every pinned tool except those that reveal secrets; escalates one tool. */
export const POLICY = `
tollgate: 1
name: peers
principals: { "agent:*": { tier: standard }, "local:*": { tier: standard } }
tools:
  "*": { effect: write, destinations: none }
rules:
  - { id: secrets, deny: "*/get-env", because: it tells secrets }
  - { id: noise, require: "*/toggle-simulated-logging", expires: 15m }
  - { id: all, allow: "*" }
`

/** A decision, and the effects that name it. */
export interface Recorded {
  readonly decision: Decision
  readonly effects: readonly Effect[]
}

export interface Gate {
  readonly url: string
  readonly data: string
  /** The token of `agent:peer`. */
  readonly token: string
  readonly running: RunningGateway
  /** The URL of one server, or of all of them. */
  place(server?: string): Place
  /** The address of a server that the wrapping command starts. */
  wrapped(
    name: string,
    command: readonly string[],
    env?: Record<string, string>,
    options?: readonly string[],
  ): Place
  /** Asks a server for its offer. */
  meet(server: string): Promise<void>
  /** Pins everything that a server offers now, as a person would. */
  pin(server: string): Promise<void>
  /** The decisions about a tool, oldest first, each with its effect. */
  record(tool: string): Promise<readonly Recorded[]>
  close(): Promise<void>
}

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))

/** Opens a gateway with these servers, in a new data directory or an earlier one. */
export async function openGate(
  servers: Readonly<Record<string, ServerEntry>>,
  {
    data = join(newFolder(), 'data'),
    policy = POLICY,
    log = silent,
    wait,
    port = 0,
    config = '',
  }: GateOptions = {},
): Promise<Gate> {
  const isNew = !existsSync(data)
  if (isNew) await createData(data, { port }, () => undefined)
  if (isNew) appendFileSync(join(data, 'tollgate.yaml'), mcpText(servers, wait) + config)
  writeFileSync(join(data, 'policy.yaml'), policy)
  const running = await runGateway(readConfig(data), log, { prepare: (gateway) => activate(gateway, policy) })
  const { gateway, url } = running
  const identity = { role: 'agent', tenant: 'default', principal: 'agent:peer' } as const
  const { token } = await gateway.tokens.issue(identity, 'test')
  const gate: Gate = {
    url,
    data,
    token,
    running,
    place: (server) => ({
      url: `${url}/mcp${server === undefined ? '' : `/${server}`}`,
      headers: { authorization: `Bearer ${token}` },
    }),
    wrapped: (name, command, env = {}, options = []) => ({
      command: process.execPath,
      args: [COMMAND, 'mcp', '--name', name, '--data', data, ...options, '--', ...command],
      env: { PATH: process.env.PATH ?? '', HOME: data, ...env },
    }),
    async meet(server) {
      const peer = await connectPeer('v1', gate.place(server))
      await peer.ask('tools/list')
      await peer.close()
    },
    async pin(server) {
      const { kernel } = gateway
      for (const tool of kernel.catalogue.names()) {
        const offered = kernel.catalogue.offered(tool)
        if (!offered || !/[/:]/.test(tool.slice(server.length, server.length + 1))) continue
        if (tool.startsWith(server) && kernel.catalogue.pinned(tool) !== offered.hash) {
          await pinTool(kernel, tool, offered.hash, 'user:test')
        }
      }
    },
    record: (tool) => recordOf(running, tool),
    close: () => running.close(),
  }
  return gate
}

interface GateOptions {
  /** The data directory of an earlier gateway. */
  readonly data?: string
  readonly policy?: string
  readonly log?: Log
  readonly port?: number
  /** Further lines of a new configuration. */
  readonly config?: string
  /** How long calls wait for approvals. */
  readonly wait?: string | undefined
}

async function recordOf({ gateway: { view } }: RunningGateway, tool: string): Promise<readonly Recorded[]> {
  const request = { direction: 'on', limit: 1000 } as const
  const { entries } = await view.page({ ...request, filter: { kind: 'decision', tool } })
  return Promise.all(
    entries.map(async ({ id, envelope }) => {
      const { entries: about } = await view.page({ ...request, filter: { kind: 'effect', decision: id } })
      return {
        decision: parseReceipt(envelope).receipt as Decision,
        effects: about.map((entry) => parseReceipt(entry.envelope).receipt as Effect),
      }
    }),
  )
}

/** The section `mcp` of the configuration file. JSON is valid YAML. */
function mcpText(servers: Readonly<Record<string, ServerEntry>>, wait: string | undefined): string {
  if (Object.keys(servers).length === 0 && wait === undefined) return ''
  return `\nmcp: ${JSON.stringify({ servers, ...(wait !== undefined && { wait }) })}\n`
}
