// The MCP door as a whole: which servers there are, and a conversation for each client that comes.

import type { Kernel } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { createConversation, type Conversation } from './conversation.ts'
import { createGovern, type Caller } from './govern.ts'
import { createOpenReach } from './reach.ts'
import type { Connect, Server, ServerAddress } from './upstream.ts'

/** What a client may reach: all servers, one of them, or one that it brings itself. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'server'; readonly name: string }
  | ({ readonly kind: 'own' } & Server)

/** The MCP door. */
export interface Mcp {
  /** Begins a conversation; undefined if there is no such server. */
  converse(caller: Caller, scope: Scope): Conversation | undefined
  readonly servers: readonly string[]
  close(): Promise<void>
}

/** What the door is made of. */
export interface McpOptions {
  readonly kernel: Kernel
  readonly log: Log
  readonly servers: ReadonlyMap<string, ServerAddress>
  readonly connect: Connect
}

// How soon clients are told that a person has approved something.
const LOOKED_EVERY_MS = 1000

/** Opens the door. */
export function createMcp({ kernel, log, servers, connect }: McpOptions): Mcp {
  const govern = createGovern(kernel, () => kernel.host.now())
  const conversations = new Set<Conversation>()
  let seen = kernel.catalogue.changes
  const looking = setInterval(() => {
    if (seen === kernel.catalogue.changes) return
    seen = kernel.catalogue.changes
    for (const each of conversations) each.toolsChanged()
  }, LOOKED_EVERY_MS).unref()

  function reachable(scope: Scope): readonly Server[] {
    if (scope.kind === 'own') return [scope]
    const all = [...servers].map(([name, address]) => ({ name, address }))
    return scope.kind === 'all' ? all : all.filter(({ name }) => name === scope.name)
  }

  return {
    servers: [...servers.keys()],
    converse(caller, scope) {
      const within = reachable(scope)
      if (within.length === 0) return undefined
      const merged = scope.kind === 'all'
      const open = createOpenReach({ servers: within, merged, kernel, govern, connect })
      const conversation = createConversation({ caller, open, log })
      const kept = {
        ...conversation,
        async close() {
          conversations.delete(kept)
          await conversation.close()
        },
      }
      conversations.add(kept)
      return kept
    },
    async close() {
      clearInterval(looking)
      await Promise.all([...conversations].map((each) => each.close()))
    },
  }
}
