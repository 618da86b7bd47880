// The servers of one client: one link each, opened for this client and closed with it.

import type { Kernel } from '@tollgate/kernel'
import type { JsonObject } from '@tollgate/evidence'
import { OUR_INFO, type Sender } from './protocol.ts'
import type { Govern } from './govern.ts'
import { ServerLink } from './link.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { Reach } from './proxy.ts'
import type { Connect, Server } from './server/upstream.ts'

export interface Reached extends Reach {
  close(): Promise<void>
}

/** Events of a server that belong to no request. */
interface ReachEvents {
  onNotification(link: ServerLink, method: string, params: JsonObject): void
}

/** Opens the links for a client. Starts no server before it is needed. */
export type OpenReach = (sender: Sender, events: ReachEvents) => Reached

/** Opens links to these servers. With `merged`, names carry a server prefix. */
export function createOpenReach(options: {
  readonly servers: readonly Server[]
  readonly merged: boolean
  readonly kernel: Kernel
  readonly govern: Govern
  readonly connect: Connect
}): OpenReach {
  const { servers, merged, kernel, govern, connect } = options
  return ({ capabilities }, events) => {
    const links = servers.map((server) => {
      const upstream = connect(
        server,
        { capabilities, info: OUR_INFO },
        {
          onNotification(method, params) {
            // A changed tool list changes which calls are allowed, even if no client listens.
            if (method === 'notifications/tools/list_changed') link.forget()
            events.onNotification(link, method, params)
          },
          onDown: () => link.lose(),
          async isApproved() {
            await link.hello()
            return link.isPinned('resources/subscribe')
          },
        },
      )
      const link = new ServerLink(server, upstream, kernel.catalogue)
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

/** The servers of one client: one set for each protocol and each set of capabilities. */
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

  /** Opens the servers for a sender. Closes an idle set if there are too many. @throws RpcFault if all are in use. */
  open(sender: Sender, events: ReachEvents): Reached {
    if (this.#known.size >= MAX_REACHES) {
      const [idle] = this.#idle()
      if (!idle)
        throw new RpcFault(
          CODE.internal,
          'too many clients with different capabilities are active; try again later',
        )
      this.#drop(idle)
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

  /** Closes the servers that no request uses. */
  closeIdle(): void {
    for (const each of this.#idle()) this.#drop(each)
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((reached) => reached.close()))
  }

  #idle(): readonly (readonly [string, Reached])[] {
    return [...this.#known].filter(([, reached]) => !this.#isUsed(reached))
  }

  #drop([key, reached]: readonly [string, Reached]): void {
    this.#known.delete(key)
    void reached.close()
  }
}

function keyOf({ protocol, capabilities }: Sender): string {
  return `${protocol} ${textOf(capabilities)}`
}
