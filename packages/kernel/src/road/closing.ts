// Closing allowed calls: each by one effect, also if nobody ever says what came of it.

import type { Effect, Json, Recovery } from '@tollgate/evidence'
import { forgetRequest } from '../admin/approvals.ts'
import type { Caller } from './capture.ts'
import { NOBODY } from '../names.ts'
import { dueNow, readsFor, recordEffect, type Due, type Outcome } from './effects.ts'
import { inspectFor, unseenFor } from './inspect.ts'
import { KernelError } from '../error.ts'
import type { Inspection } from './inspect.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import { lateName, referenceName, type Opening, type SessionOf } from './openings.ts'

/** A caller's word on what an advised call did. */
export interface EffectReport {
  readonly caller: Caller
  /** Id of the decision. */
  readonly decision: string
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
  /** The same as a value, to be looked through. */
  readonly content?: Json
  /** The output did not come along: where the policy has answers looked through, nothing of it may be handed on. */
  readonly unseen?: boolean
}

/** An effect on the ledger, and what may be handed on of what was reported. */
export interface Reported extends Appended {
  readonly inspection: Inspection | undefined
}

/**
 * Records what the caller says an advised call did. Only its own principal can say so, once; after the decision has been
 * closed as UNKNOWN, once more, as `late`.
 *
 * @throws KernelError `EFFECT_REFUSED` if there is no such call to report on, `REQUEST_INVALID` if it is no effect, or
 * `LEDGER_POISONED`.
 */
export async function reportEffect(kernel: Kernel, report: EffectReport): Promise<Reported> {
  const { caller, decision, status, output: given, content, unseen = false } = report
  const ended: unknown = status
  if ((ended !== 'COMPLETED' && ended !== 'FAILED') || !((given as unknown) instanceof Uint8Array)) {
    throw new KernelError('REQUEST_INVALID', 'an effect is COMPLETED or FAILED, and its output is bytes')
  }
  // Copied once: what is hashed is what was given, whatever happens to the caller's bytes meanwhile.
  const output = Uint8Array.from(given)
  const opening = await openingOf(kernel, decision)
  const mine = opening?.tenant === caller.tenant && opening.principal === (caller.principal ?? NOBODY)
  if (!opening || !mine || opening.assurance !== 'advised') throw notOpen()
  const due = dueNow(kernel, opening)
  const seen = content === undefined ? undefined : inspectFor(kernel, due, content)
  const inspection = unseen ? unseenFor(kernel, due) : seen
  const found = inspection && { inspection, delivery: inspection.delivery }
  const appended = await close(kernel, due, { status, output, ...found }, 'caller')
  return { ...appended, inspection }
}

const ID = /^[0-9a-f]{64}$/

/** An allowed call whose effect is open, or that was closed as UNKNOWN; undefined if there is none of this id. */
export async function openingOf(kernel: Kernel, id: string): Promise<Opening | undefined> {
  const open = kernel.openings.get(id)
  if (open || !ID.test(id)) return open
  const name = lateName(id)
  const reads = [{ name, parse: recordIn }]
  return readOpening(await kernel.ledger.append({ reserved: true, reads, run: (turn) => turn.read(name) }))
}

/**
 * The decisions that a caller means by what it calls its calls, where their effect is not known yet. Looks each up once for all.
 *
 * @throws KernelError `LEDGER_POISONED`.
 */
export async function openedAs(
  kernel: Kernel,
  owner: SessionOf,
  references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const sought = references.filter((reference) => {
    const opening = kernel.openings.named(owner, reference)
    if (opening) found.set(reference, opening.id)
    return !opening
  })
  if (sought.length === 0) return found
  const reads = sought.map((reference) => ({ name: referenceName(owner, reference), parse: recordIn }))
  const ids = await kernel.ledger.append({ reads, run: (turn) => reads.map(({ name }) => turn.read(name)) })
  ids.forEach((id, i) => {
    if (typeof id === 'string') found.set(sought[i] ?? '', id)
  })
  return found
}

function recordIn({ record }: { readonly record: string | undefined }): string | undefined {
  return record
}

/** Closes an allowed call with its effect; once more, as `late`, if it had been closed as UNKNOWN. */
export function close(
  kernel: Kernel,
  due: Due,
  outcome: Outcome,
  reportedBy: Effect['reported_by'],
): Promise<Appended> {
  const { id } = due.opening
  const late = { name: lateName(id), parse: recordIn }
  return kernel.ledger.append({
    reserved: true,
    reads: [...(kernel.openings.get(id) ? [] : [late]), ...readsFor(due)],
    run: (turn) => {
      const open = kernel.openings.get(id)
      if (!open && !readOpening(turn.read(late.name))) throw notOpen()
      const expired = open !== undefined && (open.expires ?? turn.time) < turn.time
      const isLate = open === undefined || expired
      // An UNKNOWN is followed by what became known, never by another UNKNOWN.
      if (isLate && !('output' in outcome)) throw notOpen()
      if (expired) recordUnknown(kernel, turn, due, 'lost')
      const appended = recordEffect(kernel, turn, due, outcome, { reportedBy, late: isLate })
      kernel.openings.remove(id)
      return appended
    },
  })
}

function notOpen(): KernelError {
  return new KernelError('EFFECT_REFUSED', 'there is no call of yours with this id whose effect is open')
}

function readOpening(record: unknown): Opening | undefined {
  // Sound: only `openingText` is ever stored under such a name.
  return typeof record === 'string' ? (JSON.parse(record) as Opening) : undefined
}

// In one turn; the rest goes with the next. Twice as many as were opened since, so that what has expired gets fewer under any
// load, and never so many that the calls behind them would wait long for their batch.
const FEWEST_AT_ONCE = 100
const MOST_AT_ONCE = 1000

interface Closing {
  busy: boolean
  /** How many openings there had been when the last turn of closing began. */
  added: number
}

const closings = new WeakMap<Kernel['openings'], Closing>()

function closingOf({ openings }: Kernel): Closing {
  const known = closings.get(openings) ?? { busy: false, added: openings.added }
  closings.set(openings, known)
  return known
}

/**
 * Closes advised calls that nobody reported on in time, and forgets requests that ended long ago: some of them, in one turn, one
 * turn at a time. While one is under way this returns at once. Every call does this in passing; `closeAllExpired` is for a
 * gateway without traffic.
 */
export async function closeExpired(kernel: Kernel): Promise<void> {
  const closing = closingOf(kernel)
  if (closing.busy || !mustCloseSome(kernel)) return
  const opened = kernel.openings.added - closing.added
  const most = Math.min(Math.max(2 * opened, FEWEST_AT_ONCE), MOST_AT_ONCE)
  closing.busy = true
  closing.added = kernel.openings.added
  try {
    await closeSome(kernel, most)
  } finally {
    closing.busy = false
  }
}

/** Closes all that have expired, turn by turn, so that calls get theirs in between. */
export async function closeAllExpired(kernel: Kernel): Promise<void> {
  // Calls in passing close some as well: what they have begun ends without this.
  while (mustCloseSome(kernel) && !closingOf(kernel).busy) await closeExpired(kernel)
}

async function closeSome(kernel: Kernel, most: number): Promise<void> {
  const openings = kernel.openings.expired(kernel.host.now(), most)
  const due = openings.map((opening) => dueNow(kernel, opening))
  await kernel.ledger.append({
    reserved: true,
    reads: due.flatMap(readsFor),
    run: (turn) => {
      const stale = kernel.approvals.stale(turn.time, most)
      // While the records came, some of them may have been reported after all.
      const expired = due.filter(({ opening }) => kernel.openings.get(opening.id))
      for (const each of expired) recordUnknown(kernel, turn, each, 'lost')
      for (const request of stale) {
        forgetRequest(turn, request)
        kernel.approvals.remove(request)
      }
      for (const { opening } of expired) kernel.openings.remove(opening.id)
    },
  })
}

/** Whether `closeExpired` has anything to do. */
export function mustCloseSome({ host, approvals, openings }: Kernel): boolean {
  const now = host.now()
  return openings.hasExpired(now) || approvals.hasStale(now)
}

/** Closes what a crash left open. Advised calls that may still be reported stay open. */
export async function recover(kernel: Kernel): Promise<void> {
  if (kernel.openings.size === 0) return
  const due = kernel.openings.all().map((opening) => dueNow(kernel, opening))
  await kernel.ledger.append({
    reserved: true,
    reads: due.flatMap(readsFor),
    run: (turn) => {
      const lost = due.filter(({ opening: { expires } }) => expires === null || expires < turn.time)
      if (lost.length === 0) return
      const closed = lost.map((each) =>
        recordUnknown(kernel, turn, each, each.opening.expires === null ? 'crash' : 'lost'),
      )
      turn.append({ causes: closed.slice(-16) }, (header): Recovery => ({
        ...header,
        kind: 'recovery',
        tenant: kernel.tenant,
        closed: closed.length,
        because: 'The gateway was started again with calls still open.',
      }))
      for (const { opening } of lost) kernel.openings.remove(opening.id)
    },
  })
}

function recordUnknown(kernel: Kernel, turn: Turn, due: Due, cause: NonNullable<Effect['cause']>): Appended {
  return recordEffect(kernel, turn, due, { status: 'UNKNOWN', cause }, { reportedBy: 'gateway' })
}
