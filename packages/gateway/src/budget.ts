// Limits how many bytes of request bodies one principal can send. Reading a large body blocks the thread that all callers
// share, so each principal has a budget of bytes that refills over time. A body that cannot be parsed costs extra.

import { performance } from 'node:perf_hooks'

/** The principal that a budget belongs to. */
export interface Spender {
  readonly tenant: string
  readonly principal: string
}

/** The size of a budget. */
export interface BudgetLimits {
  /** Bytes that are refilled per second. */
  readonly rate: number
  /** Bytes in a full budget. */
  readonly burst: number
}

export interface Budget {
  /** Reserves bytes for a body before any of it is read. */
  take(who: Spender, bytes: number): Share | Refusal
  /** Charges for a message that could not be parsed. */
  fine(who: Spender): void
  /** Charges for bytes that have already arrived. Returns the seconds until the principal is out of debt. */
  charge(who: Spender, bytes: number): number
}

/** Bytes that were reserved. */
interface Share {
  readonly ok: true
  /** Returns the bytes that the body did not need. */
  settle(bytes: number): void
}

/** The answer when the budget is spent. */
interface Refusal {
  readonly ok: false
  /** Seconds until the budget is large enough. */
  readonly after: number
}

/** The default limits. */
export const BUDGET: BudgetLimits = { rate: 1 << 20, burst: 16 << 20 }
/** Bytes of a body that are free. The policy limits ordinary calls. */
export const FREE: number = 16 << 10
/** The price of an unreadable message in bytes, in addition to its length. */
export const FINE: number = 64 << 10

/** Milliseconds before a refused caller is answered. The delay slows down callers that retry at once. */
export const REFUSAL_PAUSE_MS = 25

// Above this number, accounts with a full budget are forgotten.
const MAX_REMEMBERED = 10_000

interface Account {
  level: number
  at: number
}

/** Creates full budgets. `now` returns milliseconds and never runs backwards. */
export function createBudget(
  { rate, burst }: BudgetLimits = BUDGET,
  now: () => number = () => performance.now(),
): Budget {
  const accounts = new Map<string, Account>()

  function refilled(account: Account): Account {
    const at = now()
    account.level = Math.min(burst, account.level + ((at - account.at) * rate) / 1000)
    account.at = at
    return account
  }

  function accountOf({ tenant, principal }: Spender): Account {
    const name = `${tenant}\n${principal}`
    const known = accounts.get(name)
    if (known) return refilled(known)
    if (accounts.size >= MAX_REMEMBERED) forgetFull()
    const account = { level: burst, at: now() }
    accounts.set(name, account)
    return account
  }

  function forgetFull(): void {
    for (const [name, account] of accounts) if (refilled(account).level >= burst) accounts.delete(name)
  }

  // A debt has a limit, so that a principal is never locked out for longer than an empty budget takes to fill.
  const lowered = (account: Account, bytes: number): void => {
    account.level = Math.max(-burst, account.level - bytes)
  }

  const priceOf = (bytes: number): number => Math.max(0, bytes - FREE)

  return {
    take(who, bytes) {
      const account = accountOf(who)
      const price = priceOf(bytes)
      // A body that costs more than a whole budget needs a full budget and leaves a debt. A debtor is refused.
      const needed = Math.max(1, Math.min(price, burst))
      if (account.level < needed) return { ok: false, after: Math.ceil((needed - account.level) / rate) }
      lowered(account, price)
      return { ok: true, settle: (used) => lowered(accountOf(who), priceOf(used) - price) }
    },
    fine: (who) => lowered(accountOf(who), FINE),
    charge(who, bytes) {
      const account = accountOf(who)
      lowered(account, priceOf(bytes))
      return Math.max(0, -account.level / rate)
    },
  }
}

/** The bytes that a request announces in `content-length`, or `most` if it announces none. */
export function announced(length: string | undefined, most: number): number {
  const given = length === undefined ? most : Number(length)
  return Number.isSafeInteger(given) && given >= 0 ? Math.min(given, most) : most
}
