// Requests of the revision without sessions. All requests of a principal share one conversation, so that servers are not
// started for each request. It is closed when idle.

import { performance } from 'node:perf_hooks'
import type { DoorRequest, Reply } from '../../exchange.ts'
import type { Conversation, Out } from '../conversation.ts'
import { META, metaOf } from '../protocol.ts'
import { checkModern } from './http-headers.ts'
import type { HttpLimits } from './http-limits.ts'
import type { KnownCaller } from '../../tokens.ts'
import type { OpenChannels } from './http-open.ts'
import { accepted, errorReply, messageReply, refusal, streamReply } from './http-reply.ts'
import type { Mcp, Scope } from '../mcp.ts'
import {
  CODE,
  errorOf,
  formatError,
  formatNotification,
  parseMessage,
  type Message,
  type Request,
  type RequestId,
  type RpcError,
  type Unreadable,
} from '../message.ts'

interface Modern {
  answer(asked: DoorRequest, caller: KnownCaller, scope: Scope, message: Message | Unreadable): Promise<Reply>
  /** Closes idle conversations. */
  look(): void
  close(): Promise<void>
}

interface KeptConversation {
  readonly conversation: Conversation
  /** Active requests. */
  busy: number
  /** When the last one ended. */
  since: number
}

export function createModern(mcp: Mcp, open: () => OpenChannels, limits: HttpLimits): Modern {
  const all = new Map<string, KeptConversation>()
  let asked = 0

  function keptFor({ identity, owner }: KnownCaller, scope: Scope): KeptConversation | undefined {
    const name = `${owner}\n${scope.kind === 'all' ? '' : scope.name}`
    const known = all.get(name)
    if (known) return known
    const conversation = mcp.converse(identity, scope)
    if (!conversation) return undefined
    const kept = { conversation, busy: 0, since: performance.now() }
    all.set(name, kept)
    return kept
  }

  async function answer(
    from: DoorRequest,
    caller: KnownCaller,
    scope: Scope,
    message: Message | Unreadable,
  ): Promise<Reply> {
    // A closed stream cancels here. A notification cannot name a request of another HTTP exchange.
    if (message.kind === 'notification') return accepted()
    if (message.kind === 'response') return refusal(400, 'this protocol version has no requests to answer')
    try {
      if (message.kind === 'request') checkModern(from, message)
    } catch (fault) {
      return errorReply(400, errorOf(fault), message.id)
    }
    const kept = keptFor(caller, scope)
    return kept ? ask(kept, from, caller, message) : noServer(scope)
  }

  async function ask(
    kept: KeptConversation,
    from: DoorRequest,
    caller: KnownCaller,
    message: Request | Unreadable,
  ): Promise<Reply> {
    // Two clients may use the same ids.
    const id = `http-${++asked}`
    const channel = open().open(from, caller, {
      endless: message.kind === 'request' && message.method === 'subscriptions/listen',
      over(why) {
        kept.busy--
        kept.since = performance.now()
        if (why !== 'answered') kept.conversation.abandon(id)
      },
    })
    if (!channel) return errorReply(429, TOO_MANY, message.id)
    kept.busy++
    const readable = message.kind === 'request'
    const out = readable ? outAs(channel.out, id, message.id) : channel.out
    kept.conversation.take(readable ? { ...message, id } : message, out).catch(() => {
      channel.out.send(formatError(message.id, errorOf(undefined)), true, errorOf(undefined))
    })
    const opening = await channel.opening(limits.patience)
    if (opening.kind === 'stream') return streamReply(channel.pieces())
    if (opening.kind === 'ended') return endedReply(caller, message.id)
    return messageReply(readable ? statusOf(opening.error) : 400, opening.text)
  }

  return {
    answer,
    look() {
      const before = performance.now() - limits.conversationIdle
      for (const [name, { busy, since, conversation }] of all) {
        if (busy > 0 || since > before) continue
        all.delete(name)
        void conversation.close()
      }
    },
    async close() {
      await Promise.all([...all.values()].map(({ conversation }) => conversation.close()))
      all.clear()
    },
  }
}

/** Replaces the internal id of a request with the id of the client. */
function outAs(out: Out, id: RequestId, own: RequestId): Out {
  const head = `{"id":${JSON.stringify(id)},`
  const broken = errorOf(undefined)
  return {
    send(text, last, error) {
      if (!last) out.send(subscribedAs(text, id, own), false)
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

/** Replaces the subscription id in a notification. */
function subscribedAs(text: string, id: RequestId, own: RequestId): string {
  if (!text.includes(META.subscription)) return text
  const message = parseMessage(text)
  if (message.kind !== 'notification') return text
  const { method, params } = message
  const meta = metaOf(params)
  if (meta[META.subscription] !== id) return text
  return formatNotification(method, { ...params, _meta: { ...meta, [META.subscription]: own } })
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

export const TOO_MANY: RpcError = {
  code: CODE.invalidRequest,
  message: 'too many open requests: close some, or wait until they are answered',
}

export function noServer({ kind }: Scope): Reply {
  return refusal(404, kind === 'all' ? 'no server is configured' : 'unknown server: check the path')
}

/** The answer when a request was ended from the gateway. */
export function endedReply(caller: KnownCaller, id: RequestId | undefined): Reply {
  const [status, message] = caller.known()
    ? [503, 'the gateway is stopping; the outcome of the request is on its ledger']
    : [401, 'the token has been revoked']
  return errorReply(status, { code: CODE.internal, message }, id)
}
