// Recognises the tools of the published browser servers, so that a draft declares them by the gateway's own tables.

import type { JsonObject } from '@tollgate/evidence'
import {
  adapterOf,
  ADAPTERS,
  recogniseAdapter,
  type AdapterName,
  type BrowserTool,
} from '../browser/servers/adapters.ts'
import type { Guess } from './effect.ts'
import { isObject, originIn, serverOf, toolOf, type Offer } from './offer.ts'

/** The browser servers among the servers of these offers, by name. */
export function browserServers(offers: readonly Offer[]): ReadonlyMap<string, AdapterName> {
  const found = new Map<string, AdapterName>()
  for (const server of new Set(offers.map(({ name }) => serverOf(name)))) {
    const own = offers.filter(({ name }) => serverOf(name) === server)
    const adapter = adapterIn(own)
    if (adapter) found.set(server, adapter)
  }
  return found
}

/** By the program, or else by what it offers: a local copy has any path. */
function adapterIn(own: readonly Offer[]): AdapterName | undefined {
  const origins = own.map(({ definition }) => originIn(definition) ?? '')
  const byProgram = origins
    .map((origin) => recogniseAdapter(origin.split(' ')))
    .find((name) => name !== undefined)
  const names = new Set(own.map(({ name }) => toolOf(name)))
  return byProgram ?? ADAPTERS.find((name) => TELLING[name].every((tool) => names.has(tool)))
}

const TELLING: Readonly<Record<AdapterName, readonly string[]>> = {
  playwright: ['browser_navigate', 'browser_snapshot', 'browser_click'],
  devtools: ['navigate_page', 'take_snapshot', 'click'],
}

// Texts that an agent writes. References of elements and addresses are bounded by the page and the domains.
// Without any, every argument would be a sink.
const NO_SINK = ['text']
const WRITTEN = /^(?:text|value|values|fields|elements|data|key|promptText|function|paths|filePaths)$/

/** The row of a tool in the form of a guess; undefined for a tool of another server. */
export function guessForBrowser(
  adapter: AdapterName | undefined,
  tool: string,
  listed: JsonObject,
): (Guess & { readonly row: BrowserTool }) | undefined {
  const row = adapter && adapterOf(adapter).tools.get(tool)
  if (!row) return undefined
  const { inputSchema } = listed
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  const names = isObject(properties) ? Object.keys(properties) : []
  const written = names.filter((name) => WRITTEN.test(name))
  return {
    row,
    effect: row.effect,
    because: `known as a tool of \`${adapterOf(adapter).package}\``,
    destinations: row.address === undefined ? [] : [row.address],
    sinks: written.length > 0 ? written : NO_SINK,
    isOpen: false,
    showsSecrets: /cookie|storage/.test(tool),
  }
}
