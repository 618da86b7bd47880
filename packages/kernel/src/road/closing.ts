// Closes allowed calls. Each gets one effect, even if no effect is ever reported.

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

/** A caller's report on an advised call. */
export interface EffectReport {
  readonly caller: Caller
  /** Id of the decision. */
  readonly decision: string
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
  /** The output as a value, for inspection. */
  readonly content?: Json
  /** The output was not sent. If the policy inspects results, the output must then be withheld. */
  readonly unseen?: boolean
}

/** A recorded effect, and the part of the output that may be forwarded. */
export interface Reported extends Appended {
  readonly inspection: Inspection | undefined
}

/**
 * Records a caller's report on an advised call. Only its own principal can report, once. After the call was closed as UNKNOWN, one
 * more report is accepted, as `late`.
 *
 * @throws KernelError `EFFECT_REFUSED` if there is no such call to report on, `REQUEST_INVALID` if the report is malformed, or
 * `LEDGER_POISONED`.
 */
export async function reportEffect(kernel: Kernel, report: EffectReport): Promise<Reported> {
  const { caller, decision, status, output: given, content, unseen = false } = report
  const ended: unknown = status
  if ((ended !== 'COMPLETED' && ended !== 'FAILED') || !((given as unknown) instanceof Uint8Array)) {
    throw new KernelError(
      'REQUEST_INVALID',
      'an effect needs the status COMPLETED or FAILED, and its output as bytes',
    )
  }
  // Copied once, so that later changes by the caller cannot alter the hashed bytes.
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

/** Returns an allowed call whose effect is open, or that was closed as UNKNOWN; otherwise undefined. */
export async function openingOf(kernel: Kernel, id: string): Promise<Opening | undefined> {
  const open = kernel.openings.get(id)
  if (open || !ID.test(id)) return open
  const name = lateName(id)
  const reads = [{ name, parse: recordIn }]
  return readOpening(await kernel.ledger.append({ reserved: true, reads, run: (turn) => turn.read(name) }))
}

/** Returns the open decisions for a caller's own call ids. @throws KernelError `LEDGER_POISONED`. */
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

/** Closes an allowed call with its effect. After UNKNOWN it appends one more effect, as `late`. */
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
      // After UNKNOWN only a known effect may follow.
      if (isLate && !('output' in outcome)) throw notOpen()
      if (expired) recordUnknown(kernel, turn, due, 'lost')
      const appended = recordEffect(kernel, turn, due, outcome, { reportedBy, late: isLate })
      kernel.openings.remove(id)
      return appended
    },
  })
}

function notOpen(): KernelError {
  return new KernelError(
    'EFFECT_REFUSED',
    'you have no call with this id whose effect is open; check the receipt id',
  )
}

function readOpening(record: unknown): Opening | undefined {
  // Safe cast: only `openingText` is stored under such a name.
  return typeof record === 'string' ? (JSON.parse(record) as Opening) : undefined
}

// Limits for one turn. It closes twice as many calls as were opened since the last turn, so that the backlog shrinks under any
// load. The maximum keeps the delay for other calls short.
const MIN_PER_TURN = 100
const MAX_PER_TURN = 1000

interface Closing {
  busy: boolean
  /** `openings.added` when the last closing turn began. */
  added: number
}

const closings = new WeakMap<Kernel['openings'], Closing>()

function closingOf({ openings }: Kernel): Closing {
  const known = closings.get(openings) ?? { busy: false, added: openings.added }
  closings.set(openings, known)
  return known
}

/**
 * Closes some advised calls without a report in time, and removes some stale requests, in one turn. Returns at once if a closing
 * turn is running. Every call runs this; `closeAllExpired` is for a gateway without traffic.
 */
export async function closeExpired(kernel: Kernel): Promise<void> {
  const closing = closingOf(kernel)
  if (closing.busy || !mustCloseSome(kernel)) return
  const opened = kernel.openings.added - closing.added
  const most = Math.min(Math.max(2 * opened, MIN_PER_TURN), MAX_PER_TURN)
  closing.busy = true
  closing.added = kernel.openings.added
  try {
    await closeSome(kernel, most)
  } finally {
    closing.busy = false
  }
}

/** Closes all expired calls in several turns, so that other calls can run in between. */
export async function closeAllExpired(kernel: Kernel): Promise<void> {
  // If a call already runs a closing turn, that one continues without us.
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
      // Some may have been reported while the records were loading.
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

/** Returns whether `closeExpired` has work to do. */
export function mustCloseSome({ host, approvals, openings }: Kernel): boolean {
  const now = host.now()
  return openings.hasExpired(now) || approvals.hasStale(now)
}

/** Closes calls that a crash left open. Advised calls that may still be reported stay open. */
export async function recover(kernel: Kernel): Promise<void> {
  if (kernel.openings.size === 0) return
  const due = ownOpenings(kernel).map((opening) => dueNow(kernel, opening))
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

/** The calls that this gateway ran. Other writers of the ledger may still run theirs. */
function ownOpenings({ openings, writer }: Kernel): readonly Opening[] {
  return openings.all().filter((opening) => (opening.writer ?? writer) === writer)
}

function recordUnknown(kernel: Kernel, turn: Turn, due: Due, cause: NonNullable<Effect['cause']>): Appended {
  return recordEffect(kernel, turn, due, { status: 'UNKNOWN', cause }, { reportedBy: 'gateway' })
}
