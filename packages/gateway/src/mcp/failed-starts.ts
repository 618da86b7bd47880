// The configured servers whose newest start failed, with the last lines of their standard error.

import type { Log } from '../log.ts'
import type { FailedStart } from '../tools/listing.ts'
import { LastLines } from './server/last-lines.ts'
import type { Server, ServerAddress, UpstreamFault } from './server/upstream.ts'

export class FailedStarts {
  readonly #log: Log
  readonly #now: () => number
  readonly #failed = new Map<string, FailedStart>()

  constructor(log: Log, now: () => number) {
    this.#log = log
    this.#now = now
  }

  list(): readonly FailedStart[] {
    return [...this.#failed.values()]
  }

  /** A server whose starts are noted, for one client. */
  watched(name: string, address: ServerAddress): Server {
    const lines = new LastLines(address.transport === 'stdio' ? address.env : {})
    return {
      ...{ name, address },
      onStderr: (text) => lines.take(text),
      onStart: (fault) => {
        if (fault) this.#note(name, fault, lines.read())
        else this.#failed.delete(name)
        lines.clear()
      },
    }
  }

  #note(server: string, { because = 'no reason is known' }: UpstreamFault, stderr: readonly string[]): void {
    this.#log('warn', 'an MCP server did not start', { server, because, stderr })
    this.#failed.set(server, { server, at: new Date(this.#now()).toISOString(), because, stderr })
  }
}
