// Captures the context of a call: where it claims to come from, and the sessions that it names there.

import { copyOf } from '../plain.ts'
import { isName } from '../names.ts'

/** The claimed environment, workspace and tenant of a call. */
export interface Context {
  readonly environment?: string
  readonly workspace?: string
  readonly tenant?: string
}

/** The captured context; without `context` if it is unreadable. */
interface CapturedContext {
  readonly context?: Context
  /** The sessions named inside the context. */
  readonly named?: { readonly session_id?: string; readonly delegation_session_id?: string }
}

const CONTEXT_MEMBERS = ['environment', 'workspace', 'tenant', 'session_id', 'delegation_session_id']

/** Captures the context. Session ids in it are returned separately. */
export function captureContext(value: unknown): CapturedContext {
  if (value === undefined) return { context: {} }
  const copied = copyOf(value)
  if (copied === undefined) return {}
  const fits = Object.entries(copied).every(([name, at]) => CONTEXT_MEMBERS.includes(name) && isName(at))
  if (!fits) return {}
  const { session_id, delegation_session_id, ...context } = copied
  // Safe cast: every member is one of these names, and its value is a valid name.
  return { context, named: { session_id, delegation_session_id } as CapturedContext['named'] & object }
}
