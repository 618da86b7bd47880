// A gateway as the command runs it, with MCP servers behind it, for tests: real configuration, real doors, real ledger.

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

/** A server as the configuration names it. */
export type ServerEntry =
  | { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string }

/** Lets everything pass that is pinned, but for what tells secrets; asks about one tool. */
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

/** A gateway that runs. */
export interface Gate {
  readonly url: string
  readonly data: string
  /** Of `agent:peer`. */
  readonly token: string
  readonly running: RunningGateway
  /** Where a client finds one of the servers, or all of them. */
  place(server?: string): Place
  /** Where a client finds a server that the wrapping command starts. */
  wrapped(name: string, command: readonly string[], env?: Record<string, string>): Place
  /** Meets a server, so that what it offers is known. */
  meet(server: string): Promise<void>
  /** Pins everything of a server that is offered now, as a person would. */
  pin(server: string): Promise<void>
  /** What was decided about a tool, oldest first, each with what came of it. */
  record(tool: string): Promise<readonly Recorded[]>
  close(): Promise<void>
}

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))

/** Opens a gateway with these servers, in a new data directory or in one that was closed. */
export async function openGate(
  servers: Readonly<Record<string, ServerEntry>>,
  { data = join(newFolder(), 'data'), policy = POLICY, log = silent }: GateOptions = {},
): Promise<Gate> {
  const isNew = !existsSync(data)
  if (isNew) await createData(data, { port: 0 }, () => undefined)
  if (isNew) appendFileSync(join(data, 'tollgate.yaml'), serversText(servers))
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
    wrapped: (name, command, env = {}) => ({
      command: process.execPath,
      args: [COMMAND, 'mcp', '--name', name, '--data', data, '--', ...command],
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
  /** A data directory that has been used before. */
  readonly data?: string
  readonly policy?: string
  readonly log?: Log
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

/** The servers as the configuration file has them: JSON is YAML. */
function serversText(servers: Readonly<Record<string, ServerEntry>>): string {
  return Object.keys(servers).length === 0 ? '' : `\nmcp: ${JSON.stringify({ servers })}\n`
}
