// Remembers used decisions, so that a repeated answer is not used twice.

const MIN_REMEMBERED = 10_000
/** An ALLOW expires after 60 seconds. */
const LIFETIME = 60_000

/** The used decisions of a client. Only expired ones are forgotten, and only beyond `MIN_REMEMBERED`. */
export class Spent {
  /** By id, in order of use: when the decision can no longer look new, on the monotonic clock. */
  readonly #until = new Map<string, number>()

  /** Remembers a decision for at least 60 seconds. Returns false if it is already known. */
  add(id: string, now: number, validFor: number = LIFETIME): boolean {
    if (this.#until.has(id)) return false
    this.#until.set(id, now + Math.max(validFor, LIFETIME))
    this.#forget(now)
    return true
  }

  #forget(now: number): void {
    for (const [id, until] of this.#until) {
      if (this.#until.size <= MIN_REMEMBERED || now < until) return
      this.#until.delete(id)
    }
  }
}
