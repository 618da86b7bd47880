// What the examples take from the environment.

type Further = 'TOLLGATE_APPROVER_TOKEN' | 'TOLLGATE_TRUST'

/** Where the gateway is, and whose tokens to use. */
export interface Environment {
  readonly url: string
  /** Of an agent. */
  readonly token: string
  /** Of somebody who may approve, and is not the agent. */
  readonly approverToken: string
  /** Path of the trust file. */
  readonly trustFile: string
}

/** Reads the environment; ends the program if something that is needed is not there. */
export function environment(...further: readonly Further[]): Environment {
  const missing = ['TOLLGATE_URL', 'TOLLGATE_TOKEN', ...further].filter((name) => !process.env[name])
  if (missing.length > 0) {
    console.error(`set ${missing.join(', ')}; examples/README.md says how`)
    process.exit(2)
  }
  return {
    url: process.env.TOLLGATE_URL ?? '',
    token: process.env.TOLLGATE_TOKEN ?? '',
    approverToken: process.env.TOLLGATE_APPROVER_TOKEN ?? '',
    trustFile: process.env.TOLLGATE_TRUST ?? '',
  }
}
