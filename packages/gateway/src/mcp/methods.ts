/** The requests that the gateway sends to servers. Their parameters are judged or its own. No other request is ever sent. */
export const SENT = [
  'initialize',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'subscriptions/listen',
  // Checks whether a legacy HTTP server still knows the session.
  'ping',
  'tools/call',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'resources/subscribe',
  'resources/unsubscribe',
] as const

export type SentMethod = (typeof SENT)[number]

export type ListMethod = Extract<SentMethod, `${string}/list`>

/** Whether a request may be sent to a server. */
export function isSent(method: string): method is SentMethod {
  return SENT.some((each) => each === method)
}

/** The requests that may ask the client something before they answer. Each names what it uses, also in a header. */
export const NAMED: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/** The requests of a server to a client, and the capability of the client that each needs. */
export const ASKS: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
])
