// Makes agents take turns when they read the ledger, because there is one reader for all. Each principal has a few reads at
// once; more wait in a queue, and beyond its limit they are refused.

import type { Identity } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import { Problem } from './problem.ts'
import { lower, ownerOf } from './waits.ts'

/** Runs a lookup when it is the caller's turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

interface Turns {
  /** Waits for a turn. @throws Problem `too-many-waiting` if the queue is full, unless the request is `patient`. */
  take<T>(identity: Identity, patient: boolean, work: () => Promise<T>): Promise<T>
}

const MAX_AT_ONCE = 8
const MAX_IN_LINE = 64
const SOON = { headers: { 'retry-after': '1' } }

export function createTurns(): Turns {
  const busy = new Map<string, number>()
  const lines = new Map<string, (() => void)[]>()

  async function enter(owner: string, patient: boolean): Promise<void> {
    const reading = busy.get(owner) ?? 0
    if (reading < MAX_AT_ONCE) return void busy.set(owner, reading + 1)
    const line = lines.get(owner) ?? []
    if (!patient && line.length >= MAX_IN_LINE) {
      throw new Problem('too-many-waiting', 'the caller has too many open reads of the ledger', SOON)
    }
    lines.set(owner, line)
    await new Promise<void>((go) => void line.push(go))
  }

  /** Passes the turn to the next in the queue, or frees it. */
  function leave(owner: string): void {
    const line = lines.get(owner)
    const next = line?.shift()
    if (line?.length === 0) lines.delete(owner)
    if (next) next()
    else lower(busy, owner)
  }

  return {
    async take(identity, patient, work) {
      // People are few and trusted with the ledger.
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

/** Wraps a view so that each read takes a turn. */
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
