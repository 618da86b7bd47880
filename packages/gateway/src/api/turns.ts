// Reading in turn. The ledger has one reader for all who ask, so no agent may have it look for many of its questions at
// once: what is more waits, and what is much more is sent back.

import type { Identity } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import { Problem } from './problem.ts'
import { lower, ownerOf } from './waits.ts'

/** Does something when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** The turns of everybody. */
interface Turns {
  /** Waits for a turn. @throws Problem `too-many-waiting` if many wait already, unless this one is `patient`. */
  take<T>(identity: Identity, patient: boolean, work: () => Promise<T>): Promise<T>
}

const MOST_AT_ONCE = 8
const MOST_IN_LINE = 64
const SOON = { headers: { 'retry-after': '1' } }

/** Nobody reads. */
export function createTurns(): Turns {
  const busy = new Map<string, number>()
  const lines = new Map<string, (() => void)[]>()

  async function enter(owner: string, patient: boolean): Promise<void> {
    const reading = busy.get(owner) ?? 0
    if (reading < MOST_AT_ONCE) return void busy.set(owner, reading + 1)
    const line = lines.get(owner) ?? []
    if (!patient && line.length >= MOST_IN_LINE) {
      throw new Problem('too-many-waiting', 'the caller has too many questions to the ledger open', SOON)
    }
    lines.set(owner, line)
    await new Promise<void>((go) => void line.push(go))
  }

  /** Gives the turn to who is next in line, or back. */
  function leave(owner: string): void {
    const line = lines.get(owner)
    const next = line?.shift()
    if (line?.length === 0) lines.delete(owner)
    if (next) next()
    else lower(busy, owner)
  }

  return {
    async take(identity, patient, work) {
      // People are few, and look at a ledger that they are trusted with.
      if (identity.role !== 'agent') return work()
      const owner = ownerOf(identity)
      await enter(owner, patient)
      try {
        return await work()
      } finally {
        leave(owner)
      }
    },
  }
}

/** The same ledger, each look at it in turn. */
export function viewInTurn(view: LedgerView, inTurn: InTurn): LedgerView {
  return {
    size: () => inTurn(() => view.size()),
    page: (request) => inTurn(() => view.page(request)),
    find: (id) => inTurn(() => view.find(id)),
    begins: (digits) => inTurn(() => view.begins(digits)),
    envelopes: (start, end) => inTurn(() => view.envelopes(start, end)),
    payloads: (...range) => inTurn(() => view.payloads(...range)),
    indexesOf: (kinds) => inTurn(() => view.indexesOf(kinds)),
    node: (level, index) => inTurn(async () => view.node(level, index)),
    rootAt: (size) => inTurn(() => view.rootAt(size)),
    record: (name) => inTurn(() => view.record(name)),
    records: (...range) => inTurn(() => view.records(...range)),
    recordNames: (prefix) => inTurn(() => view.recordNames(prefix)),
    checkpoint: () => inTurn(() => view.checkpoint()),
  }
}
