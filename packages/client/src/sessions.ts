// Opens sessions with a scope. Side effects outside the scope are escalated.

import { canonicalize } from '@tollgate/evidence'
import { jsonOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { id, object, orNull, text } from './reading.ts'
import type { Connection } from './transport.ts'

/** The scope of a session. A missing member is not limited; an empty list allows nothing. */
export interface Scope {
  readonly effects?: readonly string[]
  /** Names of tools; `*` matches any characters. */
  readonly tools?: readonly string[]
  /** Allowed targets of side effects: addresses, hostnames, accounts, paths, names; `*` matches any characters. */
  readonly sinks?: readonly string[]
  /** Also allows targets that the session looked up as data. */
  readonly looked_up?: boolean
  /** End of the scope (RFC 3339). After it, every side effect is outside the scope. */
  readonly until?: string
  /** The source: the host application, the user, or a proposal from the user's words. Default `host`. */
  readonly by?: 'host' | 'user' | 'proposed'
}

/** A session to open. */
export interface SessionOrder {
  /** Its id. Default: `session` of the client. */
  readonly session?: string
  /** Its principal. Default: the owner of a `host` token. */
  readonly principal?: string
  readonly scope: Scope
}

/** An opened session. */
export interface OpenedSession {
  readonly session: string
  readonly principal: string
  readonly scope_hash: string
  /** Id of the receipt; null if the same scope was already in force. */
  readonly receipt: string | null
}

/** Opens a session. Not retried, but safe to repeat after an error. */
export async function openSession(
  connection: Connection,
  { session, principal, scope }: SessionOrder,
  own: string | undefined,
): Promise<OpenedSession> {
  const session_id = session ?? own
  if (session_id === undefined) throw new TypeError('no session given; set `session` here or for the client')
  const body = canonicalize({ session_id, scope, ...(principal !== undefined && { principal }) })
  const answer = object(
    jsonOf(await exchange(connection, { method: 'POST', path: '/v1/sessions', body }, 0)),
    'answer',
  )
  return {
    session: text(answer['session'], 'session'),
    principal: text(answer['principal'], 'principal'),
    scope_hash: id(answer['scope_hash'], 'scope_hash'),
    receipt: orNull(id)(answer['receipt'], 'receipt'),
  }
}
