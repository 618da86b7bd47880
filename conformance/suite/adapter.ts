// What the suite asks of an implementation. An adapter implements these two interfaces; the suite uses nothing else.

/** Starts an implementation on a new, empty ledger. */
export interface Adapter {
  /** A name for the report. */
  readonly name: string
  start(setup: Setup): Promise<Running>
}

/** How an implementation is configured. */
export interface Setup {
  /** Addresses of MCP servers over HTTP, by the name under which the implementation offers them: `/mcp/NAME`. */
  readonly servers: Readonly<Record<string, string>>
}

/** A running implementation. */
export interface Running {
  /** Where its HTTP door listens, without a slash at the end. It may change with a restart. */
  readonly url: string
  /** A token of the role `admin`, of the principal `user:root`. */
  readonly admin: string
  /** Ends the program at once, as SIGKILL does, and waits until it has ended. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  restart(): Promise<void>
  /** The trust file that an auditor gets. */
  trust(): Promise<string>
  /** Everything that the program has printed since its first start. */
  printed(): string
  /** The bytes of every file that it keeps, except keys. */
  kept(): readonly Buffer[]
  stop(): Promise<void>
}
