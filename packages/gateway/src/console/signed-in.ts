// The people who are signed in to the console. A cookie and a key name a session; its token never leaves the gateway's memory.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '@tollgate/evidence'

/** The proof of a session that the browser gets. The script cannot read the cookie; no other origin can read the key. */
export interface Credentials {
  readonly cookie: string
  readonly key: string
}

/** A session of the console. */
interface SignedIn {
  /** The token that the person signed in with. */
  readonly token: string
  /** When the session ends at the latest, in milliseconds. */
  readonly ends: number
  /** When it ends if the person does nothing until then. */
  readonly idles: number
}

interface OpenSession {
  readonly token: string
  readonly owner: string
  readonly key: string
  readonly ends: number
  used: number
}

export const LASTS_MS: number = 8 * 3_600_000
const IDLE_MS = 3_600_000
const MAX_SESSIONS = 256
const MAX_OF_ONE = 16
const FORM = /^[A-Za-z0-9_-]{43}$/

/** The sessions of the console of one gateway. A restart ends all of them. */
export class SignedInPeople {
  readonly #now: () => number
  /** Oldest first, by the hash of the cookie. */
  readonly #sessions = new Map<string, OpenSession>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Opens a session. The oldest session of the owner, or of everyone, makes room for it. */
  open(token: string, owner: string): Credentials {
    this.#sweep()
    const own = [...this.#sessions].filter(([, session]) => session.owner === owner)
    if (own.length >= MAX_OF_ONE) this.#drop(own)
    if (this.#sessions.size >= MAX_SESSIONS) this.#drop([...this.#sessions])
    const [cookie, key] = [secret(), secret()]
    const now = this.#now()
    this.#sessions.set(sha256Hex(cookie), {
      token,
      owner,
      key: sha256Hex(key),
      ends: now + LASTS_MS,
      used: now,
    })
    return { cookie, key }
  }

  /** The session of a cookie and its key; undefined if there is none, or it has ended. */
  find({ cookie, key }: Partial<Credentials>): SignedIn | undefined {
    if (!FORM.test(cookie ?? '') || !FORM.test(key ?? '')) return undefined
    const hash = sha256Hex(cookie ?? '')
    const session = this.#sessions.get(hash)
    if (!session || !isSame(session.key, sha256Hex(key ?? ''))) return undefined
    const idles = session.used + IDLE_MS
    if (this.#now() < Math.min(session.ends, idles))
      return { token: session.token, ends: session.ends, idles }
    this.#sessions.delete(hash)
    return undefined
  }

  /** Notes that the person used the page. Requests that the page sends by itself do not count. */
  use({ cookie }: Pick<Credentials, 'cookie'>): void {
    const session = this.#sessions.get(sha256Hex(cookie))
    if (session) session.used = this.#now()
  }

  /** Ends a session. */
  end({ cookie }: Pick<Credentials, 'cookie'>): void {
    this.#sessions.delete(sha256Hex(cookie))
  }

  #sweep(): void {
    const now = this.#now()
    for (const [hash, { ends, used }] of this.#sessions)
      if (now >= Math.min(ends, used + IDLE_MS)) this.#sessions.delete(hash)
  }

  #drop([oldest]: readonly (readonly [string, OpenSession])[]): void {
    if (oldest) this.#sessions.delete(oldest[0])
  }
}

function secret(): string {
  return randomBytes(32).toString('base64url')
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
