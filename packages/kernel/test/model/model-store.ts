// A store for the comparison: in memory, without signatures, and with records that can be lost.

import type { ChainHead, Decision, Effect, Encoded } from '@tollgate/evidence'
import { keptName } from '../../src/road/kept.ts'
import type { Batch, Store } from '../../src/ledger/store.ts'
import type { TraceEntry } from '../../src/workbench/replay/trace.ts'

/** A store that keeps everything and signs nothing. */
export interface PlainStore extends Store {
  /** The newest decision. */
  readonly decision: Decision | undefined
  /** The newest effect. */
  readonly effect: Effect | undefined
  lose(name: string): void
  /** All receipts with their stored calls, and the texts by hash. */
  history(): { readonly entries: readonly TraceEntry[]; readonly texts: ReadonlyMap<string, string> }
}

/** A store that begins with these receipts. */
export function createPlainStore(founding: Batch): PlainStore {
  const records = new Map<string, string>()
  const anchors = new Map<string, Uint8Array>()
  const written: Encoded[] = []
  let head: ChainHead | undefined
  let decision: Decision | undefined
  let effect: Effect | undefined
  const write = (batch: Batch): Promise<void> => {
    if (batch.after !== head?.id) throw new Error('the batch does not follow the newest receipt')
    for (const { encoded, anchors: names } of batch.entries) {
      const { receipt, id, payload } = encoded
      written.push(encoded)
      head = { id, seq: receipt.seq, lamport_clock: receipt.lamport_clock, time: receipt.time }
      if (receipt.kind === 'decision') decision = receipt
      if (receipt.kind === 'effect') effect = receipt
      for (const name of names) anchors.set(name, payload)
    }
    for (const [name, text] of batch.records) {
      if (text === undefined) records.delete(name)
      else records.set(name, text)
    }
    return Promise.resolve()
  }
  void write(founding)
  return {
    get decision() {
      return decision
    },
    get effect() {
      return effect
    },
    lose: (name) => void records.delete(name),
    history: () => ({
      entries: written.map(({ id, receipt }) => ({
        id,
        receipt,
        kept: records.get(keptName({ id, clock: receipt.lamport_clock })),
      })),
      texts: new Map(
        [...records].flatMap(([name, text]) => (name.startsWith('text\n') ? [[name.slice(5), text]] : [])),
      ),
    }),
    head: () => Promise.resolve(head),
    write,
    load: (names) =>
      Promise.resolve(names.map((name) => ({ record: records.get(name), anchor: anchors.get(name) }))),
    list(prefix, of) {
      const names = of === 'records' ? records.keys() : anchors.keys()
      return Promise.resolve([...names].filter((name) => name.startsWith(prefix)).sort())
    },
  }
}
