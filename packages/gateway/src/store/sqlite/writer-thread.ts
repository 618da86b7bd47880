// The thread that owns the private keys and writes the ledger file.

import { workerData, type MessagePort } from 'node:worker_threads'
import type { ChainHead } from '@tollgate/evidence'
import { createCollector } from './share.ts'
import type { PackedBatch } from './batch.ts'
import { foldLog, ledgerFile, openDatabase } from './database.ts'
import { checkTail } from './tail-check.ts'
import { openHeadGuard } from '../guard.ts'
import { openPlace } from './place.ts'
import { importSeeds } from '../seal.ts'
import { requireService, type KeyPeriod } from '../service.ts'
import { serviceIn } from './service.ts'
import { answerQuestions, type Methods } from './thread.ts'
import { createLoopSpin } from './loop-spin.ts'
import { headIn, LedgerWriter, newestIn } from './writer.ts'

export interface WriterThreadData {
  readonly data: string
  readonly origin: string
  readonly writer: string
  /** Seeds of the private keys. They are wiped after the import. */
  readonly seeds: readonly Uint8Array[]
  readonly guard: string | undefined
  /** Signs no checkpoints, for rotating the key that would sign them. */
  readonly quiet?: boolean
  /** The port on which signatures of the signer thread arrive. */
  readonly port?: MessagePort
}

/** The state of the opened ledger. */
export interface OpenedLedger {
  readonly size: number
  readonly head: ChainHead | undefined
  readonly key: string | undefined
  readonly ledgerKeys: readonly Uint8Array[]
  readonly keyPeriods: readonly KeyPeriod[]
}

// How often the checkpoint in the file is renewed for readers.
const KEEP_EVERY_MS = 1000
// After a durable decision the caller runs the tool and often reports the effect at once.
const NEXT_MS = 0.2

// Sound: `store.ts` passes this value.
const started = workerData as WriterThreadData
answerQuestions(open(started), ledgerFile(started.data))

async function open(options: WriterThreadData): Promise<Methods> {
  const { data, origin, writer: name, seeds, guard: directory, quiet, port } = options
  const keys = await importSeeds(seeds)
  const db = openDatabase(data)
  const { size } = headIn(db)
  // From here on the files must stay the same.
  const place = openPlace(data)
  // An empty file waits for its founding batch. It has no keys and no head yet.
  const service = size === 0 ? undefined : await serviceIn(db, name)
  if (service) requireService(service, keys)
  const guard = service && directory !== undefined ? openHeadGuard(directory, service.first.id) : undefined
  await checkTail({ db, origin, keys: service?.known ?? [], remembered: guard?.remembered })
  const ledger = service?.ledger.map(({ id }) => id) ?? []
  const collector = createCollector(port)
  const writer = new LedgerWriter({ db, data, origin, keys, ledger, collector, place })
  const keep = keeper(service !== undefined && quiet !== true, {
    sign: () => writer.checkpoint(),
    keep(note) {
      // First outside of the data directory: a head that others may have seen must be known when a backup is restored.
      guard?.remember(note)
      writer.keepCheckpoint(note)
    },
  })
  keep.soon()
  const spin = createLoopSpin()
  const opened: OpenedLedger = {
    size,
    head: newestIn(db, size),
    key: service?.writer.id,
    ledgerKeys: service?.ledger.map((key) => key.bytes) ?? [],
    keyPeriods: service?.periods ?? [],
  }
  return {
    opened: () => opened,
    async write(batch: PackedBatch) {
      keep.check()
      const written = await writer.write(batch)
      keep.soon()
      spin.keep(NEXT_MS)
      return written
    },
    checkpoint: () => keep.now(),
    present: () => writer.present(),
    async close() {
      await writer.settled()
      await keep.now()
      writer.present()
      const folded = foldLog(db)
      db.close()
      return folded
    },
  }
}

interface Keeper {
  /** Signs and stores the newest head, and returns it. */
  now(): Promise<string>
  /** Does the same once, after a delay. */
  soon(): void
  /** Throws if a head could not be stored: nothing more may be signed then. */
  check(): void
}

function keeper(
  signs: boolean,
  { sign, keep }: { sign: () => Promise<string>; keep: (note: string) => void },
): Keeper {
  let timer: ReturnType<typeof setTimeout> | undefined
  let fault: { readonly cause: unknown } | undefined
  let kept = ''
  const now = async (): Promise<string> => {
    clearTimeout(timer)
    timer = undefined
    if (!signs) return ''
    try {
      const note = await sign()
      if (note !== kept) keep(note)
      kept = note
      return note
    } catch (cause) {
      fault ??= { cause }
      throw cause
    }
  }
  return {
    now,
    soon() {
      // The error is stored and thrown for the next batch.
      timer ??= setTimeout(() => void now().catch(() => undefined), KEEP_EVERY_MS)
    },
    check() {
      if (fault) throw fault.cause
    },
  }
}
