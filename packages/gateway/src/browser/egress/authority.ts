// Reads where a request to the proxy wants to go. Only texts that all parsers read alike are accepted.

import { readHttpUrl, type Target } from '@tollgate/kernel/detection'

/** A request in absolute form. */
interface AbsoluteForm {
  readonly to: Target
  /** Path and query, as received. */
  readonly path: string
}

/** Reads the target of CONNECT: a host and a port. */
export function readConnect(text: string): Target | undefined {
  const port = /:([1-9][0-9]{0,4})$/.exec(text)?.[1]
  if (port === undefined || text.includes('/')) return undefined
  // A WebSocket without TLS also arrives as CONNECT.
  return readHttpUrl(`${port === '80' ? 'http' : 'https'}://${text}/`)
}

/** Reads the target of any other method: a URL with `http:`. A request for `https:` in clear would be readable on its way. */
export function readAbsolute(text: string): AbsoluteForm | undefined {
  const slash = text.indexOf('/', 'http://'.length)
  const to = slash < 0 ? undefined : readHttpUrl(text.slice(0, slash + 1))
  const path = text.slice(slash)
  return to?.scheme === 'http' && /^[!-~]+$/.test(path) && !path.includes('#') ? { to, path } : undefined
}

/** The host of a URL or target as people read it, with a port if it is not 80 or 443. */
export function labelOf({ host, port }: Pick<Target, 'host' | 'port'>): string {
  if (port === 80 || port === 443) return host
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The value of the header `Host` for a target. */
export function hostHeader({ host, port }: Target): string {
  const name = host.includes(':') ? `[${host}]` : host
  return port === 80 ? name : `${name}:${port}`
}
