// The SQLite store: one thread writes, one shares the signing, two read. A store for a single command has only the writer
// thread.

import { MessageChannel } from 'node:worker_threads'
import type { ChainHead } from '@tollgate/evidence'
import type { Entry, Stored } from '@tollgate/kernel'
import type { LedgerEntry, LedgerView, NamedRecord, Page, Payload } from '../../view.ts'
import { shareOf } from './share.ts'
import { packBatch, packEntries } from './batch.ts'
import { createDatabase, faultOf, ledgerFile, openForReading } from './database.ts'
import { takeLock, type Lock } from './lock.ts'
import { LedgerReader } from './reader.ts'
import type { OpenedStore } from '../opened.ts'
import type { KeyPeriod } from '../service.ts'
import { serviceIn } from './service.ts'
import { startThread, type Thread } from './thread.ts'
import { createLoopSpin } from './loop-spin.ts'
import type { ReaderThreadData } from './reader-thread.ts'
import type { SignerThreadData } from './signer-thread.ts'
import type { OpenedLedger, WriterThreadData } from './writer-thread.ts'

export type SqliteStore = OpenedStore

interface SqliteOptions extends Omit<WriterThreadData, 'port'> {
  /** For a single command: reads run in this thread and the writer signs alone, which saves three threads. */
  readonly brief?: boolean
}

/** Creates an empty ledger file for its founding batch. @throws GatewayError `DATA_EXISTS`. */
export function createSqliteFile(data: string): void {
  createDatabase(data).close()
}

/**
 * Opens the ledger in a data directory for writing, for one process at a time. Takes over a lock that is already held.
 *
 * @throws GatewayError.
 */
export async function openSqliteStore(
  options: SqliteOptions,
  lock: Lock = takeLock(options.data),
): Promise<SqliteStore> {
  const threads = startThreads(options)
  try {
    // Sound: the thread answers with this type.
    const opened = (await threads.writer.ask('opened', [])) as OpenedLedger
    return createStore(opened, threads, () => lock.release())
  } catch (cause) {
    // Terminating a thread in the middle of a native call can crash the process, so each thread finishes first.
    const { writer, readers } = threads
    await Promise.allSettled([writer, ...readers].map((thread) => thread.ask('close', [])))
    await endAll(threads)
    lock.release()
    throw cause
  }
}

interface Threads {
  readonly writer: Thread
  /** One for the kernel only, so that long reads do not delay decisions, and one for everything else. */
  readonly readers: readonly [kernel: Thread, others: Thread]
  readonly signer: Thread | undefined
}

function startThreads(options: SqliteOptions): Threads {
  const { brief = false, ...rest } = options
  const own = copySeeds(options)
  const moved = own.map(({ buffer }) => buffer)
  if (brief) {
    const reader = readHere(rest.data, rest.writer)
    const writerData: WriterThreadData = { ...rest, seeds: own }
    return {
      writer: startThread('writer-thread', writerData, moved),
      readers: [reader, reader],
      signer: undefined,
    }
  }
  const { port1: sealed, port2: collected } = new MessageChannel()
  const others = copySeeds(options)
  const writerData: WriterThreadData = { ...rest, seeds: own, port: collected }
  const readerData: ReaderThreadData = { data: rest.data, writer: rest.writer }
  const signerData: SignerThreadData = { seeds: others, port: sealed }
  return {
    writer: startThread('writer-thread', writerData, [collected, ...moved]),
    readers: [startThread('reader-thread', readerData), startThread('reader-thread', readerData)],
    signer: startThread('signer-thread', signerData, [sealed, ...others.map(({ buffer }) => buffer)]),
  }
}

/** Reads the ledger file in this thread, with the interface of a reader thread. Opens the file on first use. */
function readHere(data: string, writer: string): Thread {
  const file = ledgerFile(data)
  let reader: LedgerReader | undefined
  const close = (): Promise<void> => {
    reader?.close()
    reader = undefined
    return Promise.resolve()
  }
  return {
    async ask(method, args) {
      if (method === 'close') return close()
      try {
        reader ??= new LedgerReader(openForReading(data), writer)
      } catch (cause) {
        throw faultOf(cause, file)
      }
      // Sound: only methods of a reader are called here.
      return askHere(reader, file)(method as keyof LedgerReader, args)
    },
    tell: () => undefined,
    end: close,
  }
}

/** Copies the seeds, because a thread wipes its own. The copies are transferred, so that none remains here. */
function copySeeds({ seeds }: SqliteOptions): Uint8Array<ArrayBuffer>[] {
  return seeds.map((seed) => Uint8Array.from(seed))
}

// A good disk makes one receipt durable within this time. For slower disks it is better to sleep.
const ANSWERED_MS = 0.4

function createStore(opened: OpenedLedger, threads: Threads, release: () => void): SqliteStore {
  const { writer, readers, signer } = threads
  const [reader, viewer] = readers
  const listeners = new Set<(size: number) => void>()
  let { head, size } = opened
  const spin = createLoopSpin()
  let writing = 0
  let closing: ReturnType<OpenedStore['close']> | undefined

  const share = (entries: readonly Entry[]): void => {
    const packed = packEntries(entries)
    signer?.tell(packed, [packed.messages.buffer])
  }

  return {
    key: opened.key,
    ledgerKeys: opened.ledgerKeys,
    keyPeriods: opened.keyPeriods,
    view: viewThrough((method, args) => viewer.ask(method, args)),
    size: () => size,
    head: () => Promise.resolve(head),
    async write(batch) {
      const shared = signer ? shareOf(batch.entries.length, writing > 0) : 0
      if (shared > 0) share(batch.entries.slice(0, shared))
      const packed = packBatch(batch, shared)
      writing++
      if (batch.entries.length === 1) spin.keep(ANSWERED_MS)
      // Sound, here and below: the thread answers with this type.
      const written = (await writer.ask('write', [packed], [packed.messages.buffer])) as number
      size = written
      writing--
      spin.end()
      // Waits for the end of this loop turn, so that calls that are already here share the next batch. A single call does not
      // wait.
      if (batch.entries.length > 1) await new Promise((resolve) => setImmediate(resolve))
      const last = batch.entries.at(-1)?.encoded
      if (last) head = { ...placeOf(last.receipt), id: last.id }
      // In a microtask: an error of a listener must not look like a failed write.
      for (const listener of listeners) queueMicrotask(() => listener(written))
    },
    load: async (names) => (await reader.ask('load', [names])) as readonly Stored[],
    list: async (prefix, of) => (await reader.ask('list', [prefix, of])) as readonly string[],
    checkpoint: async () => (await writer.ask('checkpoint', [])) as string,
    present: async () => {
      await writer.ask('present', [])
    },
    namesBefore: async (...args) => (await viewer.ask('namesBefore', args)) as readonly string[],
    idle: async (...args) => (await reader.ask('idle', args)) as readonly NamedRecord[],
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => (closing ??= closeAll(threads, release)),
  }
}

function placeOf({ seq, lamport_clock, time }: Omit<ChainHead, 'id'>): Omit<ChainHead, 'id'> {
  return { seq, lamport_clock, time }
}

async function closeAll(threads: Threads, release: () => void): ReturnType<OpenedStore['close']> {
  try {
    for (const reader of threads.readers) await reader.ask('close', [])
    return { folded: (await threads.writer.ask('close', [])) === true }
  } finally {
    await endAll(threads)
    release()
  }
}

async function endAll({ writer, readers, signer }: Threads): Promise<void> {
  await Promise.all([writer, ...readers, ...(signer ? [signer] : [])].map((thread) => thread.end()))
}

/** Calls a reader, in this thread or another. */
type AskReader = (method: keyof LedgerReader, args: readonly unknown[]) => Promise<unknown>

/** A view of the ledger through a reader. */
function viewThrough(ask: AskReader): LedgerView {
  // Sound throughout: the answers have the types of `LedgerReader`.
  return {
    size: async () => (await ask('size', [])) as number,
    page: async (request) => (await ask('page', [request])) as Page,
    find: async (id) => (await ask('find', [id])) as LedgerEntry | undefined,
    begins: async (digits) => (await ask('begins', [digits])) as readonly LedgerEntry[],
    envelopes: async (start, end) => (await ask('envelopes', [start, end])) as readonly Uint8Array[],
    payloads: async (...range) => (await ask('payloads', range)) as readonly Payload[],
    indexesOf: async (kinds) => (await ask('indexesOf', [kinds])) as readonly number[],
    node: async (level, index) => (await ask('node', [level, index])) as Uint8Array,
    rootAt: async (size) => (await ask('rootAt', [size])) as Uint8Array,
    record: async (name) => (await ask('record', [name])) as string | undefined,
    records: async (...args) => (await ask('records', args)) as readonly NamedRecord[],
    recordNames: async (prefix) => (await ask('list', [prefix, 'records'])) as readonly string[],
    checkpoint: async () => (await ask('checkpoint', [])) as string | undefined,
  }
}

/** A ledger file that is open for reading only. */
interface SqliteView {
  readonly view: LedgerView
  /** Every key of the ledger that ever was in service. */
  readonly keyPeriods: readonly KeyPeriod[]
  close: () => Promise<void>
}

/** Opens the ledger in a data directory read-only, also next to a gateway. @throws GatewayError. */
export async function openSqliteView(data: string, writer: string): Promise<SqliteView> {
  const db = openForReading(data)
  try {
    const { periods } = await serviceIn(db, writer)
    const ask = askHere(new LedgerReader(db, writer), ledgerFile(data))
    return {
      view: viewThrough(ask),
      keyPeriods: periods,
      close: () => Promise.resolve().then(() => db.close()),
    }
  } catch (cause) {
    db.close()
    throw faultOf(cause, ledgerFile(data))
  }
}

/** As `openSqliteView`, but reads in a separate thread. @throws GatewayError. */
export async function openSqliteViewApart(data: string, writer: string): Promise<SqliteView> {
  const { keyPeriods, close } = await openSqliteView(data, writer)
  await close()
  const readerData: ReaderThreadData = { data, writer }
  const reader = startThread('reader-thread', readerData)
  return {
    view: viewThrough((method, args) => reader.ask(method, args)),
    keyPeriods,
    close: async () => {
      await reader.ask('close', []).finally(() => reader.end())
    },
  }
}

/** Calls a reader in this thread. Errors are translated as in a thread. */
function askHere(reader: LedgerReader, file: string): AskReader {
  // Sound: both sides are written together, as with a thread.
  const methods = reader as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>
  return async (method, args) => {
    try {
      return await methods[method]?.(...args)
    } catch (cause) {
      throw faultOf(cause, file)
    }
  }
}
