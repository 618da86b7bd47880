// Requests of the revisions with sessions.

import { performance } from 'node:perf_hooks'
import type { DoorRequest, Reply } from '../../exchange.ts'
import type { Out } from '../conversation.ts'
import type { HttpChannel, Ending } from './http-channel.ts'
import { isLegacyVersion, streamRefusal } from './http-headers.ts'
import type { HttpLimits } from './http-limits.ts'
import { endedReply, noServer, TOO_MANY } from './http-modern.ts'
import type { KnownCaller } from '../../tokens.ts'
import type { OpenChannels } from './http-open.ts'
import { accepted, errorReply, messageReply, refusal, streamReply } from './http-reply.ts'
import { createSessions, type Session } from './http-sessions.ts'
import type { Mcp, Scope } from '../mcp.ts'
import { CODE, errorOf, formatError, type Message, type Request } from '../message.ts'

interface Legacy {
  /** The refusal of a request by its headers alone; undefined if it can be taken. */
  refusalOf(asked: DoorRequest, caller: KnownCaller): Reply | undefined
  /** Takes a message of the client. */
  take(asked: DoorRequest, caller: KnownCaller, scope: Scope, message: Message): Promise<Reply>
  /** Opens the stream for messages that belong to no request. */
  listen(asked: DoorRequest, caller: KnownCaller): Reply
  /** Ends a session. */
  end(asked: DoorRequest, caller: KnownCaller): Promise<Reply>
  /** Ends idle sessions. */
  look(): void
  close(): Promise<void>
}

const SESSION = 'mcp-session-id'
const NOWHERE: Out = { send: () => undefined }

export function createLegacy(mcp: Mcp, open: () => OpenChannels, limits: HttpLimits): Legacy {
  const sessions = createSessions(limits)

  /** The named session, or a refusal. */
  function sessionOf(asked: DoorRequest, caller: KnownCaller): Session | Reply {
    const id = asked.header(SESSION)
    if (id === undefined) {
      return refusal(400, 'the request names no session: send `Mcp-Session-Id`, or `initialize` first')
    }
    return (
      sessions.find(id, caller, asked.path) ??
      refusal(404, 'unknown or ended session: begin a new one with `initialize`')
    )
  }

  function opened(
    asked: DoorRequest,
    caller: KnownCaller,
    session: Session,
    endless: boolean,
    over: (why: Ending) => void,
  ): HttpChannel | undefined {
    const channel = open().open(asked, caller, {
      endless,
      over(why) {
        session.busy--
        session.since = performance.now()
        over(why)
      },
    })
    if (channel) session.busy++
    return channel
  }

  async function begin(
    asked: DoorRequest,
    caller: KnownCaller,
    scope: Scope,
    message: Request,
  ): Promise<Reply> {
    if (asked.header(SESSION) !== undefined) return refusal(400, 'the session is already initialized')
    const session = sessions.begin(caller, asked.path, () => mcp.converse(caller.identity, scope))
    if (session === 'unknown') return noServer(scope)
    if (!session) {
      const message = 'too many sessions, and none of yours is idle: end one'
      return refusal(429, message)
    }
    return request(asked, caller, session, message, true)
  }

  /** Passes a request to the conversation. A session whose `initialize` fails is ended. */
  async function request(
    asked: DoorRequest,
    caller: KnownCaller,
    session: Session,
    message: Request,
    begins: boolean,
  ): Promise<Reply> {
    const channel = opened(asked, caller, session, false, (why) => {
      // In these revisions a lost connection does not cancel.
      if (why === 'ended' || why === 'flooded') session.conversation.abandon(message.id)
      if (begins && why !== 'answered') void sessions.end(session)
    })
    if (!channel) {
      if (begins) await sessions.end(session)
      return errorReply(429, TOO_MANY, message.id)
    }
    const out: Out = {
      send(text, last, error) {
        channel.out.send(text, last, error)
        if (begins && last && error) void sessions.end(session)
      },
      end: () => channel.out.end?.(),
    }
    session.conversation.take(message, out).catch(() => {
      const error = errorOf(undefined)
      out.send(formatError(message.id, error), true, error)
    })
    const opening = await channel.opening(limits.patience)
    const headers: Record<string, string> = begins ? { [SESSION]: session.id } : {}
    if (opening.kind === 'stream') return streamReply(channel.pieces(), headers)
    if (opening.kind === 'ended') return endedReply(caller, message.id)
    return messageReply(200, opening.text, opening.error ? {} : headers)
  }

  async function take(
    asked: DoorRequest,
    caller: KnownCaller,
    scope: Scope,
    message: Message,
  ): Promise<Reply> {
    if (message.kind === 'request' && message.method === 'initialize') {
      return begin(asked, caller, scope, message)
    }
    const session = sessionOf(asked, caller)
    if (!('id' in session)) return session
    if (message.kind === 'request') return request(asked, caller, session, message, false)
    session.since = performance.now()
    session.conversation.take(message, NOWHERE).catch(() => undefined)
    return accepted()
  }

  function listen(asked: DoorRequest, caller: KnownCaller): Reply {
    const refused = wrongProtocol(asked) ?? streamRefusal(asked)
    if (refused) return refused
    const session = sessionOf(asked, caller)
    if (!('id' in session)) return session
    if (session.listening) return refusal(409, 'the session already has a stream')
    const channel = opened(asked, caller, session, true, () => {
      session.listening = false
      session.conversation.attach(undefined)
    })
    if (!channel) return errorReply(429, TOO_MANY)
    session.listening = true
    // No message on this stream is an answer, so none ends it.
    session.conversation.attach({ send: (text) => channel.out.send(text, false) })
    return streamReply(channel.pieces())
  }

  return {
    refusalOf(asked, caller) {
      if (!isLegacyVersion(asked) || asked.header(SESSION) === undefined) return undefined
      const session = sessionOf(asked, caller)
      return 'id' in session ? undefined : session
    },
    take,
    listen,
    async end(asked, caller) {
      const refused = wrongProtocol(asked)
      if (refused) return refused
      const session = sessionOf(asked, caller)
      if (!('id' in session)) return session
      await sessions.end(session)
      return { status: 204, headers: {}, body: '' }
    },
    look: () => sessions.look(),
    close: () => sessions.close(),
  }
}

/** Only the revisions with sessions support methods other than POST. */
function wrongProtocol(asked: DoorRequest): Reply | undefined {
  if (isLegacyVersion(asked)) return undefined
  const message = 'this protocol version has no sessions and no separate streams: send POST requests'
  return errorReply(405, { code: CODE.invalidRequest, message }, undefined, { allow: 'POST' })
}
