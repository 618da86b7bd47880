// The names of the requests that go to servers.

/** Requests that we send to servers, with parameters that are judged or our own. No other is ever sent. */
export const SENT = [
  'initialize',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'subscriptions/listen',
  // Whether a legacy server by HTTP still knows the session.
  'ping',
  'tools/call',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'resources/subscribe',
  'resources/unsubscribe',
] as const

/** A request that we may send to a server. */
export type SentMethod = (typeof SENT)[number]

/** A request for a list of what a server offers. */
export type ListMethod = Extract<SentMethod, `${string}/list`>

/** Whether a request may be sent to a server at all. */
export function isSent(method: string): method is SentMethod {
  return SENT.some((each) => each === method)
}
