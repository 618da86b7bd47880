// Reads the environment variables of the examples.

type Further = 'TOLLGATE_APPROVER_TOKEN' | 'TOLLGATE_TRUST'

/** The address of the gateway, and tokens. */
export interface Environment {
  readonly url: string
  /** The token of an agent. */
  readonly token: string
  /** The token of an approver, who is not the agent. */
  readonly approverToken: string
  /** Path of the trust file. */
  readonly trustFile: string
}

/** Reads the environment. Exits the program if a required variable is missing. */
export function environment(...further: readonly Further[]): Environment {
  const missing = ['TOLLGATE_URL', 'TOLLGATE_AGENT_TOKEN', ...further].filter((name) => !process.env[name])
  if (missing.length > 0) {
    console.error(`set ${missing.join(', ')}; see examples/README.md`)
    process.exit(2)
  }
  return {
    url: process.env.TOLLGATE_URL ?? '',
    token: process.env.TOLLGATE_AGENT_TOKEN ?? '',
    approverToken: process.env.TOLLGATE_APPROVER_TOKEN ?? '',
    trustFile: process.env.TOLLGATE_TRUST ?? '',
  }
}
