// What can go wrong between a client and its gateway, on purpose.

import type { ServerResponse } from 'node:http'
import type { Reply } from './stand-in.ts'

export type Fault =
  /** The connection breaks before the request is processed. */
  | { readonly kind: 'drop-before' }
  /** The request is processed, and the answer is lost. */
  | { readonly kind: 'drop-after' }
  /** Processed, answered late. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Processed, and never answered. */
  | { readonly kind: 'hang' }
  /** Processed twice, as by a proxy that tries again; the second answer is given. */
  | { readonly kind: 'twice' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** Half of the answer comes as if it were all. */
  | { readonly kind: 'half' }
  /** The answer says that it is something else. */
  | { readonly kind: 'type'; readonly type: string }
  /** Something else comes, with status 200. */
  | { readonly kind: 'garbage'; readonly text: string }
  /** Not processed, and answered with this status. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** Processed, and then answered with this status. */
  | { readonly kind: 'status-after'; readonly status: number }
  /** Members of the answer are something else; undefined takes one away. */
  | { readonly kind: 'members'; readonly members: Readonly<Record<string, unknown>> }
  /** Sent elsewhere. */
  | { readonly kind: 'redirect'; readonly to: string }

/** Answers a request, with a fault or without one. */
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

/** Gives a good answer, or what the fault makes of it. */
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
