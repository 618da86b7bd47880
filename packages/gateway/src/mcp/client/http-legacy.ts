// Requests of the revisions with sessions.

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { DoorRequest, Reply } from '../../exchange.ts'
import type { Out } from '../conversation.ts'
import { isLegacyVersion, streamRefusal } from './http-headers.ts'
import type { HttpLimits } from './http-limits.ts'
import type { OpenChannels, CallerRequest } from './http-open.ts'
import { accepted, errorReply, noServer, refusal, streamReply, TOO_MANY } from './http-reply.ts'
import { KeptConversations, type KeptConversation } from './http-sessions.ts'
import type { Mcp } from '../mcp.ts'
import { CODE, type Message, type Request } from '../message.ts'

const SESSION = 'mcp-session-id'
const NOWHERE: Out = { send: () => undefined }

/** A session belongs to the caller that began it. Its id is no credential: for other callers the session does not exist. */
export class LegacyRequests {
  readonly sessions: KeptConversations
  readonly #mcp: Mcp
  readonly #open: OpenChannels
  readonly #limits: HttpLimits

  constructor(mcp: Mcp, open: OpenChannels, limits: HttpLimits) {
    this.sessions = new KeptConversations(limits.sessionIdle)
    this.#mcp = mcp
    this.#open = open
    this.#limits = limits
  }

  /** The refusal of a request by its headers alone; undefined if it can be taken. */
  refusalOf(incoming: CallerRequest): Reply | undefined {
    const { asked } = incoming
    if (!isLegacyVersion(asked) || asked.header(SESSION) === undefined) return undefined
    const session = this.#sessionOf(incoming)
    return 'id' in session ? undefined : session
  }

  /** Takes a message of the client. */
  async take(incoming: CallerRequest, message: Message): Promise<Reply> {
    const isRequest = message.kind === 'request'
    if (isRequest && message.method === 'initialize') return this.#begin(incoming, message)
    const session = this.#sessionOf(incoming)
    if (!('id' in session)) return session
    if (isRequest) return this.#request(incoming, session, message, false)
    session.since = performance.now()
    session.conversation.take(message, NOWHERE).catch(() => undefined)
    return accepted()
  }

  /** Opens the stream for messages that belong to no request. */
  listen(incoming: CallerRequest): Reply {
    const refused = wrongProtocol(incoming.asked) ?? streamRefusal(incoming.asked)
    if (refused) return refused
    const session = this.#sessionOf(incoming)
    if (!('id' in session)) return session
    if (session.listening) return refusal(409, 'the session already has a stream')
    const channel = this.#open.open(incoming, session, true, () => {
      session.listening = false
      session.conversation.attach(undefined)
    })
    if (!channel) return errorReply(429, TOO_MANY)
    session.listening = true
    // No message on this stream is an answer, so none ends it.
    session.conversation.attach({ send: (text) => channel.out.send(text, false) })
    return streamReply(channel.pieces())
  }

  /** Ends a session. */
  async end(incoming: CallerRequest): Promise<Reply> {
    const refused = wrongProtocol(incoming.asked)
    if (refused) return refused
    const session = this.#sessionOf(incoming)
    if (!('id' in session)) return session
    await this.sessions.end(session)
    return { status: 204, headers: {}, body: '' }
  }

  /** The named session, or a refusal. */
  #sessionOf({ asked, caller }: CallerRequest): KeptConversation | Reply {
    const id = asked.header(SESSION)
    if (id === undefined) {
      return refusal(400, 'the request names no session: send `Mcp-Session-Id`, or `initialize` first')
    }
    const session = this.sessions.get(id)
    if (session?.owner === caller.owner && session.path === asked.path) return session
    return refusal(404, 'unknown or ended session: begin a new one with `initialize`')
  }

  async #begin(incoming: CallerRequest, message: Request): Promise<Reply> {
    const { asked, caller, scope } = incoming
    if (asked.header(SESSION) !== undefined) return refusal(400, 'the session is already initialized')
    if (!this.#hasCapacity(caller.owner)) {
      return refusal(429, 'too many sessions, and none of yours is idle: end one')
    }
    const conversation = this.#mcp.converse(caller.identity, scope)
    if (!conversation) return noServer(scope)
    const id = randomBytes(32).toString('base64url')
    const session = this.sessions.add(id, caller, asked.path, conversation)
    return this.#request(incoming, session, message, true)
  }

  /** Whether one more session may begin. If there are too many, ends the caller's oldest idle one. */
  #hasCapacity(owner: string): boolean {
    const all = this.sessions.all()
    const own = all.filter((session) => session.owner === owner)
    if (own.length < this.#limits.sessions && all.length < this.#limits.sessionsInAll) return true
    const [oldest] = own.filter(({ busy }) => busy === 0).sort((a, b) => a.since - b.since)
    if (oldest) void this.sessions.end(oldest)
    return oldest !== undefined
  }

  /** Passes a request to the conversation. A session whose `initialize` fails is ended. */
  #request(
    incoming: CallerRequest,
    session: KeptConversation,
    message: Request,
    begins: boolean,
  ): Promise<Reply> {
    return this.#open.pass(incoming, session, message, {
      headers: begins ? { [SESSION]: session.id } : {},
      over: (why) => {
        // In these revisions a lost connection does not cancel.
        if (why === 'gone') session.conversation.lose(message.id)
        if (why === 'ended' || why === 'flooded') session.conversation.abandon(message.id)
        if (begins && why !== 'answered') void this.sessions.end(session)
      },
      ...(begins && { refused: () => this.sessions.end(session) }),
      outOf: (out) => ({
        send: (text, last, error) => {
          out.send(text, last, error)
          if (begins && last && error) void this.sessions.end(session)
        },
        end: () => out.end?.(),
      }),
    })
  }
}

/** Only the revisions with sessions support methods other than POST. */
function wrongProtocol(asked: DoorRequest): Reply | undefined {
  if (isLegacyVersion(asked)) return undefined
  const message = 'this protocol version has no sessions and no separate streams: send POST requests'
  return errorReply(405, { code: CODE.invalidRequest, message }, undefined, { allow: 'POST' })
}
