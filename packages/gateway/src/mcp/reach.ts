// The servers of one client: one link each, opened for this client and closed with it.

import type { JsonObject } from '@tollgate/evidence'
import type { Catalogue } from '@tollgate/kernel/admin'
import { OUR_INFO, type Sender } from './protocol.ts'
import type { Govern, McpCaller } from './govern.ts'
import type { Log } from '../log.ts'
import { ServerLink } from './link.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { AskClient } from './outside.ts'
import type { Reach } from './proxy.ts'
import { answerIn, judgeQuestion } from './send.ts'
import type { Connect, Server } from './server/upstream.ts'
import type { ToolNames } from './tool-names.ts'

export interface ReachOptions {
  readonly servers: readonly Server[]
  /** Whether names carry a server prefix. */
  readonly merged: boolean
  readonly names: ToolNames
  readonly log: Log
  /** Milliseconds that a list of several servers waits for one of them. */
  readonly patience: number
  readonly catalogue: Catalogue
  readonly govern: Govern
  readonly connect: Connect
  /** Whose servers they are. */
  readonly caller: McpCaller
  /** Whether a request uses these servers. */
  readonly isUsed: (reach: Reach) => boolean
  /** Takes a notification of a server that belongs to no request. */
  readonly onNotification: (link: ServerLink, method: string, params: JsonObject) => void
  /** Asks the client outside of its requests; undefined if that is not possible now. */
  readonly askNow: () => AskClient | undefined
}

const MAX_REACHES = 8

/** The servers of one client: one set for each protocol and each set of capabilities. */
export class Reaches {
  readonly #options: ReachOptions
  readonly #known = new Map<string, Reach>()

  constructor(options: ReachOptions) {
    this.#options = options
  }

  get(sender: Sender): Reach | undefined {
    return this.#known.get(keyOf(sender))
  }

  /**
   * Opens the servers for a sender. Starts none before it is needed. Closes an idle set if there are too many.
   * @throws RpcFault if all are in use.
   */
  open(sender: Sender): Reach {
    if (this.#known.size >= MAX_REACHES) {
      const [idle] = this.#idle()
      if (!idle)
        throw new RpcFault(
          CODE.internal,
          'too many clients with different capabilities are active; try again later',
        )
      this.#drop(idle)
    }
    const { servers, merged, names, govern, log, patience, onNotification } = this.#options
    const links = servers.map((server) => this.#link(server, sender))
    const onListed = (link: ServerLink): void => onNotification(link, 'notifications/tools/list_changed', {})
    const reach = { links, merged, names, govern, log, patience, onListed }
    this.#known.set(keyOf(sender), reach)
    return reach
  }

  #link(server: Server, sender: Sender): ServerLink {
    const { catalogue, connect, caller, govern, onNotification, askNow } = this.#options
    const { capabilities, protocol } = sender
    const upstream = connect(
      server,
      { capabilities, info: OUR_INFO },
      {
        onNotification(method, params) {
          // A changed tool list changes which calls are allowed, even if no client listens.
          if (method === 'notifications/tools/list_changed') link.forget()
          onNotification(link, method, params)
        },
        onDown: () => link.lose(),
        async isApproved() {
          await link.hello()
          return link.isPinned('resources/subscribe')
        },
        onAsk: (method, params, signal) =>
          link.outside.answer({
            now: () => (protocol === 'legacy' ? askNow() : undefined),
            run: async (ask) => {
              const turn = { caller, sender, meta: {}, ask }
              const outcome = await judgeQuestion(govern, link, { method, params }, turn)
              if (outcome.kind === 'denied') link.outside.refuse(outcome.decided.approval)
              return answerIn(outcome)
            },
            signal,
          }),
      },
      { ...caller, session: caller.session ?? caller.principal },
    )
    const link = new ServerLink(server, upstream, catalogue)
    return link
  }

  all(): readonly Reach[] {
    return [...this.#known.values()]
  }

  /** Sends the waiting questions to the client, if it can be asked outside of its requests now. */
  ask(ask: AskClient | undefined): void {
    if (ask) for (const { outside } of this.#legacyLinks()) outside.ask(ask)
  }

  /** Makes servers repeat questions that were refused, and that a person has approved since. */
  askAgain(): void {
    const { govern } = this.#options
    for (const link of this.#legacyLinks()) {
      const isApproved = (request: string | undefined): boolean =>
        link.isPinned('roots/list') || (request !== undefined && govern.isGranted(request))
      if (link.outside.takeApproved(isApproved)) link.upstream.notify('notifications/roots/list_changed', {})
    }
  }

  #legacyLinks(): readonly ServerLink[] {
    return [...this.#known].filter(([key]) => key.startsWith('legacy ')).flatMap(([, { links }]) => links)
  }

  hasLegacy(): boolean {
    return [...this.#known.keys()].some((key) => key.startsWith('legacy '))
  }

  /** Closes the servers that no request uses. */
  closeIdle(): void {
    for (const each of this.#idle()) this.#drop(each)
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map(closeAll))
  }

  #idle(): readonly (readonly [string, Reach])[] {
    return [...this.#known].filter(([, reach]) => !this.#options.isUsed(reach))
  }

  #drop([key, reach]: readonly [string, Reach]): void {
    this.#known.delete(key)
    void closeAll(reach)
  }
}

async function closeAll({ links }: Reach): Promise<void> {
  await Promise.all(links.map(({ upstream }) => upstream.close()))
}

function keyOf({ protocol, capabilities }: Sender): string {
  return `${protocol} ${textOf(capabilities)}`
}
