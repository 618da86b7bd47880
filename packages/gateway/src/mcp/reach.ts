// The servers that a client reaches: one link to each, made for this client and ended with it.

import type { Kernel } from '@tollgate/kernel'
import type { JsonObject } from '@tollgate/evidence'
import { OUR_INFO, type Sender } from './era.ts'
import type { Govern } from './govern.ts'
import { createLink, type Link } from './link.ts'
import type { Reach } from './proxy.ts'
import type { Connect, Server } from './server/upstream.ts'

/** Servers that have been reached for. */
export interface Reached extends Reach {
  close(): Promise<void>
}

/** What a server does that belongs to no request. */
export interface ReachEvents {
  onNotification(link: Link, method: string, params: JsonObject): void
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
    const links = servers.map((server): Link => {
      const link: Link = createLink(
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
