// Scripted conversations in place of real ones with servers.

import { canonicalize } from '@tollgate/evidence'
import type { Conversation, Out } from '../../src/mcp/conversation.ts'
import type { Mcp, Scope } from '../../src/mcp/mcp.ts'
import {
  CODE,
  formatError,
  formatNotification,
  formatResult,
  type Message,
  type Request,
  type RequestId,
  type Unreadable,
} from '../../src/mcp/message.ts'

/** A request that waits for the test. */
export interface Held {
  readonly id: RequestId
  /** The id that notifications of the request must have. */
  readonly clientId: RequestId
  readonly out: Out
}

/** A conversation, as the test sees it. */
export interface StandIn {
  readonly principal: string
  readonly scope: Scope
  readonly taken: (Message | Unreadable)[]
  readonly abandoned: RequestId[]
  /** The requests whose connection was lost. */
  readonly lost: RequestId[]
  attached: Out | undefined
  closed: boolean
  /** Requests of the method `hold`, oldest first. */
  readonly held: Held[]
}

/** The door, and every conversation, oldest first. */
export interface StandInMcp {
  readonly mcp: Mcp
  readonly begun: StandIn[]
  /** Waits for a condition. */
  until<T>(what: () => T | undefined | false): Promise<T>
}

/** Creates a door with these servers. */
export function createStandIn(servers: readonly string[] = ['files']): StandInMcp {
  const begun: StandIn[] = []
  const listeners = new Set<() => void>()
  const stir = (): void => {
    for (const listener of [...listeners]) listener()
  }
  return {
    begun,
    mcp: {
      servers,
      refuseFrozen: () => Promise.resolve(undefined),
      meet: () => Promise.resolve(),
      failedStarts: () => [],
      end: () => undefined,
      close: () => Promise.resolve(),
      converse({ principal }, scope) {
        if (scope.kind === 'server' && !servers.includes(scope.name)) return undefined
        const conversation: StandIn = {
          principal,
          scope,
          taken: [],
          abandoned: [],
          lost: [],
          attached: undefined,
          closed: false,
          held: [],
        }
        begun.push(conversation)
        return actOn(conversation, stir)
      },
    },
    until: (what) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = what()
          if (found === undefined || found === false) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
      }),
  }
}

function actOn(conversation: StandIn, stir: () => void): Conversation & { toolsChanged(): void } {
  return {
    toolsChanged: () => undefined,
    look: () => undefined,
    freeze: () => undefined,
    take(message, out) {
      conversation.taken.push(message)
      if (message.kind === 'unreadable') out.send(formatError(message.id, message.error), true, message.error)
      if (message.kind === 'request') act(conversation, message, out)
      stir()
      return message.kind === 'request' && message.method === 'break'
        ? Promise.reject(new Error('it broke'))
        : Promise.resolve()
    },
    lose(id) {
      if (id !== undefined) conversation.lost.push(id)
      stir()
    },
    abandon(id) {
      conversation.abandoned.push(id)
      stir()
    },
    attach(out) {
      conversation.attached = out
      stir()
    },
    close() {
      conversation.closed = true
      stir()
      return Promise.resolve()
    },
  }
}

/** `hold` waits for the test, `tell` sends a message first, `nothing` is unknown; every other request is echoed. */
function act(conversation: StandIn, request: Request, out: Out): void {
  const { id, clientId = id, method, params } = request
  const fail = (code: number): void => {
    const error = { code, message: 'no' }
    out.send(formatError(id, error), true, error)
  }
  if (method === 'hold' || method === 'subscriptions/listen') conversation.held.push({ id, clientId, out })
  else if (method === 'nothing') fail(CODE.methodNotFound)
  else if (method === 'wrong' || params.fail === true) fail(CODE.invalidParams)
  else if (method !== 'break') {
    if (method === 'tell') out.send(formatNotification('notifications/progress', { progress: 1 }), false)
    out.send(formatResult(id, canonicalize({ method, params })), true)
  }
}
