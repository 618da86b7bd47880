// `tollgate receipts tail`: prints receipts as they are written. Streams over HTTP, and polls a data directory.

import { setTimeout as sleep } from 'node:timers/promises'
import { accepted, ask } from '../program/ask.ts'
import { connect, sayPlace, type Connection } from '../program/connect.ts'
import { describe, type ShownEntry } from './describe.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { filtersOf, type FilterOptions, type ReceiptPage } from './receipts.ts'
import type { Terminal } from '../program/terminal.ts'

const POLL_INTERVAL_MS = 500

/** Prints receipts until Ctrl-C. Reopens a broken stream where it ended. */
export async function runTail(terminal: Terminal, options: FilterOptions): Promise<number> {
  const connection = await connect(options, 'read')
  sayPlace(options, connection.place)
  const stop = new AbortController()
  const forget = onInterrupt(() => stop.abort())
  try {
    const entries = connection.local ? polled : streamed
    const query = await filtersOf(connection, {
      ...options,
      from: await beginning(connection, options),
    })
    for await (const entry of entries(connection, query, stop.signal)) {
      terminal.row(entry, () => describe(entry, terminal.paint))
    }
    return 0
  } finally {
    forget()
    await connection.close()
  }
}

type EntrySource = (
  connection: Connection,
  query: URLSearchParams,
  stop: AbortSignal,
) => AsyncGenerator<ShownEntry>

/** Returns the first index to print: the requested one, or the next one to be written. */
async function beginning(connection: Connection, { from }: FilterOptions): Promise<number> {
  return from ?? (await sizeOf(connection))
}

async function sizeOf(connection: Connection): Promise<number> {
  return (await ask<{ readonly size: number }>(connection, '/v1/status')).size
}

const polled: EntrySource = async function* (connection, query, stop) {
  query.set('direction', 'on')
  query.set('limit', '1000')
  while (!stop.aborted) {
    // Read the size before the page, so that entries written in between are not skipped.
    const size = await sizeOf(connection)
    const { receipts, next } = await ask<ReceiptPage>(connection, `/v1/receipts?${query.toString()}`)
    for (const entry of receipts) {
      yield entry
      advance(query, entry.index + 1)
    }
    advance(query, next ?? size)
    if (next === null) await pause(stop)
  }
}

const streamed: EntrySource = async function* (connection, query, stop) {
  // An unreachable gateway is an error at first. Later it may be a restart.
  let response: Response | undefined = await open(connection, query, stop)
  while (!stop.aborted) {
    try {
      for await (const data of response ? events(response) : []) {
        // Sound: the stream of this API contains entries.
        const entry = JSON.parse(data) as ShownEntry
        yield entry
        advance(query, entry.index + 1)
      }
    } catch {
      // The connection broke, or Ctrl-C ended it. The loop condition tells which.
    }
    await pause(stop)
    response = await reopen(connection, query, stop)
  }
}

async function open(connection: Connection, query: URLSearchParams, signal: AbortSignal): Promise<Response> {
  return accepted(await connection.request(`/v1/receipts/stream?${query.toString()}`, { signal }))
}

/** Reopens the stream; undefined while the gateway does not answer. @throws if it refuses, for example after a token was revoked. */
async function reopen(
  connection: Connection,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const response = await connection
    .request(`/v1/receipts/stream?${query.toString()}`, { signal })
    .catch(() => undefined)
  return response && accepted(response)
}

function advance(query: URLSearchParams, next: number): void {
  query.set('from', String(Math.max(next, Number(query.get('from')))))
}

async function pause(stop: AbortSignal): Promise<void> {
  await sleep(POLL_INTERVAL_MS, undefined, { signal: stop }).catch(() => undefined)
}

async function* events(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  // Sound: a response that was accepted has a body of bytes.
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const data = part.split('\n').filter((line) => line.startsWith('data: '))
      // An event without data only keeps the connection alive.
      if (data.length > 0) yield data.map((line) => line.slice(6)).join('\n')
    }
  }
}
