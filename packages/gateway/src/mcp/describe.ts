// Describes the servers behind the gateway to a client: one server as it is, several as one. Only approved texts are shown.

import { isObject, type JsonObject } from '@tollgate/evidence'
import { LEGACY, VERSIONS } from './protocol.ts'
import type { ServerLink } from './link.ts'
import type { Reach } from './proxy.ts'
import { UpstreamFault, type ServerHello } from './server/upstream.ts'
import { orLate } from './waiting.ts'

/** The result of `server/discover`. `initialize` is built from it too. @throws UpstreamFault if a single server is down. */
export async function describe(reach: Reach): Promise<JsonObject> {
  const { links, merged } = reach
  const hellos = await Promise.all(links.map((link) => (merged ? helloInTime(link) : link.hello())))
  const seen = hellos.filter((each) => each !== undefined)
  const instructions = links.flatMap(({ approved, instructions: text }) =>
    approved && text !== undefined ? [text] : [],
  )
  return {
    supportedVersions: VERSIONS,
    capabilities: seen.reduce<JsonObject>((all, hello) => ({ ...all, ...capabilitiesOf(hello) }), {}),
    serverInfo: infoOf(reach),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  }
}

/** The name of the server side. Sends no request, so an answer never fails for lack of a name. */
export function infoOf({ links, merged }: Reach): JsonObject {
  const [only] = links
  return merged || !only ? MERGED : only.info
}

const MERGED: JsonObject = { name: 'tollgate', title: 'Tollgate', version: '1' }
// One slow server does not delay the others.
const PATIENCE_MS = 3000

async function helloInTime(link: ServerLink): Promise<ServerHello | undefined> {
  try {
    return await orLate(link.hello(), PATIENCE_MS)
  } catch (fault) {
    if (fault instanceof UpstreamFault) return undefined
    throw fault
  }
}

/** The capabilities that this door governs. All others are left out. */
function capabilitiesOf({ capabilities }: ServerHello): JsonObject {
  const { tools, resources, prompts, completions, logging } = capabilities
  return {
    // Approving a tool changes the list too.
    ...(isObject(tools) && { tools: { listChanged: true } }),
    ...(isObject(resources) && { resources: flags(resources, 'subscribe', 'listChanged') }),
    ...(isObject(prompts) && { prompts: flags(prompts, 'listChanged') }),
    ...(isObject(completions) && { completions: {} }),
    ...(isObject(logging) && { logging: {} }),
  }
}

function flags(given: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => given[name] === true).map((name) => [name, true]))
}

/** The answer to `initialize`. */
export function negotiate(discovered: JsonObject, requested: string): JsonObject {
  const { capabilities, serverInfo, instructions } = discovered
  return {
    protocolVersion: LEGACY.includes(requested) ? requested : (LEGACY[0] ?? ''),
    capabilities: capabilities ?? {},
    serverInfo: serverInfo ?? {},
    ...(instructions !== undefined && { instructions }),
  }
}
