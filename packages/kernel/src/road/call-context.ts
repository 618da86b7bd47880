// Where a call says it comes from, and the sessions that it names there.

import { copyOf } from '../plain.ts'
import { isName } from '../names.ts'

/** Where a call says it comes from. */
export interface Context {
  readonly environment?: string
  readonly workspace?: string
  readonly tenant?: string
}

/** What a call says of where it comes from; without `context` if it cannot be read. */
interface CapturedContext {
  readonly context?: Context
  /** The sessions that it names there, instead of beside it. */
  readonly named?: { readonly session_id?: string; readonly delegation_session_id?: string }
}

const CONTEXT_MEMBERS = ['environment', 'workspace', 'tenant', 'session_id', 'delegation_session_id']

/** Captures it. A session may be named in it, and is then no part of where the call comes from. */
export function captureContext(value: unknown): CapturedContext {
  if (value === undefined) return { context: {} }
  const copied = copyOf(value)
  if (copied === undefined) return {}
  const fits = Object.entries(copied).every(([name, at]) => CONTEXT_MEMBERS.includes(name) && isName(at))
  if (!fits) return {}
  const { session_id, delegation_session_id, ...context } = copied
  // Sound: every member is one of these names, and a name itself.
  return { context, named: { session_id, delegation_session_id } as CapturedContext['named'] & object }
}
