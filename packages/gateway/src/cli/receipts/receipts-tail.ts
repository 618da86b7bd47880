// `tollgate receipts tail`: receipts as they are written. Over HTTP they are streamed; a data directory is looked at again
// and again.

import { setTimeout as sleep } from 'node:timers/promises'
import { accepted, ask } from '../program/ask.ts'
import { connect, type Connection } from '../program/connect.ts'
import { describe, type ShownEntry } from './describe.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { filtersOf, type FilterOptions, type ReceiptPage } from './receipts.ts'
import type { Terminal } from '../program/terminal.ts'

const PAUSE = 500

/** Prints receipts until Ctrl-C. A stream that breaks is taken up where it ended. */
export async function runTail(terminal: Terminal, options: FilterOptions): Promise<number> {
  const connection = await connect(options, 'read')
  const stop = new AbortController()
  const forget = onInterrupt(() => stop.abort())
  try {
    const entries = connection.local ? polled : streamed
    const query = filtersOf({ ...options, from: await beginning(connection, options) })
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

/** The first entry to look at: the one that was asked for, or the next that is written. */
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
    // Taken before the page: what is written between the two is looked at again, and nothing is passed over.
    const size = await sizeOf(connection)
    const { receipts, next } = await ask<ReceiptPage>(connection, `/v1/receipts?${query.toString()}`)
    for (const entry of receipts) {
      yield entry
      goOn(query, entry.index + 1)
    }
    goOn(query, next ?? size)
    if (next === null) await pause(stop)
  }
}

const streamed: EntrySource = async function* (connection, query, stop) {
  // The first time, nobody answering is a fault; later it is a gateway that restarts.
  let response: Response | undefined = await open(connection, query, stop)
  while (!stop.aborted) {
    try {
      for await (const data of response ? events(response) : []) {
        // Sound: the stream of this same API carries entries.
        const entry = JSON.parse(data) as ShownEntry
        yield entry
        goOn(query, entry.index + 1)
      }
    } catch {
      // The connection broke, or Ctrl-C ended it. The loop knows which.
    }
    await pause(stop)
    response = await reopen(connection, query, stop)
  }
}

async function open(connection: Connection, query: URLSearchParams, signal: AbortSignal): Promise<Response> {
  return accepted(await connection.request(`/v1/receipts/stream?${query.toString()}`, { signal }))
}

/** The stream once more, or undefined while nobody answers. @throws if the gateway refuses, as for a revoked token. */
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

function goOn(query: URLSearchParams, next: number): void {
  query.set('from', String(Math.max(next, Number(query.get('from')))))
}

async function pause(stop: AbortSignal): Promise<void> {
  await sleep(PAUSE, undefined, { signal: stop }).catch(() => undefined)
}

/** The data of each event of a stream. */
async function* events(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  // Sound: a response that was accepted has a body of bytes.
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const data = part.split('\n').filter((line) => line.startsWith('data: '))
      // Without data it is a sign of life.
      if (data.length > 0) yield data.map((line) => line.slice(6)).join('\n')
    }
  }
}
