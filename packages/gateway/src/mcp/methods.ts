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
