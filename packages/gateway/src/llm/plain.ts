// Forwards requests that cannot carry a call, and their answers, unchanged.

import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import { readBody } from './body.ts'
import { Refused, type Dialect } from './dialect.ts'
import { failureReply, forward, refusalReply, stop, type Entered } from './entered.ts'
import { headersFrom } from './headers.ts'
import { receive } from './receive.ts'
import { createTally, summaryHeaders } from './request-context.ts'
import { requireType } from './upstream.ts'

interface PlainOptions {
  readonly log: Log
  readonly body: number
  readonly size: () => number
}

/** Answers a request. Never rejects. Calls `over` when everything is sent. */
export async function answerPlain(entered: Entered, { log, body, size }: PlainOptions): Promise<Reply> {
  const { asked, route } = entered
  const summary = summaryHeaders(createTally(), size())
  try {
    const bytes = route.method === 'POST' ? await receive(asked, body) : undefined
    const sent = bytes && (route.counts ? countable(route.counts, bytes, entered) : [bytes])
    const reply = await forward(entered, false, sent)
    if (reply.status !== 200) return await refusalReply(entered, reply, log, () => summary)
    requireType(reply, 'application/json')
    return {
      status: 200,
      headers: { ...headersFrom(reply.headers), ...summary, 'content-type': 'application/json' },
      body: untilOver(entered, reply.body),
    }
  } catch (fault) {
    return failureReply(entered, fault, log, summary)
  }
}

/** The body to forward for counting its tokens, which must not make the provider contact an MCP server. @throws Refused */
function countable(
  dialect: Pick<Dialect, 'readRequest'>,
  bytes: Uint8Array,
  { address, admit }: Entered,
): readonly Uint8Array[] {
  const body = readBody(bytes, admit)
  const { hosted, changed = false } = dialect.readRequest(body.value, address.parameters)
  const isPlain = hosted.every(({ tool, known }) => known && !tool?.endsWith('/mcp'))
  if (isPlain) return body.written(changed)
  const message = 'tokens are not counted for requests with MCP servers or unknown tools; leave those out'
  throw new Refused(403, 'ROUTE_NOT_GOVERNED', message, 'tools')
}

async function* untilOver(entered: Entered, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } finally {
    stop(entered)
  }
}
