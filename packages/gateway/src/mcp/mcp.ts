// The MCP door as a whole: which servers there are, and a conversation for each client that comes.

import type { Decided, Kernel } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { createConversation, type Conversation } from './conversation.ts'
import { createGovern, type McpCaller } from './govern.ts'
import { OUR_INFO } from './protocol.ts'
import { createLink } from './link.ts'
import { createOpenReach } from './reach.ts'
import {
  NO_EVENTS,
  UpstreamFault,
  type Connect,
  type Server,
  type ServerAddress,
  type Upstream,
} from './server/upstream.ts'

/** What a client may reach: all servers, one of them, or one that it brings itself. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'server'; readonly name: string }
  | ({ readonly kind: 'own' } & Server)

/** The MCP door. */
export interface Mcp {
  /** Begins a conversation; undefined if there is no such server. */
  converse(caller: McpCaller, scope: Scope): Conversation | undefined
  readonly servers: readonly string[]
  /** The refusal of a caller that is frozen, on the record; undefined if it may come in. */
  refuseFrozen(caller: McpCaller): Promise<Decided | undefined>
  /** Asks every server once for what it offers, so that a person can look at it before any client comes. Never rejects. */
  meet(): Promise<void>
  close(): Promise<void>
}

/** What the door is made of. */
interface McpOptions {
  readonly kernel: Kernel
  readonly log: Log
  readonly servers: ReadonlyMap<string, ServerAddress>
  readonly connect: Connect
}

// How soon clients are told that a person has approved something.
const LOOKED_EVERY_MS = 1000
// Some servers have tools only for clients that can do more.
const EVERYTHING = { sampling: {}, elicitation: {}, roots: {} }

/** Opens the door. */
export function createMcp({ kernel, log, servers, connect }: McpOptions): Mcp {
  const govern = createGovern(kernel, () => kernel.host.now())
  const conversations = new Set<Conversation>()
  const met = new Set<Upstream>()
  let seen = kernel.catalogue.changes
  const looking = setInterval(() => {
    if (seen === kernel.catalogue.changes) return
    seen = kernel.catalogue.changes
    for (const each of conversations) each.toolsChanged()
  }, LOOKED_EVERY_MS).unref()
  let postponed = false
  const unwatch = kernel.freezes.watch(() => {
    for (const each of conversations) each.freeze()
    if (kernel.freezes.all()) for (const each of met) void each.close()
    else if (postponed) void meet()
  })

  /** Starts nothing while everything is frozen, and makes up for it when that is lifted. */
  async function meet(): Promise<void> {
    postponed = kernel.freezes.all()
    if (postponed) return
    await Promise.all([...servers].map(([name, address]) => meetOne({ name, address })))
  }

  function reachable(scope: Scope): readonly Server[] {
    if (scope.kind === 'own') return [scope]
    const all = [...servers].map(([name, address]) => ({ name, address }))
    return scope.kind === 'all' ? all : all.filter(({ name }) => name === scope.name)
  }

  async function meetOne(server: Server): Promise<void> {
    const upstream = connect(server, { capabilities: EVERYTHING, info: OUR_INFO }, NO_EVENTS)
    met.add(upstream)
    try {
      await createLink(server, upstream, kernel.catalogue).meet()
    } catch (fault) {
      log('warn', 'an MCP server does not say what it offers', {
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
      const within = reachable(scope)
      if (within.length === 0) return undefined
      const merged = scope.kind === 'all'
      const open = createOpenReach({ servers: within, merged, kernel, govern, connect })
      const conversation = createConversation({ caller, open, govern, log })
      const kept = {
        ...conversation,
        async close() {
          await conversation.close()
          conversations.delete(kept)
        },
      }
      conversations.add(kept)
      return kept
    },
    meet,
    async close() {
      clearInterval(looking)
      unwatch()
      await Promise.all([...conversations, ...met].map((each) => each.close()))
    },
  }
}
