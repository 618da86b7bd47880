// The limits of the HTTP door.

import { MAX_MESSAGE } from '../message.ts'

/** How much of what. Times are in milliseconds. */
export interface HttpLimits {
  /** Bytes of a body. */
  readonly body: number
  /** Bytes of a body that opens a session. */
  readonly opening: number
  /** Sessions of one principal. */
  readonly sessions: number
  /** Sessions of all. */
  readonly sessionsInAll: number
  /** Requests and streams that one principal has open. */
  readonly open: number
  /** Characters that wait for a reader. */
  readonly unread: number
  /** After so long without a request, a session is over. */
  readonly sessionIdle: number
  /** After so long without a request, what is kept for a principal that comes without sessions is closed. */
  readonly conversationIdle: number
  /** A stream says something this often. */
  readonly heartbeat: number
  /** So long an answer may take before it becomes a stream. */
  readonly patience: number
  /** How often it is looked whether tokens still hold and what is idle. */
  readonly look: number
}

/** What holds if nothing else is said. */
export const HTTP_LIMITS: HttpLimits = {
  body: MAX_MESSAGE,
  opening: 64 << 10,
  sessions: 32,
  sessionsInAll: 1024,
  open: 64,
  unread: 2 * MAX_MESSAGE,
  sessionIdle: 30 * 60_000,
  conversationIdle: 10 * 60_000,
  heartbeat: 15_000,
  patience: 10_000,
  look: 1000,
}
