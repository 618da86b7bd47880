// The sessions of one client: which targets it has attached to.

import { asObject, textOf, type CdpResult } from '../cdp.ts'

/** The sessions of a client. */
interface Sessions {
  has(session: string): boolean
  /** The id of the target of a session; undefined for the browser itself. */
  targetOf(session: string): string | undefined
  /** Whether the target of a session waits, and has not loaded anything. */
  isHeld(session: string): boolean
  /** Takes an event of one of the sessions. Returns false if the client may not see it. */
  follow(method: string, params: CdpResult): boolean
}

// Others are parts of the browser itself: pages with more rights than a web page has.
const SHOWN = new Set([
  'page',
  'iframe',
  'tab',
  'worker',
  'shared_worker',
  'service_worker',
  'worklet',
  'browser',
])

/** Whether a client may see a target. */
export function isShown(info: unknown): boolean {
  const { type, url } = asObject(info)
  return (
    SHOWN.has(textOf(type)) && !/^(?:chrome|devtools|chrome-extension|chrome-untrusted):/.test(textOf(url))
  )
}

/** Begins with the session of the browser. */
export function openSessions(root: string): Sessions {
  const targets = new Map<string, string | undefined>([[root, undefined]])
  const held = new Set<string>()
  return {
    has: (session) => targets.has(session),
    targetOf: (session) => targets.get(session),
    isHeld: (session) => held.has(session),
    follow(method, params) {
      const { targetInfo: info, sessionId, waitingForDebugger } = params
      const session = textOf(sessionId)
      if (method === 'Target.detachedFromTarget') {
        held.delete(session)
        return targets.delete(session)
      }
      if (info === undefined) return true
      if (!isShown(info)) return false
      if (method !== 'Target.attachedToTarget') return true
      const { targetId, type } = asObject(info)
      targets.set(session, textOf(targetId))
      // A tab only wraps a page, and the gateway has no session of it.
      if (waitingForDebugger === true && type !== 'tab') held.add(session)
      return true
    },
  }
}
