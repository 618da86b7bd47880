// Requests to the gateway. The cookie of the session goes with them by itself; the key proves that this page sends them.

import { signal, type Signal } from '@preact/signals'
import { isActive } from './activity.ts'

const BASE = '/console/api'
const KEY = 'tollgate-console-key'

/** A refusal of the gateway, with what to do. */
export class Refusal extends Error {
  readonly code: string
  readonly status: number
  readonly remedy: string | undefined

  constructor(code: string, status: number, message: string, remedy?: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.status = status
    this.remedy = remedy
  }
}

/** The key of the session. It is no use without the cookie, which no script can read. */
export const sessionKey = {
  read: (): string | null => localStorage.getItem(KEY),
  keep: (key: string): void => localStorage.setItem(KEY, key),
  forget: (): void => localStorage.removeItem(KEY),
  /** Calls the listener if another tab signs in or out. */
  watch(listener: () => void): void {
    addEventListener('storage', ({ key }) => {
      if (key === KEY) listener()
    })
  },
}

interface Ask {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: object
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** How many answers the page waits for. Streams do not count. */
export const busy: Signal<number> = signal(0)

let onEnded: () => void = () => undefined

/** Sets what happens when the gateway says that the session has ended. */
export function whenEnded(listener: () => void): void {
  onEnded = listener
}

/** Sends a request. @throws Refusal if the gateway refuses it or cannot be reached. */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  const { method = 'GET', body, query = {}, headers, signal } = ask
  const key = sessionKey.read()
  const response = await fetch(BASE + path + queryText(query), {
    method,
    headers: {
      ...(key !== null && { 'tollgate-console': key }),
      ...(isActive() && { 'tollgate-console-active': '1' }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new Refusal(
      'unreachable',
      0,
      'The gateway cannot be reached.',
      'Check that it runs, then try again.',
    )
  })
  if (response.ok) return response
  throw await refusalIn(response)
}

/** Asks for JSON. @throws Refusal */
export async function ask<T>(path: string, options?: Ask): Promise<T> {
  busy.value++
  try {
    const response = await send(path, options)
    // Sound: the page and the gateway are of one build, and nothing else answers on this origin.
    return (await response.json()) as T
  } finally {
    busy.value--
  }
}

/** Asks for text. @throws Refusal */
export async function askText(path: string): Promise<string> {
  busy.value++
  try {
    return await (await send(path)).text()
  } finally {
    busy.value--
  }
}

async function refusalIn(response: Response): Promise<Refusal> {
  const { status } = response
  // Sound: every member is checked before use.
  const body = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  const { code, detail, remedy } = body
  const known = typeof code === 'string' ? code : 'unknown'
  if (known === 'session-ended' || known === 'token-unknown' || known === 'token-missing') onEnded()
  const message =
    typeof detail === 'string' ? sentence(detail) : `The gateway answered with the status ${status}.`
  return new Refusal(known, status, message, typeof remedy === 'string' ? remedy : undefined)
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

function queryText(query: NonNullable<Ask['query']>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
