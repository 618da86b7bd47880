// Injects faults between a client and the stand-in gateway.

import type { ServerResponse } from 'node:http'
import type { Reply } from './stand-in.ts'

export type Fault =
  /** The connection breaks before the request is processed. */
  | { readonly kind: 'drop-before' }
  /** The request is processed and the answer is lost. */
  | { readonly kind: 'drop-after' }
  /** The answer is late. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The request is processed and never answered. */
  | { readonly kind: 'hang' }
  /** The request is processed twice, as by a retrying proxy. The second answer is returned. */
  | { readonly kind: 'twice' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** Half of the answer is sent as if it were complete. */
  | { readonly kind: 'half' }
  /** The answer has another content type. */
  | { readonly kind: 'type'; readonly type: string }
  /** Another text is sent with status 200. */
  | { readonly kind: 'garbage'; readonly text: string }
  /** The request is not processed and answered with this status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** The request is processed and answered with this status. */
  | { readonly kind: 'status-after'; readonly status: number }
  /** Members of the answer are replaced; undefined removes one. */
  | { readonly kind: 'members'; readonly members: Readonly<Record<string, unknown>> }
  /** The answer is a redirect. */
  | { readonly kind: 'redirect'; readonly to: string }

/** Answers a request, with or without a fault. */
export async function respond(
  response: ServerResponse,
  fault: Fault | undefined,
  answer: () => Promise<Reply>,
): Promise<void> {
  if (fault?.kind === 'drop-before') {
    response.destroy()
    return
  }
  if (fault?.kind === 'status') {
    write(response, trouble(fault.status, fault.retryAfter))
    return
  }
  if (fault?.kind === 'twice') await answer()
  spoil(response, fault, await answer())
}

/** Sends the answer, changed by the fault. */
function spoil(response: ServerResponse, fault: Fault | undefined, reply: Reply): void {
  const { status, type, text } = reply
  switch (fault?.kind) {
    case 'drop-after':
      response.destroy()
      break
    case 'delay':
      setTimeout(() => write(response, reply), fault.milliseconds)
      break
    case 'hang':
      break
    case 'cut':
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
      response.write(text.slice(0, text.length / 2), () => response.destroy())
      break
    case 'half':
      write(response, { ...reply, text: text.slice(0, text.length / 2) })
      break
    case 'type':
      write(response, { ...reply, type: fault.type })
      break
    case 'garbage':
      write(response, { status: 200, type: 'application/json', text: fault.text })
      break
    case 'status-after':
      write(response, trouble(fault.status))
      break
    case 'members':
      // Sound: the stand-in answers with objects.
      write(response, {
        ...reply,
        text: JSON.stringify({ ...(JSON.parse(text) as object), ...fault.members }),
      })
      break
    case 'redirect':
      response.writeHead(307, { location: fault.to }).end()
      break
    case undefined:
    case 'twice':
    case 'drop-before':
    case 'status':
      write(response, reply)
  }
}

function trouble(status: number, retryAfter?: string): Reply {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return { status, type: 'text/html', text: '<h1>trouble</h1>', headers }
}

function write(response: ServerResponse, { status, type, text, headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}
