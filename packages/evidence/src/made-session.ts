// Ids of sessions that the gateway makes, one for each process that names no session. Such a session shares the state of its
// principal, so a new process does not reset the risk. A caller gains nothing by sending an id of this form.

const MADE = /^mcp:[0-9a-f]{32}$/

/** The session id of a process. `random` must be 32 hexadecimal digits. */
export function madeSession(random: string): string {
  return `mcp:${random}`
}

/** Whether a session id has the form that the gateway makes. */
export function isMadeSession(session: string): boolean {
  return session.startsWith('mcp:') && MADE.test(session)
}

/** The key of the session state: the principal for a made session, else the session itself. */
export function memoryOf(principal: string, session: string): string {
  return isMadeSession(session) ? principal : session
}
