// Limits the bytes that each principal may store per UTC day: its receipts and private records. Over the limit, calls are denied
// until the day ends. The first such denial has a receipt; the others are only counted, in one receipt.

import type { Quota } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import { chargedTo } from '../names.ts'
import type { Kernel } from '../kernel.ts'
import type { Turn } from './ledger.ts'

/** The principal whose storage is charged, see `chargedTo`. */
export interface Charged {
  readonly tenant: string
  readonly principal: string
}

/** Returns the principal that is charged for the writes of a call. */
export function payerOf({ tenant, author, principal }: Called): Charged {
  return { tenant, principal: chargedTo({ author, principal }) }
}

type Called = Pick<Intent, 'tenant' | 'principal'> & { readonly author?: string | undefined }

/** Returns whether a principal has reached its limit, including the reserve for the effects of its open calls. */
export function isFull({ storage, openings }: Kernel, of: Charged, time: number): boolean {
  return storage.isFull(of, time, openings.chargedTo(of))
}

const MAX_PER_TURN = 1000

/** Ends past days in batches, for principals that are idle on the next day. */
export async function endStorageDays({ storage, ledger, host }: Kernel): Promise<void> {
  while (storage.hasEnded(host.now())) {
    await ledger.append({ reserved: true, run: (turn) => storage.endDays(turn, MAX_PER_TURN) })
  }
}

/** The storage use of all principals. */
export interface Storage {
  /** Returns whether the principal has reached its limit. `open` is the number of its allowed calls without an effect. */
  isFull(of: Charged, time: number, open: number): boolean
  /** Returns whether a receipt for the limit exists, so that further denials are only counted. */
  isDenied(of: Charged, time: number): boolean
  /** Charges bytes that a turn wrote to a principal. On a new day it first appends the receipt with the counted denials. */
  charge(of: Charged, turn: Turn, bytes: number): void
  /** Starts counting denials instead of recording them. */
  deny(of: Charged, turn: Turn): void
  /** Counts one more denial. Returns a function that stores the count, or undefined if storing can wait. */
  count(of: Charged): ((turn: Turn) => void) | undefined
  /** Resets the storage of the principal for the day. Returns the number of counted denials, if there are any. */
  lift(of: Charged, turn: Turn): number | undefined
  /** Ends at most `most` past days in one turn. */
  endDays(turn: Turn, most: number): void
  /** Returns whether `endDays` has work to do. */
  hasEnded(time: number): boolean
  /** Returns the number of denied principals. */
  denied(time: number): number
  /** Restores a stored record, or forgets it if it was removed; `time` is that of the newest receipt. */
  takeUp(name: string, record: string | undefined, time: number): void
}

/** The prefix of all storage record names. */
export const STORAGE = 'storage\n'

/** The default limit in bytes per day. */
export const DEFAULT_STORAGE: number = 2 ** 30

/** Bytes reserved for the effect of an allowed call, which is recorded even over the limit. */
export const EFFECT_RESERVE: number = 16 << 10

/** The message for requests other than calls that are refused at the limit. */
export const STORAGE_USED_UP: string =
  'the principal has reached its storage limit for today (UTC); wait for the next day, or ask an operator to unfreeze the principal'

const DAY = 86_400_000
// The sum is stored rounded up to this step, so that few calls write it and a restart never lowers it.
const STEP = 64 << 10

interface Use {
  readonly of: Charged
  readonly day: number
  bytes: number
  /** The stored sum. */
  stored: number
  /** The number of counted denials; undefined before the first denial with a receipt. */
  denials: number | undefined
}

/** Returns empty storage. `most` is in bytes per day; undefined for no limit. */
export function createStorage(most: number | undefined): Storage {
  return most === undefined ? UNLIMITED : new Uses(most)
}

/** Storage without a limit: nothing is counted. */
export const UNLIMITED: Storage = {
  isFull: () => false,
  isDenied: () => false,
  charge: () => undefined,
  deny: () => undefined,
  count: () => undefined,
  lift: () => undefined,
  endDays: () => undefined,
  hasEnded: () => false,
  denied: () => 0,
  takeUp: () => undefined,
}

class Uses implements Storage {
  readonly #most: number
  readonly #uses = new Map<string, Use>()
  /** No use is older than this day. */
  #oldest = Infinity

  constructor(most: number) {
    this.#most = most
  }

  isFull(of: Charged, time: number, open: number): boolean {
    const use = this.#at(of, time)
    // A denied principal stays denied, even if effects need less than their reserve.
    return use?.denials !== undefined || (use?.bytes ?? 0) + open * EFFECT_RESERVE >= this.#most
  }

  isDenied(of: Charged, time: number): boolean {
    return this.#uses.size > 0 && this.#at(of, time)?.denials !== undefined
  }

  charge(of: Charged, turn: Turn, bytes: number): void {
    const use = this.#today(of, turn)
    use.bytes += bytes
    if (use.bytes > use.stored) this.#store(use, turn)
  }

  deny(of: Charged, turn: Turn): void {
    const use = this.#today(of, turn)
    use.denials ??= 0
    this.#store(use, turn)
  }

  count(of: Charged): ((turn: Turn) => void) | undefined {
    const use = this.#uses.get(chargedName(of))
    if (use?.denials === undefined) return undefined
    const denials = ++use.denials
    // Stored at 1, 2, 4, 8, …, as for floods: a crash loses less than half of the count. A use that ended meanwhile is gone.
    return Number.isInteger(Math.log2(denials))
      ? (turn) => {
          if (this.#uses.get(chargedName(of)) === use) this.#store(use, turn)
        }
      : undefined
  }

  lift(of: Charged, turn: Turn): number | undefined {
    const use = this.#uses.get(chargedName(of))
    if (!use) return undefined
    this.#forget(use, turn)
    return use.denials
  }

  endDays(turn: Turn, most: number): void {
    const today = dayOf(turn.time)
    const over = [...this.#uses.values()].filter(({ day }) => day < today)
    for (const use of over.slice(0, most)) this.#end(use, turn)
    if (over.length <= most) this.#oldest = today
  }

  hasEnded(time: number): boolean {
    return this.#uses.size > 0 && this.#oldest < dayOf(time)
  }

  denied(time: number): number {
    const today = dayOf(time)
    return [...this.#uses.values()].filter(({ day, denials }) => day >= today && denials !== undefined).length
  }

  takeUp(name: string, record: string | undefined, time: number): void {
    const [tenant = '', principal = ''] = name.slice(STORAGE.length).split('\n')
    if (record === undefined) {
      this.#uses.delete(chargedName({ tenant, principal }))
      return
    }
    const [day = NaN, bytes = NaN, denials] = record.split(' ').map(Number)
    // A damaged record counts as a fully used day.
    const isWhole = [day, bytes, denials ?? 0].every((each) => Number.isSafeInteger(each) && each >= 0)
    const use = isWhole
      ? { day, bytes, denials }
      : { day: dayOf(time), bytes: this.#most, denials: undefined }
    this.#add({ of: { tenant, principal }, ...use, stored: use.bytes })
  }

  /** Returns the use on the day of this time. A clock that goes back resets nothing. */
  #at(of: Charged, time: number): Use | undefined {
    const use = this.#uses.get(chargedName(of))
    return use && use.day >= dayOf(time) ? use : undefined
  }

  #today(of: Charged, turn: Turn): Use {
    const known = this.#at(of, turn.time)
    if (known) return known
    const before = this.#uses.get(chargedName(of))
    if (before) this.#end(before, turn)
    return this.#add({ of, day: dayOf(turn.time), bytes: 0, stored: 0, denials: undefined })
  }

  #add(use: Use): Use {
    this.#uses.set(chargedName(use.of), use)
    this.#oldest = Math.min(this.#oldest, use.day)
    return use
  }

  #store(use: Use, turn: Turn): void {
    use.stored = Math.ceil(use.bytes / STEP) * STEP
    const { day, stored, denials } = use
    turn.put(recordName(use.of), [day, stored, ...(denials === undefined ? [] : [denials])].join(' '))
  }

  #end(use: Use, turn: Turn): void {
    const { of, day, denials = 0 } = use
    if (denials > 0) {
      turn.append({}, (header): Quota => ({
        ...header,
        kind: 'quota',
        tenant: of.tenant,
        principal: of.principal,
        of: 'storage',
        day: new Date(day * DAY).toISOString().slice(0, 10),
        denials,
      }))
    }
    this.#forget(use, turn)
  }

  #forget(use: Use, turn: Turn): void {
    this.#uses.delete(chargedName(use.of))
    turn.put(recordName(use.of), undefined)
  }
}

/** Returns the key of a principal in memory. */
export function chargedName({ tenant, principal }: Charged): string {
  return `${tenant}\n${principal}`
}

function recordName(of: Charged): string {
  return STORAGE + chargedName(of)
}

function dayOf(time: number): number {
  return Math.floor(time / DAY)
}
