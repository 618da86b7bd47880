// The recorded history: receipts in order with their kept calls, from a ledger or a file.

import { encodeReceipt, type Json, type JsonObject, type Receipt } from '@tollgate/evidence'
import { KEPT } from '@tollgate/kernel'
import { STATEFUL_KINDS, type TraceEntry } from '@tollgate/kernel/workbench'
import { GatewayError } from '../error.ts'
import { isObject } from '../tools/offer.ts'
import type { LedgerView, Payload } from '../view.ts'

export interface Trace {
  /** The texts of policies and definitions, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** In the order of the ledger. */
  readonly pages: AsyncIterable<readonly TraceEntry[]>
}

const PAGE = 1000
// Smaller pages, because a kept call can have 64 KiB.
const KEPT_PAGE = 200

/** The history of a ledger from the first kept call on, preceded by earlier receipts that still apply. */
export async function* tracePages(view: LedgerView): AsyncGenerator<readonly TraceEntry[]> {
  for await (const page of ahead(payloadPages(view))) yield page.map(entryOf)
}

async function* payloadPages(view: LedgerView): AsyncGenerator<readonly Payload[]> {
  const first = await firstKept(view)
  if (first === undefined) return
  const inForce = (await view.indexesOf([...STATEFUL_KINDS])).filter((index) => index < first)
  for (const index of inForce) yield await view.payloads(index, 1)
  // Read once: the ledger may grow while it is read.
  const size = await view.size()
  for (let from = first; from < size;) {
    const page = await view.payloads(from, Math.min(KEPT_PAGE, size - from), KEPT)
    if (page.length === 0) return
    yield page
    from += page.length
  }
}

/** The index of the first entry with a kept call. */
async function firstKept(view: LedgerView): Promise<number | undefined> {
  const [record] = await view.records(KEPT, KEPT, 1)
  return record && (await view.find(record.name.slice(-64)))?.index
}

/** Requests each page while the previous one is in use, because another thread may do the reading. */
async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (let coming = pages.next(); ;) {
      const page = await coming
      if (page.done === true) return
      coming = pages.next()
      // A failure is reported when the page is awaited, or ignored if it is not needed.
      coming.catch(() => undefined)
      yield page.value
    }
  } finally {
    // Waits for the pending page: the ledger may be closed next.
    await pages.return(undefined)
  }
}

function entryOf({ id, text, beside }: Payload): TraceEntry {
  // Sound: a payload is a receipt, checked when it was appended.
  return { id, receipt: JSON.parse(text) as Receipt, kept: beside }
}

/** The texts of policies and definitions in a ledger, by hash. */
export async function traceTexts(view: LedgerView): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (let after = TEXTS; ;) {
    const records = await view.records(TEXTS, after, PAGE)
    for (const { name, text } of records) texts.set(name.slice(TEXTS.length), text)
    const last = records.at(-1)
    if (!last) return texts
    after = last.name
  }
}

const TEXTS = 'text\n'

/** A history as lines of a file: the header, the texts, the entries. */
export async function* traceLines({ texts, pages }: Trace): AsyncGenerator<string> {
  yield `${JSON.stringify(HEAD)}\n`
  for (const [hash, text] of texts) yield `${JSON.stringify({ hash, text })}\n`
  for await (const page of pages) {
    for (const { id, receipt, kept } of page) yield `${JSON.stringify({ id, receipt, kept })}\n`
  }
}

const HEAD = { tollgate: 'trace', v: 1 }

/** Reads a history from the lines of a file. @throws GatewayError `TRACE_MALFORMED` with the line, here or while iterating. */
export async function readTrace(lines: AsyncIterable<string>): Promise<Trace> {
  const reader = new TraceLines(lines)
  const head = await reader.next()
  if (JSON.stringify(head) !== JSON.stringify(HEAD)) throw reader.malformed('it is not the header of a trace')
  const texts = new Map<string, string>()
  let line = await reader.next()
  for (
    ;
    line && typeof line['hash'] === 'string' && typeof line['text'] === 'string';
    line = await reader.next()
  ) {
    texts.set(line['hash'], line['text'])
  }
  return { texts, pages: pagesIn(reader, line) }
}

async function* pagesIn(
  reader: TraceLines,
  first: JsonObject | undefined,
): AsyncGenerator<readonly TraceEntry[]> {
  let page: TraceEntry[] = []
  for (let line = first; line; line = await reader.next()) {
    page.push(reader.entryIn(line))
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  yield page
}

/** Reads and validates lines. */
class TraceLines {
  readonly #lines: AsyncIterator<string>
  #number = 0

  constructor(lines: AsyncIterable<string>) {
    this.#lines = lines[Symbol.asyncIterator]()
  }

  async next(): Promise<JsonObject | undefined> {
    const read: IteratorResult<string, unknown> = await this.#lines.next()
    if (read.done === true) return undefined
    this.#number++
    try {
      // Sound: parsed JSON.
      const line = JSON.parse(read.value) as Json
      if (isObject(line)) return line
    } catch {
      // Reported below, without the content of the line.
    }
    throw this.malformed('it is not a JSON object')
  }

  /** The entry in a line: a valid receipt with a matching id. */
  entryIn({ id, receipt, kept }: JsonObject): TraceEntry {
    try {
      // Sound: `encodeReceipt` refuses values that are not receipts.
      const encoded = encodeReceipt(receipt as unknown as Receipt)
      if (encoded.id === id && (kept === undefined || typeof kept === 'string')) {
        return { id: encoded.id, receipt: encoded.receipt, kept }
      }
    } catch {
      // Reported below, without the cause, which may contain content.
    }
    throw this.malformed('it is not a receipt with a matching id and its kept call')
  }

  malformed(why: string): GatewayError {
    return new GatewayError('TRACE_MALFORMED', `line ${this.#number} of the trace cannot be used: ${why}`, {
      hints: ['create a trace with `tollgate policy trace -o FILE`'],
    })
  }
}
