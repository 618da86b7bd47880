// How much each principal may have stored on one UTC day: its receipts and what is kept beside them. Whoever has used that up is
// denied until the day ends; the first such denial has a receipt, the others are counted in one.

import type { Quota } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import { chargedTo } from '../names.ts'
import type { Kernel } from '../kernel.ts'
import type { Turn } from './ledger.ts'

/** Whose storage is meant, by tenant and name; see `chargedTo`. */
export interface Charged {
  readonly tenant: string
  readonly principal: string
}

/** Who is charged for what is written for a call. */
export function payerOf({ tenant, author, principal }: Called): Charged {
  return { tenant, principal: chargedTo({ author, principal }) }
}

type Called = Pick<Intent, 'tenant' | 'principal'> & { readonly author?: string | undefined }

/** Whether a principal may store nothing more at this time, with what is set aside for the effects of its open calls. */
export function isFull({ storage, openings }: Kernel, of: Charged, time: number): boolean {
  return storage.isFull(of, time, openings.chargedTo(of))
}

const MOST_AT_ONCE = 1000

/** Ends the days that are over, turn by turn: for principals that do nothing on the next one. */
export async function endStorageDays({ storage, ledger, host }: Kernel): Promise<void> {
  while (storage.hasEnded(host.now())) {
    await ledger.append({ reserved: true, run: (turn) => storage.endDays(turn, MOST_AT_ONCE) })
  }
}

/** What principals have stored, and who may store no more. */
export interface Storage {
  /** Whether the principal may store nothing more at this time; `open` of its allowed calls still have their effects to come. */
  isFull(of: Charged, time: number, open: number): boolean
  /** Whether a receipt has said so already, so that what is denied now is only counted. */
  isDenied(of: Charged, time: number): boolean
  /** Counts what a turn has written for a principal. With a new day, what was counted on the one before becomes a receipt. */
  charge(of: Charged, turn: Turn, bytes: number): void
  /** From this turn on denials are only counted. */
  deny(of: Charged, turn: Turn): void
  /** Counts one denial more. The result writes the count; undefined where that can wait. */
  count(of: Charged): ((turn: Turn) => void) | undefined
  /** Gives the principal a whole day's storage again. The result is how many denials were only counted, if any was. */
  lift(of: Charged, turn: Turn): number | undefined
  /** Ends the days that are over, at most so many in one turn. */
  endDays(turn: Turn, most: number): void
  /** Whether `endDays` has anything to do. */
  hasEnded(time: number): boolean
  /** How many principals are denied. */
  denied(time: number): number
  /** Takes up what the last run has stored; `time` is that of the newest receipt. */
  takeUp(name: string, record: string | undefined, time: number): void
}

/** What the names of all its records begin with. */
export const STORAGE = 'storage\n'

/** Bytes a day that a principal may store if nothing else is said. */
export const DEFAULT_STORAGE: number = 2 ** 30

/** Bytes that are set aside for the effect of an allowed call: it is always recorded, whatever was used up meanwhile. */
export const EFFECT_RESERVE: number = 16 << 10

/** What is said where something else than a call is refused for it. */
export const STORAGE_USED_UP: string =
  'the principal has stored as much as it may today (UTC); wait for the next day, or have an operator run `tollgate unfreeze principal NAME`'

const DAY = 86_400_000
// The sum is stored in such steps, rounded up: few calls have to write it, and a restart makes nothing free.
const STEP = 64 << 10

interface Use {
  readonly of: Charged
  readonly day: number
  bytes: number
  /** The sum as it is stored. */
  stored: number
  /** How many denials were only counted; undefined while none has a receipt. */
  denials: number | undefined
}

/** Nothing is stored yet. `most` is in bytes a day; undefined for no limit. */
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
  /** A day up to which no use is older. */
  #oldest = Infinity

  constructor(most: number) {
    this.#most = most
  }

  isFull(of: Charged, time: number, open: number): boolean {
    const use = this.#at(of, time)
    // Once it is denied it stays so, also if effects take less than was set aside for them.
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
    // As for floods: at 1, 2, 4, 8, …, so that a crash loses less than half of the count. A use that ended meanwhile is gone.
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
    const [day = NaN, bytes = NaN, denials] = (record ?? '').split(' ').map(Number)
    // A damaged record frees nobody: all of the last day counts as used up.
    const isWhole = [day, bytes, denials ?? 0].every((each) => Number.isSafeInteger(each) && each >= 0)
    const use = isWhole
      ? { day, bytes, denials }
      : { day: dayOf(time), bytes: this.#most, denials: undefined }
    this.#add({ of: { tenant, principal }, ...use, stored: use.bytes })
  }

  /** What the principal has used on the day of this time. A clock that goes back gives nothing back. */
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

/** The name that counts are kept under in memory. */
export function chargedName({ tenant, principal }: Charged): string {
  return `${tenant}\n${principal}`
}

function recordName(of: Charged): string {
  return STORAGE + chargedName(of)
}

function dayOf(time: number): number {
  return Math.floor(time / DAY)
}
