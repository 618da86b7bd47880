// One ledger in memory for several writers, without signatures: what `Others` promises, in its simplest form.

import { chainHead, type ChainHead } from '@tollgate/evidence'
import { foundingBatch, KernelError, type Batch, type Store } from '../../src/index.ts'
import { fixedKey, ORIGIN, START, WRITER } from '../rig.ts'

/** A store of one writer. */
export interface SharedStore extends Store {
  /** How many of the next batches are refused, as if another writer had changed their basis. */
  refusals: number
  /** How often `hold` was called. */
  holds: number
}

/** Returns a function that opens the store of a writer on one new ledger. */
export async function createSharedMemory(): Promise<(writer: string) => SharedStore> {
  const records = new Map<string, string>()
  const anchors = new Map<string, Uint8Array>()
  const heads = new Map<string, ChainHead>()
  const log: { readonly writer: string; readonly names: readonly string[] }[] = []
  const listeners = new Set<() => void>()
  let time = START

  const apply = (writer: string, batch: Batch): void => {
    const names = new Set<string>(batch.records.keys())
    for (const { encoded, anchors: named } of batch.entries) {
      for (const name of named) {
        anchors.set(name, encoded.payload)
        names.add(name)
      }
      heads.set(writer, chainHead(encoded))
      time = Math.max(time, Date.parse(encoded.receipt.time))
    }
    for (const [name, text] of batch.records) {
      if (text === undefined) records.delete(name)
      else records.set(name, text)
    }
    log.push({ writer, names: [...names] })
    for (const listener of listeners) listener()
  }

  const [ledgerKey, writerKey] = [await fixedKey('ledger'), await fixedKey('writer')]
  const keys = { ledgerKey: ledgerKey.publicKey, writerKey: writerKey.publicKey }
  apply(WRITER, foundingBatch({ origin: ORIGIN, writer: WRITER, time: START, ...keys }))

  return (writer) => {
    let seen = log.length
    const news = (): readonly string[] =>
      log.slice(seen).flatMap((each) => (each.writer === writer ? [] : each.names))
    const isStale = ({ basis }: Batch): boolean =>
      news().some(
        (name) =>
          basis?.names.has(name) === true || basis?.prefixes.some((each) => name.startsWith(each)) === true,
      )
    const store: SharedStore = {
      refusals: 0,
      holds: 0,
      head: () => Promise.resolve(heads.get(writer)),
      load: (names) =>
        Promise.resolve(names.map((name) => ({ record: records.get(name), anchor: anchors.get(name) }))),
      list: (prefix, of) =>
        Promise.resolve(
          [...(of === 'records' ? records : anchors).keys()].filter((each) => each.startsWith(prefix)),
        ),
      write(batch) {
        const refused = store.refusals-- > 0
        store.refusals = Math.max(0, store.refusals)
        if (refused || isStale(batch))
          return Promise.reject(new KernelError('BATCH_STALE', 'decided on an old state'))
        apply(writer, batch)
        return Promise.resolve()
      },
      others: {
        changes() {
          const names = news()
          seen = log.length
          return Promise.resolve({ names, time })
        },
        hold: () => Promise.resolve().then(() => void store.holds++),
        release: () => Promise.resolve(),
        watch(listener) {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
      },
    }
    return store
  }
}
