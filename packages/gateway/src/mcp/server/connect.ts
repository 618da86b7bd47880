// Opens connections to servers, over stdio or HTTP.

import type { Log } from '../../log.ts'
import type { Times } from './channel.ts'
import { MAX_MESSAGE } from '../message.ts'
import { HttpServerChannel } from './http.ts'
import { ReconnectingServer } from './reconnect.ts'
import { StdioChannel } from './stdio.ts'
import type { Connect } from './upstream.ts'
import { openWithBrowser, withoutVariables, type StartBrowser } from './with-browser.ts'

export interface ConnectOptions {
  readonly log: Log
  /** Starts browsers. Without it, browser servers get no calls. */
  readonly startBrowser?: StartBrowser
  /** Overrides of the default timeouts. */
  readonly times?: Partial<Times>
  /** Largest message of a server in bytes. 8 MiB by default. */
  readonly maxMessage?: number
  /** Most bytes that may wait until a process reads them. 16 MiB by default. */
  readonly maxQueue?: number
}

const TIMES: Times = {
  // The kernel gives up after 120 seconds.
  patience: 110_000,
  // `npx` may have to install a package first.
  hello: 60_000,
  silence: 3000,
  grace: 2000,
  backOff: 500,
  longestBackOff: 30_000,
  well: 60_000,
}

/** Returns a function that creates connections. A server is started on first use. */
export function createConnect(options: ConnectOptions): Connect {
  const { log, startBrowser, maxMessage = MAX_MESSAGE, maxQueue = 2 * MAX_MESSAGE } = options
  const times = { ...TIMES, ...options.times }
  return ({ name, address, onStderr, onStart }, client, events, caller) => {
    const shared = { name, log, events, maxMessage, ...(onStart && { onStart }) }
    if (address.transport === 'http') {
      // No process to protect from restarts.
      const own = { ...shared, times: { ...times, backOff: 0 } }
      return new ReconnectingServer(client, own, (onEnd) => new HttpServerChannel({ ...own, address, onEnd }))
    }
    const own = { ...shared, times, maxQueue, ...(onStderr && { onStderr }) }
    const { browser } = address
    return new ReconnectingServer(client, own, (onEnd) => {
      if (browser === undefined) return new StdioChannel({ ...own, address, onEnd })
      // A server that gets no calls only lists its tools, which needs no browser.
      if (!caller || !startBrowser)
        return new StdioChannel({ ...own, address: withoutVariables(address, browser), onEnd })
      return openWithBrowser({ ...own, address, onEnd }, browser, () => startBrowser(browser, caller))
    })
  }
}
