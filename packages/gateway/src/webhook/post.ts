// Sends one message to one receiver, once.
//
// The signature follows Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), so that receivers can use
// existing libraries.

import { createHmac } from 'node:crypto'
import type { Receiver } from './receiver.ts'

interface Post {
  readonly id: string
  readonly body: string
  /** The time of this attempt, in milliseconds. */
  readonly now: number
  /** Ends the attempt. */
  readonly signal: AbortSignal
}

/** Sends a message. Returns undefined on success, else the reason, without text from the receiver. Never throws. */
export async function post(receiver: Receiver, message: Post): Promise<string | undefined> {
  try {
    const answer = await fetch(receiver.url, {
      method: 'POST',
      // Following a redirect would send the message to any address that the receiver names.
      redirect: 'manual',
      signal: message.signal,
      headers: { 'content-type': 'application/json', ...signed(receiver, message) },
      body: message.body,
    })
    await answer.body?.cancel()
    return answer.ok ? undefined : `it answered ${answer.status}`
  } catch (cause) {
    return cause instanceof Error ? cause.name : 'it could not be reached'
  }
}

function signed({ secret }: Receiver, { id, body, now }: Post): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secret && { 'webhook-signature': `v1,${signatureOf(secret, id, timestamp, body)}` }),
  }
}

/** The signature of a message: HMAC-SHA256 of `id.timestamp.body` in base64. */
export function signatureOf(secret: Uint8Array, id: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
}
