// Serves Fetch API requests, for callers in the same process.

import { Problem } from './problem.ts'
import type { DoorRequest, Reply } from './route.ts'
import { streamOf } from './stream-of.ts'

/** Answers a `Request` with a `Response`. */
export async function answerFetch(
  request: Request,
  answer: (asked: DoorRequest) => Promise<Reply>,
): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const { signal } = request
  const { status, headers, body } = await answer({
    method: request.method,
    path: pathname,
    search: search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBody(request, limit),
    mayTakeLong: () => undefined,
    onGone(listener) {
      if (signal.aborted) listener()
      signal.addEventListener('abort', listener, { once: true })
      return () => signal.removeEventListener('abort', listener)
    },
  })
  return new Response(typeof body === 'string' ? body : streamOf(body), { status, headers: { ...headers } })
}

async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Sound: the body of a request is a stream of bytes.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The problem for a body above the limit. */
export function tooLarge(limit: number): Problem {
  return new Problem('body-too-large', `a body has at most ${limit} bytes`)
}
