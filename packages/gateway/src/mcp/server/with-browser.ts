// A channel to a browser server: the gateway starts its browser first, and ends it after the server.

import { adapterOf, type AdapterName } from '../../browser/servers/adapters.ts'
import type { GuardedBrowser } from '../../browser/door/guard.ts'
import { faultOf } from './calls.ts'
import { StdioChannel, type StdioOptions } from './stdio.ts'
import type { BrowserOwner } from './upstream.ts'

/** Starts the browser of one server process. */
export type StartBrowser = (adapter: AdapterName, owner: BrowserOwner) => Promise<GuardedBrowser>

/** Starts the browser of a server, then the server. @throws UpstreamFault if there is no browser. */
export async function openWithBrowser(
  options: StdioOptions,
  adapter: AdapterName,
  start: () => Promise<GuardedBrowser>,
): Promise<StdioChannel> {
  const { name } = options
  const browser = await start().catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : 'it does not answer'
    throw faultOf('UNREACHABLE', name, `its browser could not be started: ${why}`, { cause })
  })
  const { args, env } = browser.launch
  const own = withoutVariables(options.address, adapter)
  const address = { ...own, args: [...own.args, ...args], env: { ...own.env, ...env } }
  return new StdioChannel({ ...options, address, browser })
}

/** The address of a browser server without variables that could lead it to another browser. */
export function withoutVariables(
  address: StdioOptions['address'],
  adapter: AdapterName,
): StdioOptions['address'] {
  const { variables } = adapterOf(adapter)
  const kept = Object.entries(address.env).filter(([name]) => !variables.test(name))
  return { ...address, env: Object.fromEntries(kept) }
}
