// Removes credentials from events about requests: a client that may not read cookies does not find them there either.

import { asObject, type CdpResult } from '../cdp.ts'

const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'set-cookie2'])
/** Members that repeat all headers as text, or hold cookies. */
const DROPPED = new Set(['headersText', 'requestHeadersText'])
const EMPTIED = new Set(['associatedCookies', 'blockedCookies', 'exemptedCookies'])
const HEADERS = new Set(['headers', 'requestHeaders'])
const MESSAGES = new Set(['redirectResponse', 'request', 'response'])

/** The parameters of an event as a client sees them. */
export function withoutCredentials(method: string, params: CdpResult): CdpResult {
  return method.startsWith('Network.') ? cleaned(params) : params
}

function cleaned(message: CdpResult): CdpResult {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(message)) {
    if (DROPPED.has(name)) continue
    if (EMPTIED.has(name)) kept[name] = []
    else if (HEADERS.has(name)) kept[name] = withoutSecrets(value)
    else kept[name] = MESSAGES.has(name) && value !== null ? cleaned(asObject(value)) : value
  }
  return kept
}

function withoutSecrets(headers: unknown): CdpResult {
  return Object.fromEntries(
    Object.entries(asObject(headers)).filter(([name]) => !SECRET.has(name.toLowerCase())),
  )
}
