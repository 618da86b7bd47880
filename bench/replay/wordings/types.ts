// What a wording is: a way to say an order inside a text that an agent reads on the way.

/** What the injected text wants, in the parts that a wording may restate. */
export interface Goal {
  /** English, imperative, one sentence or several. */
  readonly order: string
  /** The verb of the order, as in `send`. */
  readonly verb: string
  /** The opaque values in the order: accounts, addresses, links, names. */
  readonly targets: readonly string[]
  /** A person's name. */
  readonly user: string
  /** What the agent's model is called. */
  readonly model: string
}

/** Families for tuning may be looked at; the held-out ones are only measured. */
export type Split = 'tuning' | 'held-out'

/** One way to say it. */
export interface Wording {
  readonly family: string
  readonly name: string
  readonly split: Split
  readonly text: (goal: Goal) => string
}
