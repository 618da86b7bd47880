// How much one principal may have the gateway read. Reading a large body takes the one thread that everyone shares, so each
// principal has a budget of bytes that refills with time. A body that cannot be read costs extra: it was work for nothing.

import { performance } from 'node:perf_hooks'

/** Whose budget it is. */
export interface Spender {
  readonly tenant: string
  readonly principal: string
}

/** How large a budget is. */
export interface BudgetLimits {
  /** Bytes that come back each second. */
  readonly rate: number
  /** Bytes that a principal has after a pause. */
  readonly burst: number
}

/** The budgets of all principals. */
export interface Budget {
  /** Sets bytes aside for a body before any of it is read. */
  take(who: Spender, bytes: number): Share | Refusal
  /** Charges for a message that could not be read, or that is none. */
  fine(who: Spender): void
  /** Charges for bytes that have arrived already, and answers with the seconds until the principal is out of debt. */
  charge(who: Spender, bytes: number): number
}

/** Bytes that were set aside. */
interface Share {
  readonly ok: true
  /** Gives back what the body did not need. */
  settle(bytes: number): void
}

/** The budget is spent. */
interface Refusal {
  readonly ok: false
  /** Seconds until there is enough again. */
  readonly after: number
}

/** The limits that apply if none are given. */
export const BUDGET: BudgetLimits = { rate: 1 << 20, burst: 16 << 20 }
/** Bytes of a body that cost nothing: an ordinary call is for the policy to limit. */
export const FREE: number = 16 << 10
/** What an unreadable message costs, in bytes, besides its length. */
export const FINE: number = 64 << 10

/** Milliseconds before a caller that asks too often is answered: it waits for its next try, and costs little meanwhile. */
export const REFUSAL_PAUSE_MS = 25

// More principals than these are remembered only while they owe something.
const MOST_REMEMBERED = 10_000

interface Account {
  level: number
  at: number
}

/** Full budgets for everyone. `now` counts milliseconds and never runs backwards. */
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
    if (accounts.size >= MOST_REMEMBERED) forgetFull()
    const account = { level: burst, at: now() }
    accounts.set(name, account)
    return account
  }

  function forgetFull(): void {
    for (const [name, account] of accounts) if (refilled(account).level >= burst) accounts.delete(name)
  }

  // A debt has a floor, so that a principal is never locked out for longer than an empty budget takes to fill.
  const lowered = (account: Account, bytes: number): void => {
    account.level = Math.max(-burst, account.level - bytes)
  }

  const priceOf = (bytes: number): number => Math.max(0, bytes - FREE)

  return {
    take(who, bytes) {
      const account = accountOf(who)
      const price = priceOf(bytes)
      // A body that costs more than a whole budget needs a full one, and leaves a debt. Nothing passes while there is one.
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

/** How many bytes a request announces; as many as it may send, if it does not say. */
export function announced(length: string | undefined, most: number): number {
  const told = length === undefined ? most : Number(length)
  return Number.isSafeInteger(told) && told >= 0 ? Math.min(told, most) : most
}
