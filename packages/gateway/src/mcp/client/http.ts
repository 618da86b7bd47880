// The door for MCP clients that come over HTTP: `/mcp` for every server, `/mcp/{server}` for one. Both eras of the protocol are
// spoken on the same path, and who asks is known before anything of the body is read.

import type { Asked, Door, Reply } from '../../exchange.ts'
import type { Log } from '../../log.ts'
import type { Caller, Tokens } from '../../tokens.ts'
import { isServerName } from '../../tools/offer.ts'
import { bodyRefusal, isModern } from './http-headers.ts'
import { createLegacy } from './http-legacy.ts'
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts'
import { createModern } from './http-modern.ts'
import { callerOf, createOpen, type OpenChannels } from './http-open.ts'
import { refusal } from './http-reply.ts'
import type { Mcp, Scope } from '../mcp.ts'
import { parseMessage } from '../message.ts'

/** What the door is made of. */
export interface HttpDoorOptions {
  readonly mcp: Mcp
  readonly tokens: Pick<Tokens, 'identify'>
  readonly log: Log
  readonly limits?: Partial<HttpLimits>
}

const PATH = /^\/mcp(?:\/([^/]+))?$/
const CHALLENGE = { 'www-authenticate': 'Bearer realm="tollgate"' }

/** Opens the door. */
export function createHttpDoor({ mcp, tokens, log, limits: given = {} }: HttpDoorOptions): Door {
  const limits = { ...HTTP_LIMITS, ...given }
  const modern = createModern(mcp, () => open, limits)
  const legacy = createLegacy(mcp, () => open, limits)
  const open: OpenChannels = createOpen(limits, () => {
    modern.look()
    legacy.look()
  })

  async function post(asked: Asked, caller: Caller, scope: Scope): Promise<Reply> {
    const refused = bodyRefusal(asked)
    if (refused) return refused
    const message = parseMessage(await asked.body(limits.body), limits.body)
    // A body takes its time, and the token may be gone by now.
    if (!caller.known()) return unknownToken()
    // Also what cannot be read is on the record: perhaps it was a call.
    if (message.kind === 'unreadable') return modern.answer(asked, caller, scope, message)
    const params = message.kind === 'response' ? {} : message.params
    return isModern(asked, params)
      ? modern.answer(asked, caller, scope, message)
      : legacy.take(asked, caller, scope, message)
  }

  async function answer(asked: Asked): Promise<Reply | undefined> {
    const path = PATH.exec(asked.path)
    if (!path) return undefined
    const [, name] = path
    if (name !== undefined && !isServerName(name)) return undefined
    const caller = callerOf(asked, tokens)
    if (!caller) return unknownToken()
    const { role } = caller.identity
    if (role !== 'agent') {
      return refusal(403, `the token has the role \`${role}\`; agents come with the role \`agent\``)
    }
    const scope: Scope = name === undefined ? { kind: 'all' } : { kind: 'server', name }
    if (asked.method === 'POST') return post(asked, caller, scope)
    if (asked.method === 'GET') return legacy.listen(asked, caller)
    if (asked.method === 'DELETE') return legacy.end(asked, caller)
    return refusal(405, 'messages are sent with POST', { allow: 'POST, GET, DELETE' })
  }

  return {
    answer,
    end: () => open.end(),
    async close() {
      open.close()
      const ends = await Promise.allSettled([modern.close(), legacy.close()])
      if (ends.some(({ status }) => status === 'rejected')) log('warn', 'an MCP conversation ended badly')
    },
  }
}

function unknownToken(): Reply {
  return refusal(401, 'the token is missing, unknown or no longer in force', CHALLENGE)
}
