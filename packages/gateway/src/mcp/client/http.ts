// The HTTP door for MCP clients: `/mcp` for all servers, `/mcp/{server}` for one. Both protocols use the same path. The caller
// is authenticated before the body is read.

import { announced, createBudget, type Budget } from '../../budget.ts'
import type { DoorRequest, Door, Reply } from '../../exchange.ts'
import type { Log } from '../../log.ts'
import type { Tokens } from '../../tokens.ts'
import { isServerName } from '../../tools/offer.ts'
import { denialText } from '../../verdict.ts'
import { bodyRefusal, isModern, mayBeLarge } from './http-headers.ts'
import { LegacyRequests } from './http-legacy.ts'
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts'
import { ModernRequests } from './http-modern.ts'
import { callerOf, OpenChannels, type CallerRequest } from './http-open.ts'
import { errorReply, noServer, refusal } from './http-reply.ts'
import type { Mcp, Scope } from '../mcp.ts'
import { CODE, parseMessage } from '../message.ts'

interface HttpDoorOptions {
  readonly mcp: Mcp
  readonly tokens: Pick<Tokens, 'identify'>
  readonly log: Log
  readonly limits?: Partial<HttpLimits>
  /** Limits how much the gateway reads for each principal; the default limits if not given. */
  readonly budget?: Budget
}

const PATH = /^\/mcp(?:\/([^/]+))?$/
const CHALLENGE = 'Bearer realm="tollgate"'

/** Opens the door. */
export function createHttpDoor(options: HttpDoorOptions): Door {
  const { mcp, tokens, log, budget = createBudget() } = options
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const open = new OpenChannels(limits, () => {
    modern.conversations.look()
    legacy.sessions.look()
  })
  const modern = new ModernRequests(mcp, open, limits)
  const legacy = new LegacyRequests(mcp, open, limits)

  async function post(incoming: CallerRequest): Promise<Reply> {
    const { asked, caller, scope } = incoming
    const refused = bodyRefusal(asked) ?? unreachable(scope) ?? legacy.refusalOf(incoming)
    if (refused) return refused
    const most = mayBeLarge(asked) ? limits.body : Math.min(limits.body, limits.opening)
    const share = budget.take(caller.identity, announced(asked.header('content-length'), most))
    if (!share.ok) return tooMuch(share.after)
    const bytes = await asked.body(most)
    share.settle(bytes.length)
    const message = parseMessage(bytes, most)
    if (message.kind === 'unreadable') budget.fine(caller.identity)
    // The token may have been revoked while the body arrived.
    if (!caller.known()) return unknownToken(asked)
    // An unreadable message may be a call, so its refusal is recorded.
    if (message.kind === 'unreadable') return modern.answer(incoming, message)
    const params = message.kind === 'response' ? {} : message.params
    return isModern(asked, params) ? modern.answer(incoming, message) : legacy.take(incoming, message)
  }

  /** A frozen caller gets no stream. Messages are refused by their conversation. */
  async function listen(incoming: CallerRequest): Promise<Reply> {
    const frozen = await mcp.refuseFrozen(incoming.caller.identity)
    return frozen ? refusal(403, denialText(frozen, false)) : legacy.listen(incoming)
  }

  /** A request for an unknown server is refused before its body is read. */
  function unreachable(scope: Scope): Reply | undefined {
    const there = scope.kind === 'server' ? mcp.servers.includes(scope.name) : mcp.servers.length > 0
    return there ? undefined : noServer(scope)
  }

  async function answer(asked: DoorRequest): Promise<Reply | undefined> {
    const incoming = callerRequestOf(asked, tokens)
    if (!incoming || 'status' in incoming) return incoming
    if (asked.method === 'POST') return post(incoming)
    if (asked.method === 'GET') return listen(incoming)
    if (asked.method === 'DELETE') return legacy.end(incoming)
    return refusal(405, 'send messages with POST', { allow: 'POST, GET, DELETE' })
  }

  return {
    name: 'mcp',
    answer,
    end() {
      mcp.end()
      open.end()
    },
    async close() {
      open.close()
      const ends = await Promise.allSettled([modern.conversations.close(), legacy.sessions.close()])
      if (ends.some(({ status }) => status === 'rejected'))
        log('warn', 'an MCP conversation could not be closed')
    },
  }
}

/** The caller of a request and the servers it addresses, or a refusal; undefined if its path belongs to another door. */
function callerRequestOf(
  asked: DoorRequest,
  tokens: Pick<Tokens, 'identify'>,
): CallerRequest | Reply | undefined {
  const [path, name] = PATH.exec(asked.path) ?? []
  if (path === undefined || (name !== undefined && !isServerName(name))) return undefined
  const caller = callerOf(asked, tokens)
  if (!caller) return unknownToken(asked)
  const { role } = caller.identity
  if (role !== 'agent') {
    return refusal(403, `the token has the role \`${role}\`: use a token with the role \`agent\``)
  }
  return { asked, caller, scope: name === undefined ? { kind: 'all' } : { kind: 'server', name } }
}

function tooMuch(after: number): Reply {
  const message = `you sent too much data: wait ${after} s, and send less`
  return errorReply(429, { code: CODE.invalidRequest, message }, undefined, { 'retry-after': String(after) })
}

function unknownToken({ signIn }: DoorRequest): Reply {
  const { challenge = CHALLENGE, refusal: refused } = signIn ?? {}
  if (refused?.kind === 'unavailable') return refusal(503, refused.message, { 'retry-after': '10' })
  const message = refused?.message ?? 'the token is missing, unknown or revoked'
  return refusal(401, message, { 'www-authenticate': challenge })
}
