/** A map of at most `most` entries that drops its oldest. Setting an entry again makes it the newest. */
export class Recent<V> extends Map<string, V> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(name: string, value: V): this {
    this.delete(name)
    super.set(name, value)
    const [oldest] = this.keys()
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest)
    return this
  }
}
