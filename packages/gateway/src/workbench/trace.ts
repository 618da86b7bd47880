// The recorded history: receipts in their order, and beside them the calls that were kept. From a ledger, or from a file.

import { encodeReceipt, type Json, type JsonObject, type Receipt } from '@tollgate/evidence'
import { KEPT } from '@tollgate/kernel'
import { STATEFUL_KINDS, type TraceEntry } from '@tollgate/kernel/workbench'
import { GatewayError } from '../error.ts'
import { isObject } from '../tools/offer.ts'
import type { LedgerView, Payload } from '../view.ts'

/** A recorded history. */
export interface Trace {
  /** The texts of policies and definitions, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** In the order of the ledger. */
  readonly pages: AsyncIterable<readonly TraceEntry[]>
}

const PAGE = 1000
// What was kept beside one may be 64 KiB long.
const KEPT_PAGE = 200

/** The history of a ledger, from the first call that was kept on, and before that what still stood. */
export async function* tracePages(view: LedgerView): AsyncGenerator<readonly TraceEntry[]> {
  for await (const page of ahead(payloadPages(view))) yield page.map(entryOf)
}

async function* payloadPages(view: LedgerView): AsyncGenerator<readonly Payload[]> {
  const first = await firstKept(view)
  if (first === undefined) return
  const standing = (await view.indexesOf([...STATEFUL_KINDS])).filter((index) => index < first)
  for (const index of standing) yield await view.payloads(index, 1)
  // As it is now: who writes may be quicker than who reads.
  const size = await view.size()
  for (let from = first; from < size;) {
    const page = await view.payloads(from, Math.min(KEPT_PAGE, size - from), KEPT)
    if (page.length === 0) return
    yield page
    from += page.length
  }
}

/** The index of the first entry that something was kept beside. */
async function firstKept(view: LedgerView): Promise<number | undefined> {
  const [record] = await view.records(KEPT, KEPT, 1)
  return record && (await view.find(record.name.slice(-64)))?.index
}

/** The same, each asked for while the one before is in use: another thread may be reading. */
async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (let coming = pages.next(); ;) {
      const page = await coming
      if (page.done === true) return
      coming = pages.next()
      // Told when it is waited for, unless nobody wants it any more.
      coming.catch(() => undefined)
      yield page.value
    }
  } finally {
    // Not before what was asked for is there: the ledger may be closed next.
    await pages.return(undefined)
  }
}

function entryOf({ id, text, beside }: Payload): TraceEntry {
  // Sound: a payload is a receipt, and each was checked when it was appended.
  return { id, receipt: JSON.parse(text) as Receipt, kept: beside }
}

/** The texts of policies and definitions that a ledger has, by hash. */
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

/** A history as the lines of a file: what it is, its texts, its entries. */
export async function* traceLines({ texts, pages }: Trace): AsyncGenerator<string> {
  yield `${JSON.stringify(HEAD)}\n`
  for (const [hash, text] of texts) yield `${JSON.stringify({ hash, text })}\n`
  for await (const page of pages) {
    for (const { id, receipt, kept } of page) yield `${JSON.stringify({ id, receipt, kept })}\n`
  }
}

const HEAD = { tollgate: 'trace', v: 1 }

/** Reads a history from the lines of a file. @throws GatewayError `TRACE_MALFORMED` with the line, at the latest when it comes to it. */
export async function readTrace(lines: AsyncIterable<string>): Promise<Trace> {
  const reader = new TraceLines(lines)
  const head = await reader.next()
  if (JSON.stringify(head) !== JSON.stringify(HEAD))
    throw reader.malformed('it does not begin as a trace does')
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

/** Reads line by line, strictly. */
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
      // Sound: what was parsed is JSON.
      const line = JSON.parse(read.value) as Json
      if (isObject(line)) return line
    } catch {
      // Told below, without what stands there.
    }
    throw this.malformed('it is not a JSON object')
  }

  /** The entry in a line: a receipt as receipts are, under its own id. */
  entryIn({ id, receipt, kept }: JsonObject): TraceEntry {
    try {
      // Sound: what is no receipt is refused.
      const encoded = encodeReceipt(receipt as unknown as Receipt)
      if (encoded.id === id && (kept === undefined || typeof kept === 'string')) {
        return { id: encoded.id, receipt: encoded.receipt, kept }
      }
    } catch {
      // Told below: why it is none may hold what stands there.
    }
    throw this.malformed('it is not a receipt under its own id, with the call that was kept beside it')
  }

  malformed(why: string): GatewayError {
    return new GatewayError('TRACE_MALFORMED', `line ${this.#number} of the trace cannot be used: ${why}`, {
      hints: ['write one with `tollgate policy trace -o FILE`'],
    })
  }
}
