// Tells requests of the console's own page from all others. A browser adds cookies to requests of any page, so a cookie alone
// proves nothing: the page also sends a key that only its own origin can read.

import type { DoorRequest } from '../exchange.ts'
import type { Credentials } from './signed-in.ts'

type AskedByPage = Pick<DoorRequest, 'method' | 'header'>

/** The header with the key of the session. Another origin cannot set it without a preflight, and no preflight allows cookies. */
const KEY_HEADER = 'tollgate-console'
/** The header of requests that follow an input of the person. */
export const ACTIVE_HEADER = 'tollgate-console-active'

/** Whether a request comes from a page of this gateway: by its origin, or for a read by what the browser says about the page. */
export function isFromOwnPage({ method, header }: AskedByPage, scheme: 'http' | 'https'): boolean {
  const site = header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return false
  const origin = header('origin')?.toLowerCase()
  if (origin === undefined) return method === 'GET'
  const host = header('host')?.toLowerCase() ?? ''
  // With `https`, a proxy in front of the gateway ends TLS.
  return origin === `${scheme}://${host}` || origin === `https://${host}`
}

/** Browsers share cookies between the ports of a host, so two gateways on one machine need two names. */
function cookieName({ header }: AskedByPage): string {
  return `tollgate-console-${/:([0-9]{1,5})$/.exec(header('host') ?? '')?.[1] ?? 'default'}`
}

/** The cookie and the key of a request. A cookie that is there twice counts as none: another site may have set one of them. */
export function credentialsIn(asked: AskedByPage): Partial<Credentials> {
  const name = cookieName(asked)
  const given = (asked.header('cookie') ?? '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${name}=`))
  const cookie = given.length === 1 ? given[0]?.slice(name.length + 1) : undefined
  const key = asked.header(KEY_HEADER)
  return { ...(cookie !== undefined && { cookie }), ...(key !== undefined && { key }) }
}

/** The value of `set-cookie`. It ends with the browser, or after `seconds`. */
export function setCookie(asked: AskedByPage, cookie: string, { seconds, secure }: CookieOptions): string {
  const parts = [`${cookieName(asked)}=${cookie}`, 'Path=/console', 'HttpOnly', 'SameSite=Strict']
  return [...parts, `Max-Age=${seconds}`, ...(secure ? ['Secure'] : [])].join('; ')
}

interface CookieOptions {
  readonly seconds: number
  readonly secure: boolean
}
