// Sessions that are opened for something: side effects outside of it are asked about.

import { canonicalize } from '@tollgate/evidence'
import { jsonOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { id, object, orNull, text } from './reading.ts'
import type { Connection } from './transport.ts'

/** What a session is for. What is left out is not limited; an empty list allows none. */
export interface Scope {
  readonly effects?: readonly string[]
  /** Names of tools, `*` for any characters. */
  readonly tools?: readonly string[]
  /** What side effects may act on: addresses, hosts, accounts, paths, names; `*` for any characters. */
  readonly sinks?: readonly string[]
  /** Its tools may also act on what the session has looked up as data. */
  readonly looked_up?: boolean
  /** RFC 3339; from then on every side effect is outside. */
  readonly until?: string
  /** Where it comes from: the application, the person it works for, or that person's words. `host` if not given. */
  readonly by?: 'host' | 'user' | 'proposed'
}

/** A session that is opened. */
export interface SessionOrder {
  /** Its id; that of the client if not given. */
  readonly session?: string
  /** Whose session; the owner of the token if it is a host's. */
  readonly principal?: string
  readonly scope: Scope
}

/** A session that was opened. */
export interface OpenedSession {
  readonly session: string
  readonly principal: string
  readonly scope_hash: string
  /** Id of the receipt; null if the same scope was in force already. */
  readonly receipt: string | null
}

/** Opens a session. Sent once: after a fault, send the same again, which changes nothing if it was done. */
export async function openSession(
  connection: Connection,
  { session, principal, scope }: SessionOrder,
  own: string | undefined,
): Promise<OpenedSession> {
  const session_id = session ?? own
  if (session_id === undefined) throw new TypeError('which session? give `session`, here or to the client')
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
