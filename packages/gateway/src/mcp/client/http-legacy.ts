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

/** Requests with sessions. */
interface Legacy {
  /** Why no message of this request could be taken, by its headers alone; undefined if one could. */
  refusalOf(asked: DoorRequest, caller: KnownCaller): Reply | undefined
  /** A message of the client. */
  take(asked: DoorRequest, caller: KnownCaller, scope: Scope, message: Message): Promise<Reply>
  /** The stream for what belongs to no request. */
  listen(asked: DoorRequest, caller: KnownCaller): Reply
  /** Ends a session. */
  end(asked: DoorRequest, caller: KnownCaller): Promise<Reply>
  /** Ends sessions that are idle. */
  look(): void
  close(): Promise<void>
}

const SESSION = 'mcp-session-id'
const NOWHERE: Out = { send: () => undefined }

/** Makes it. */
export function createLegacy(mcp: Mcp, open: () => OpenChannels, limits: HttpLimits): Legacy {
  const sessions = createSessions(limits)

  /** The session that is named, or why there is none. */
  function sessionOf(asked: DoorRequest, caller: KnownCaller): Session | Reply {
    const id = asked.header(SESSION)
    if (id === undefined) {
      return refusal(400, 'the request names no session: send `Mcp-Session-Id`, or begin with `initialize`')
    }
    return (
      sessions.find(id, caller, asked.path) ??
      refusal(404, 'there is no such session, or it is over: begin a new one with `initialize`')
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
    if (asked.header(SESSION) !== undefined) return refusal(400, 'the session has been initialized already')
    const session = sessions.begin(caller, asked.path, () => mcp.converse(caller.identity, scope))
    if (session === 'unknown') return noServer(scope)
    if (!session) {
      const message = 'there are as many sessions as there may be, and none of yours is idle; end one'
      return refusal(429, message)
    }
    return request(asked, caller, session, message, true)
  }

  /** Asks the conversation. A session whose beginning fails is none. */
  async function request(
    asked: DoorRequest,
    caller: KnownCaller,
    session: Session,
    message: Request,
    begins: boolean,
  ): Promise<Reply> {
    const channel = opened(asked, caller, session, false, (why) => {
      // In these revisions a lost connection is no wish to cancel.
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
    if (session.listening) return refusal(409, 'the session has its stream already')
    const channel = opened(asked, caller, session, true, () => {
      session.listening = false
      session.conversation.attach(undefined)
    })
    if (!channel) return errorReply(429, TOO_MANY)
    session.listening = true
    // Nothing on this stream is an answer, so nothing ends it.
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

/** Only the revisions with sessions have anything but POST. */
function wrongProtocol(asked: DoorRequest): Reply | undefined {
  if (isLegacyVersion(asked)) return undefined
  const message = 'this revision of the protocol has no sessions and no streams beside requests'
  return errorReply(405, { code: CODE.invalidRequest, message }, undefined, { allow: 'POST' })
}
