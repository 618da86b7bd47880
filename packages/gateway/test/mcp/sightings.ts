// The rows of the page of compatibility for clients and servers of MCP.

import type { CompatDoor, Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import type { Kind } from './peers.ts'
import type { ServerName } from './scripts.ts'

/** The doors of MCP. */
export type McpDoor = Extract<CompatDoor, 'MCP, HTTP' | 'MCP, stdio'>

const CLIENTS: Readonly<Record<Kind, readonly [name: string, use: string]>> = {
  v1: ['@modelcontextprotocol/sdk', 'client'],
  'v2 legacy': ['@modelcontextprotocol/client', 'legacy protocol'],
  'v2 modern': ['@modelcontextprotocol/client', 'protocol of 2026-07-28'],
}

const SERVERS: Readonly<Record<ServerName, string>> = {
  everything: '@modelcontextprotocol/server-everything',
  filesystem: '@modelcontextprotocol/server-filesystem',
  memory: '@modelcontextprotocol/server-memory',
  modern: '@modelcontextprotocol/server',
}

/** Records a client. */
export function sawPeer(kind: Kind, door: McpDoor, ...marks: readonly Mark[]): void {
  saw(npm(...CLIENTS[kind]), door, ...marks)
}

/** Records a server. */
export function sawServer(name: ServerName, door: McpDoor, ...marks: readonly Mark[]): void {
  saw(npm(SERVERS[name]), door, ...marks)
}
