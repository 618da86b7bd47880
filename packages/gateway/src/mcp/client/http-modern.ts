// Requests of the revision without sessions. All requests of a principal share one conversation, so that servers are not
// started for each request. It is closed when idle.

import type { Reply } from '../../exchange.ts'
import type { Out } from '../conversation.ts'
import type { Ending } from './http-channel.ts'
import { checkModern } from './http-headers.ts'
import type { HttpLimits } from './http-limits.ts'
import type { OpenChannels, CallerRequest } from './http-open.ts'
import { accepted, errorReply, noServer, refusal } from './http-reply.ts'
import { KeptConversations, type KeptConversation } from './http-sessions.ts'
import type { Mcp } from '../mcp.ts'
import {
  CODE,
  errorOf,
  formatError,
  type Message,
  type Request,
  type RequestId,
  type RpcError,
  type Unreadable,
} from '../message.ts'

export class ModernRequests {
  readonly conversations: KeptConversations
  readonly #mcp: Mcp
  readonly #open: OpenChannels
  #asked = 0

  constructor(mcp: Mcp, open: OpenChannels, limits: HttpLimits) {
    this.conversations = new KeptConversations(limits.conversationIdle)
    this.#mcp = mcp
    this.#open = open
  }

  async answer(incoming: CallerRequest, message: Message | Unreadable): Promise<Reply> {
    // A closed stream cancels here. A notification cannot name a request of another HTTP exchange.
    if (message.kind === 'notification') return accepted()
    if (message.kind === 'response') return refusal(400, 'this protocol version has no requests to answer')
    try {
      if (message.kind === 'request') checkModern(incoming.asked, message)
    } catch (fault) {
      return errorReply(400, errorOf(fault), message.id)
    }
    const kept = this.#keptFor(incoming)
    return kept ? this.#ask(incoming, kept, message) : noServer(incoming.scope)
  }

  #keptFor({ caller, scope }: CallerRequest): KeptConversation | undefined {
    const name = `${caller.owner}\n${scope.kind === 'all' ? '' : scope.name}`
    const known = this.conversations.get(name)
    if (known) return known
    const conversation = this.#mcp.converse(caller.identity, scope)
    return conversation && this.conversations.add(name, caller, '', conversation)
  }

  #ask(incoming: CallerRequest, kept: KeptConversation, message: Request | Unreadable): Promise<Reply> {
    // Two clients may use the same ids.
    const id = `http-${++this.#asked}`
    const over = (why: Ending): void => {
      if (why !== 'answered') kept.conversation.abandon(id)
    }
    if (message.kind === 'unreadable') {
      return this.#open.pass(incoming, kept, message, { over, statusOf: () => 400 })
    }
    const outOf = (out: Out): Out => outAs(out, id, message.id)
    const own = { ...message, id, clientId: message.id }
    return this.#open.pass(incoming, kept, own, { over, outOf, statusOf })
  }
}

/** Replaces the internal id of a request with the id of the client. */
function outAs(out: Out, id: RequestId, own: RequestId): Out {
  const head = `{"id":${JSON.stringify(id)},`
  const broken = errorOf(undefined)
  return {
    send(text, last, error) {
      if (!last) out.send(text, false)
      else if (error) out.send(formatError(own, error), true, error)
      else if (text.startsWith(head)) {
        out.send(`{"id":${JSON.stringify(own)},${text.slice(head.length)}`, true)
      } else {
        // An answer to another request must not be shown.
        out.send(formatError(own, broken), true, broken)
      }
    },
    end: () => out.end?.(),
  }
}

const STATUS: Readonly<Record<number, number>> = {
  [CODE.headerMismatch]: 400,
  [CODE.missingCapability]: 400,
  [CODE.unsupportedVersion]: 400,
  [CODE.invalidRequest]: 400,
  [CODE.parse]: 400,
  [CODE.methodNotFound]: 404,
}

function statusOf(error: RpcError | undefined): number {
  return error === undefined ? 200 : (STATUS[error.code] ?? 200)
}
