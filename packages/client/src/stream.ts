// Streams receipts. Reconnects after a lost connection and continues there.

import { parseJson } from '@tollgate/evidence'
import { jsonOf, problemIn, invalidAnswer } from './answer.ts'
import { TollgateError } from './error.ts'
import { EventParser, type ServerEvent } from './events.ts'
import { exchange, isLost, pause } from './exchange.ts'
import { momentOf, sleep } from './host.ts'
import { createLimit, type Limit } from './limit.ts'
import { count, object } from './reading.ts'
import { type StreamOptions } from './receipts.ts'
import { readEntry, type ReceiptEntry } from './entry.ts'
import { fetchOnce, late, readAnswer, readPart, typeOf, type Connection, type Request } from './transport.ts'

const DEFAULT_RECONNECTS = 20
// The gateway sends something every 15 seconds. A connection is dead after three times as long.
const MAX_SILENCE = 45_000

/** Yields receipts as they are recorded, each once and in order. */
export async function* streamReceipts(
  connection: Connection,
  { from, signal, reconnects = DEFAULT_RECONNECTS, ...filter }: StreamOptions,
): AsyncGenerator<ReceiptEntry, void, undefined> {
  // Fixed before the first connection, so that a connection that breaks early misses nothing.
  let next = from ?? (await sizeOf(connection, signal))
  for (let failed = 0; ; failed++) {
    const request: Request = {
      method: 'GET',
      path: '/v1/receipts/stream',
      query: { ...filter, from: next },
      signal,
    }
    try {
      for await (const entry of connect(connection, request, next)) {
        if (entry.index < next) continue
        failed = 0
        next = entry.index + 1
        yield entry
      }
    } catch (fault) {
      if (failed >= reconnects || !isTemporary(fault)) throw fault
    }
    await sleep(connection.host, pause(failed), signal)
  }
}

async function sizeOf(connection: Connection, signal: AbortSignal | undefined): Promise<number> {
  const answer = await exchange(connection, { method: 'GET', path: '/v1/status', signal })
  return count(object(jsonOf(answer), 'answer')['size'], 'size')
}

function isTemporary(fault: unknown): boolean {
  if (!(fault instanceof TollgateError)) return false
  return isLost(fault) || fault.status === 429 || (fault.status ?? 0) >= 500
}

/** One connection, until it ends. */
async function* connect(
  connection: Connection,
  request: Request,
  next: number,
): AsyncGenerator<ReceiptEntry, void, undefined> {
  const { host, timeout } = connection
  const limit = createLimit(host, request.signal)
  limit.allow(timeout, () => late(timeout))
  try {
    const sent = momentOf(host)
    const headers = next > 0 ? { 'last-event-id': String(next - 1) } : {}
    const response = await limit.within(fetchOnce(connection, request, limit.signal, headers))
    if (response.status !== 200) throw problemIn(await limit.within(readAnswer(response, sent)))
    if (typeOf(response) !== 'text/event-stream')
      throw invalidAnswer(response.status, 'it is not a stream of events')
    for await (const event of eventsIn(response, limit)) if (event.event === 'receipt') yield entryOf(event)
  } finally {
    limit.end()
  }
}

async function* eventsIn(response: Response, limit: Limit): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  const parser = new EventParser()
  while (reader) {
    limit.allow(MAX_SILENCE, () => late(MAX_SILENCE))
    const { done, value } = await limit.within(readPart(reader))
    if (done) return
    yield* parser.push(decoder.decode(value, { stream: true }))
  }
}

function entryOf({ id, data }: ServerEvent): ReceiptEntry {
  const entry = readEntry(parsed(data), 'event')
  if (String(entry.index) !== id)
    throw invalidAnswer(200, 'the id of an event differs from that of its receipt')
  return entry
}

function parsed(data: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(data)
  } catch (cause) {
    throw invalidAnswer(200, 'an event is not JSON', cause)
  }
}
