// Ids of sessions that a gateway makes itself, one for each process that joins it and names no session. Receipts hold the id. What is
// remembered of such a session is its principal's: a new process begins nowhere else. The id itself says so and not who made it, so a
// caller that writes such an id gains nothing.

const MADE = /^mcp:[0-9a-f]{32}$/

/** The id of a process. `random` is 32 hexadecimal digits. */
export function madeSession(random: string): string {
  return `mcp:${random}`
}

/** Whether a gateway makes such ids. */
export function isMadeSession(session: string): boolean {
  return session.startsWith('mcp:') && MADE.test(session)
}

/** The session whose memory a session has, inside its principal: that of the principal for an id that was made, else its own. */
export function memoryOf(principal: string, session: string): string {
  return isMadeSession(session) ? principal : session
}
