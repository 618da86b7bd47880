import { MAX_MESSAGE } from '../message.ts'

/** Limits of the HTTP door. Times are in milliseconds. */
export interface HttpLimits {
  /** Bytes of a body. */
  readonly body: number
  /** Bytes of a body that opens a session. */
  readonly opening: number
  /** Sessions of one principal. */
  readonly sessions: number
  /** Sessions of all principals. */
  readonly sessionsInAll: number
  /** Open requests and streams of one principal. */
  readonly open: number
  /** Characters that wait for a reader. */
  readonly unread: number
  /** A session ends after this time without a request. */
  readonly sessionIdle: number
  /** The kept conversation of a principal without sessions closes after this time without a request. */
  readonly conversationIdle: number
  /** Interval of heartbeats on a stream. */
  readonly heartbeat: number
  /** An answer that takes longer becomes a stream. */
  readonly patience: number
  /** Interval of the checks for revoked tokens and idle sessions. */
  readonly look: number
}

/** The default limits. */
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
