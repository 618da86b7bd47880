// The servers that a client reaches: one link to each, made for this client and ended with it.

import type { Kernel } from '@tollgate/kernel'
import type { JsonObject } from '@tollgate/evidence'
import { OUR_INFO, type Sender } from './protocol.ts'
import type { Govern } from './govern.ts'
import { createLink, type ServerLink } from './link.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { Reach } from './proxy.ts'
import type { Connect, Server } from './server/upstream.ts'

/** Servers that have been reached for. */
export interface Reached extends Reach {
  close(): Promise<void>
}

/** What a server does that belongs to no request. */
interface ReachEvents {
  onNotification(link: ServerLink, method: string, params: JsonObject): void
}

/** Makes the links for a client. Nothing is started before it is needed. */
export type OpenReach = (sender: Sender, events: ReachEvents) => Reached

/** Reaches some servers; `merged` if names are to carry the name of their server. */
export function createOpenReach(options: {
  readonly servers: readonly Server[]
  readonly merged: boolean
  readonly kernel: Kernel
  readonly govern: Govern
  readonly connect: Connect
}): OpenReach {
  const { servers, merged, kernel, govern, connect } = options
  return ({ capabilities }, events) => {
    const links = servers.map((server): ServerLink => {
      const link: ServerLink = createLink(
        server,
        connect(
          server,
          { capabilities, info: OUR_INFO },
          {
            onNotification(method, params) {
              // Also a change that nobody wants to be told of changes what may be called.
              if (method === 'notifications/tools/list_changed') link.forget()
              events.onNotification(link, method, params)
            },
            onDown: () => link.lose(),
            async isApproved() {
              await link.hello()
              return link.isPinned('resources/subscribe')
            },
          },
        ),
        kernel.catalogue,
      )
      return link
    })
    return {
      links,
      merged,
      govern,
      async close() {
        await Promise.all(links.map(({ upstream }) => upstream.close()))
      },
    }
  }
}

const MAX_REACHES = 8

/** The servers as one client reaches them: once for each era and each set of capabilities that it comes with. */
export class Reaches {
  readonly #open: OpenReach
  readonly #isUsed: (reached: Reached) => boolean
  readonly #known = new Map<string, Reached>()

  constructor(open: OpenReach, isUsed: (reached: Reached) => boolean) {
    this.#open = open
    this.#isUsed = isUsed
  }

  get(sender: Sender): Reached | undefined {
    return this.#known.get(keyOf(sender))
  }

  /** Opens the servers for a sender; an idle sender may lose its own to make room. @throws RpcFault if all are in use. */
  open(sender: Sender, events: ReachEvents): Reached {
    if (this.#known.size >= MAX_REACHES) {
      const [idle] = this.#idle()
      if (!idle) throw new RpcFault(CODE.internal, 'clients of too many kinds ask at the same time')
      this.#letGo(idle)
    }
    const reached = this.#open(sender, events)
    this.#known.set(keyOf(sender), reached)
    return reached
  }

  all(): readonly Reached[] {
    return [...this.#known.values()]
  }

  hasLegacy(): boolean {
    return [...this.#known.keys()].some((key) => key.startsWith('legacy '))
  }

  /** Lets go of the servers that no request uses at the moment. */
  letIdleGo(): void {
    for (const each of this.#idle()) this.#letGo(each)
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((reached) => reached.close()))
  }

  #idle(): readonly (readonly [string, Reached])[] {
    return [...this.#known].filter(([, reached]) => !this.#isUsed(reached))
  }

  #letGo([key, reached]: readonly [string, Reached]): void {
    this.#known.delete(key)
    void reached.close()
  }
}

function keyOf({ era, capabilities }: Sender): string {
  return `${era} ${textOf(capabilities)}`
}
