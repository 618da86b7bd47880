// What tools did: each allowed call is closed by one effect, also if nobody ever says what came of it.

import { saltedHash, sha256Hex, toHex, type Effect, type Recovery } from '@tollgate/evidence'
import { NOBODY, type Caller } from './call.ts'
import { KernelError } from './error.ts'
import { forgetRequest } from './approvals.ts'
import type { Kernel } from './kernel.ts'
import type { Appended, Turn } from './ledger.ts'
import { lateName, openingName, openingText, type Opening } from './openings.ts'

/** What a tool did, as far as it is known. */
export type Outcome =
  | {
      readonly status: 'COMPLETED' | 'FAILED'
      /** The output's bytes; only their hash is recorded. */
      readonly output: Uint8Array
      readonly delivery?: Effect['delivery']
    }
  | { readonly status: 'UNKNOWN'; readonly cause: NonNullable<Effect['cause']> }
  | { readonly status: 'CANCELLED' }

/** Who says so, and whether the effect had already been closed as unknown. */
export interface Circumstances {
  readonly reportedBy: Effect['reported_by']
  readonly late?: boolean
}

/** Appends an effect in a turn. Taking the opening out of memory is left to the caller, after all that can fail. */
export function recordEffect(
  kernel: Kernel,
  turn: Turn,
  opening: Opening,
  outcome: Outcome,
  { reportedBy, late = false }: Circumstances,
): Appended {
  const { id, tenant } = opening
  const hash = 'output' in outcome ? commitOutput(kernel, opening, outcome.output) : undefined
  const appended = turn.append({ causes: [opening] }, (header): Effect => ({
    ...header,
    kind: 'effect',
    tenant,
    decision: id,
    status: outcome.status,
    ...(outcome.status === 'UNKNOWN' && { cause: outcome.cause }),
    ...(hash && { effect_hash: hash.effect }),
    commit: hash?.salt === undefined ? 'plain' : 'salted',
    reported_by: reportedBy,
    delivery: ('delivery' in outcome ? outcome.delivery : undefined) ?? 'full',
    ...(late && { late: true as const }),
  }))
  if (late) turn.write(lateName(id), undefined, undefined)
  else turn.put(openingName(opening), undefined)
  if (outcome.status === 'UNKNOWN') turn.write(lateName(id), openingText(opening), openingText(opening))
  if (hash?.salt !== undefined) turn.put(`salt\n${appended.id}`, hash.salt)
  return appended
}

function commitOutput(
  kernel: Kernel,
  { salted }: Opening,
  output: Uint8Array,
): { effect: string; salt: string | undefined } {
  if (!salted) return { effect: sha256Hex(output), salt: undefined }
  const salt = kernel.host.salt()
  return { effect: saltedHash('effect', salt, output), salt: toHex(salt) }
}

/** A caller's word on what an advised call did. */
export interface EffectReport {
  readonly caller: Caller
  /** Id of the decision. */
  readonly decision: string
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
}

/**
 * Records what the caller says an advised call did. Only its own principal can say so, once; after the decision has been
 * closed as UNKNOWN, once more, as `late`.
 *
 * @throws KernelError `EFFECT_REFUSED` if there is no such call to report on, `REQUEST_INVALID` if it is no effect, or
 * `LEDGER_POISONED`.
 */
export async function reportEffect(kernel: Kernel, report: EffectReport): Promise<Appended> {
  const { caller, decision, status, output: given } = report
  const ended: unknown = status
  if ((ended !== 'COMPLETED' && ended !== 'FAILED') || !((given as unknown) instanceof Uint8Array)) {
    throw new KernelError('REQUEST_INVALID', 'an effect is COMPLETED or FAILED, and its output is bytes')
  }
  // Copied once: what is hashed is what was given, whatever happens to the caller's bytes meanwhile.
  const output = Uint8Array.from(given)
  return close(kernel, decision, { status, output }, 'caller', (opening) => {
    const own = opening.tenant === caller.tenant && opening.principal === (caller.principal ?? NOBODY)
    return own && opening.assurance === 'advised'
  })
}

const ID = /^[0-9a-f]{64}$/

/** Closes an allowed call with its effect; once more, as `late`, if it had been closed as UNKNOWN. */
export function close(
  kernel: Kernel,
  id: string,
  outcome: Outcome,
  reportedBy: Effect['reported_by'],
  mine: (opening: Opening) => boolean = () => true,
): Promise<Appended> {
  const lateRecord = lateName(id)
  if (!ID.test(id)) return Promise.reject(notOpen())
  return kernel.ledger.append({
    reserved: true,
    reads: kernel.openings.get(id) ? [] : [{ name: lateRecord, parse: ({ record }) => record }],
    run: (turn) => {
      const open = kernel.openings.get(id)
      const opening = open ?? readOpening(turn.read(lateRecord))
      if (!opening || !mine(opening)) throw notOpen()
      const expired = open !== undefined && (open.expires ?? turn.time) < turn.time
      const late = open === undefined || expired
      // An UNKNOWN is followed by what became known, never by another UNKNOWN.
      if (late && !('output' in outcome)) throw notOpen()
      if (expired) recordUnknown(kernel, turn, opening, 'lost')
      const appended = recordEffect(kernel, turn, opening, outcome, { reportedBy, late })
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

// In one turn; the rest goes with the next.
const MOST_AT_ONCE = 100

/**
 * Closes advised calls that nobody reported on in time, and forgets requests that ended long ago. Every call does this in
 * passing; a gateway without traffic should do it once in a while.
 */
export async function closeExpired(kernel: Kernel): Promise<void> {
  if (!mustCloseSome(kernel)) return
  await kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const stale = kernel.approvals.stale(turn.time, MOST_AT_ONCE)
      const expired = kernel.openings.expired(turn.time, MOST_AT_ONCE)
      for (const opening of expired) recordUnknown(kernel, turn, opening, 'lost')
      for (const request of stale) {
        forgetRequest(turn, request)
        kernel.approvals.remove(request)
      }
      for (const { id } of expired) kernel.openings.remove(id)
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
  await kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const lost = kernel.openings.all().filter(({ expires }) => expires === null || expires < turn.time)
      if (lost.length === 0) return
      const closed = lost.map((opening) =>
        recordUnknown(kernel, turn, opening, opening.expires === null ? 'crash' : 'lost'),
      )
      turn.append({ causes: closed.slice(-16) }, (header): Recovery => ({
        ...header,
        kind: 'recovery',
        tenant: kernel.tenant,
        closed: closed.length,
        because: 'The gateway was started again with calls still open.',
      }))
      for (const { id } of lost) kernel.openings.remove(id)
    },
  })
}

function recordUnknown(
  kernel: Kernel,
  turn: Turn,
  opening: Opening,
  cause: NonNullable<Effect['cause']>,
): Appended {
  return recordEffect(kernel, turn, opening, { status: 'UNKNOWN', cause }, { reportedBy: 'gateway' })
}
