// Which decisions were used: an answer that comes twice is not two.

const FEWEST_REMEMBERED = 10_000
/** An ALLOW lasts a minute. */
const LIFETIME = 60_000

/** The decisions that a client has used. Forgotten are only those that no longer count, and then only if they are many. */
export class Spent {
  /** By id, in the order they were used: until when, by the host's clock, it could be taken for a new one. */
  readonly #until = new Map<string, number>()

  /** Takes note of a decision, for a minute or longer; false if it was noted before. */
  add(id: string, now: number, lasts: number = LIFETIME): boolean {
    if (this.#until.has(id)) return false
    this.#until.set(id, now + Math.max(lasts, LIFETIME))
    this.#forget(now)
    return true
  }

  #forget(now: number): void {
    for (const [id, until] of this.#until) {
      if (this.#until.size <= FEWEST_REMEMBERED || now < until) return
      this.#until.delete(id)
    }
  }
}
