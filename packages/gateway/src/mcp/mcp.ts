// The MCP door: the configured servers, and a conversation for each client.

import type { Decided, Kernel } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { FailedStart } from '../tools/listing.ts'
import type { WaitingOptions } from './approval-wait.ts'
import { ClientConversation, type Conversation } from './conversation.ts'
import { Govern, type McpCaller } from './govern.ts'
import { FailedStarts } from './failed-starts.ts'
import { OUR_INFO } from './protocol.ts'
import { ServerLink } from './link.ts'
import type { ToolNames } from './tool-names.ts'
import {
  addressFor,
  NO_EVENTS,
  UpstreamFault,
  type Connect,
  type Server,
  type ServerAddress,
  type Upstream,
} from './server/upstream.ts'

/** The servers that a client may use: all, one of them, or one that the client brings. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'server'; readonly name: string }
  | ({ readonly kind: 'own' } & Server)

export interface Mcp {
  /** Begins a conversation; undefined if there is no such server. */
  converse(caller: McpCaller, scope: Scope): Conversation | undefined
  readonly servers: readonly string[]
  /** The recorded denial of a frozen caller; undefined if it is not frozen. */
  refuseFrozen(caller: McpCaller): Promise<Decided | undefined>
  /** Asks every server once for its offer, so that a person can review it before any client connects. Never rejects. */
  meet(): Promise<void>
  /** The configured servers whose newest start failed. */
  failedStarts(): readonly FailedStart[]
  /** The gateway stops: no call waits for an approval any more. */
  end(): void
  close(): Promise<void>
}

interface McpOptions {
  readonly kernel: Kernel
  readonly log: Log
  readonly servers: ReadonlyMap<string, ServerAddress>
  /** The names of tools on the merged endpoint; `plain` if not given. */
  readonly names?: ToolNames
  /** Milliseconds that a list of several servers waits for one of them. */
  readonly patience?: number
  readonly connect: Connect
  /** Milliseconds that a call waits for its approval, unless its client says otherwise; 0 if not given. */
  readonly wait?: number
  /** Calls back after each change of the ledger. Returns a function that stops it. */
  readonly watch: WaitingOptions['watch']
  /** Counts and times requests to servers. */
  readonly metrics?: Pick<Metrics, 'upstream'>
}

// How soon clients learn of a new approval.
const CHECK_EVERY_MS = 1000
// Clients wait at least half a minute for a list, and a program may take some seconds to start.
const PATIENCE_MS = 5000
// Some servers have tools only for clients with these capabilities.
const EVERYTHING = { sampling: {}, elicitation: {}, roots: {} }

/** Opens the door. */
export function createMcp(options: McpOptions): Mcp {
  const { kernel, log, servers, connect, metrics, names = 'plain', patience = PATIENCE_MS } = options
  const { wait = 0, watch } = options
  const ending = new AbortController()
  const govern = new Govern(
    kernel,
    { wait, watch, ending: ending.signal },
    // The name of a server that a client brings is the client's own, so it is no label.
    (name, ...took) => metrics?.upstream(servers.has(name) ? `mcp:${name}` : 'mcp:own', ...took),
  )
  const starts = new FailedStarts(log, () => kernel.host.now())
  const conversations = new Set<Conversation>()
  const met = new Set<Upstream>()
  let seen = kernel.catalogue.changes
  const timer = setInterval(() => {
    for (const each of conversations) each.look()
    if (seen === kernel.catalogue.changes) return
    seen = kernel.catalogue.changes
    for (const each of conversations) each.toolsChanged()
  }, CHECK_EVERY_MS).unref()
  let postponed = false
  const unwatch = kernel.freezes.watch(() => {
    for (const each of conversations) each.freeze()
    if (kernel.freezes.all()) for (const each of met) void each.close()
    else if (postponed) void meet()
  })

  /** Starts nothing while everything is frozen, and runs when the freeze ends. */
  async function meet(): Promise<void> {
    postponed = kernel.freezes.all()
    if (postponed) return
    await Promise.all([...servers].map(([name, address]) => meetOne(starts.watched(name, address))))
  }

  function reachable(scope: Scope, { principal }: McpCaller): readonly Server[] {
    if (scope.kind === 'own') return [scope]
    const all = [...servers].map(([name, address]) => starts.watched(name, addressFor(address, principal)))
    return scope.kind === 'all' ? all : all.filter(({ name }) => name === scope.name)
  }

  async function meetOne(server: Server): Promise<void> {
    const upstream = connect(server, { capabilities: EVERYTHING, info: OUR_INFO }, NO_EVENTS)
    met.add(upstream)
    try {
      await new ServerLink(server, upstream, kernel.catalogue).meet()
    } catch (fault) {
      log('warn', 'an MCP server did not list its tools', {
        server: server.name,
        fault: fault instanceof UpstreamFault ? fault.code : 'unknown',
      })
    } finally {
      met.delete(upstream)
      await upstream.close()
    }
  }

  return {
    servers: [...servers.keys()],
    refuseFrozen: (caller) => govern.refuseFrozen(caller, undefined),
    converse(caller, scope) {
      const within = reachable(scope, caller)
      if (within.length === 0) return undefined
      const merged = scope.kind === 'all'
      const { catalogue } = kernel
      const reach = { servers: within, merged, names, patience, catalogue, govern, connect }
      const onClosed = (): void => void conversations.delete(conversation)
      const conversation = new ClientConversation({ ...reach, caller, log, onClosed })
      conversations.add(conversation)
      return conversation
    },
    meet,
    failedStarts: () => starts.list(),
    end: () => ending.abort(),
    async close() {
      ending.abort()
      clearInterval(timer)
      unwatch()
      await Promise.all([...conversations, ...met].map((each) => each.close()))
    },
  }
}
