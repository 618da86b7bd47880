// Which decisions were used: an answer that comes twice is not two.

const MOST_REMEMBERED = 10_000

/** The decisions that a client has used. The oldest are forgotten; they have long expired. */
export class Spent {
  readonly #ids = new Set<string>()

  /** Takes note of a decision; false if it was noted before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    const [oldest] = this.#ids
    if (this.#ids.size > MOST_REMEMBERED && oldest !== undefined) this.#ids.delete(oldest)
    return true
  }
}
