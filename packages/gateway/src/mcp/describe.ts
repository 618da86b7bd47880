// What a client is told of the servers it reaches: one as it is, several as one; and of each only what a person has approved.

import { isObject, type JsonObject } from '@tollgate/evidence'
import { LEGACY, VERSIONS } from './protocol.ts'
import type { ServerLink } from './link.ts'
import type { Reach } from './proxy.ts'
import { UpstreamFault, type ServerHello } from './server/upstream.ts'

/** The result of `server/discover`, which `initialize` is made from too. @throws UpstreamFault if a single server is down. */
export async function describe(reach: Reach): Promise<JsonObject> {
  const { links, merged } = reach
  const hellos = await Promise.all(links.map((link) => (merged ? orNothing(link) : link.hello())))
  const seen = hellos.filter((each) => each !== undefined)
  const instructions = links.flatMap(({ approved, instructions: said }) =>
    approved && said !== undefined ? [said] : [],
  )
  return {
    supportedVersions: VERSIONS,
    capabilities: seen.reduce<JsonObject>((all, hello) => ({ ...all, ...capabilitiesOf(hello) }), {}),
    serverInfo: infoOf(reach),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  }
}

/** What the other end is called. Asks nobody: an answer must not fail for want of a name. */
export function infoOf({ links, merged }: Reach): JsonObject {
  const [only] = links
  return merged || !only ? MERGED : only.info
}

const MERGED: JsonObject = { name: 'tollgate', title: 'Tollgate', version: '1' }
// One server of several that takes longer does not keep the others waiting.
const PATIENCE_MS = 3000

async function orNothing(link: ServerLink): Promise<ServerHello | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS)
  })
  try {
    return await Promise.race([link.hello(), late])
  } catch (fault) {
    if (fault instanceof UpstreamFault) return undefined
    throw fault
  } finally {
    clearTimeout(timer)
  }
}

/** What of a server's capabilities goes through this door, in our own words. What is not governed does not. */
function capabilitiesOf({ capabilities }: ServerHello): JsonObject {
  const { tools, resources, prompts, completions, logging } = capabilities
  return {
    // Also approving a tool changes the list.
    ...(isObject(tools) && { tools: { listChanged: true } }),
    ...(isObject(resources) && { resources: flags(resources, 'subscribe', 'listChanged') }),
    ...(isObject(prompts) && { prompts: flags(prompts, 'listChanged') }),
    ...(isObject(completions) && { completions: {} }),
    ...(isObject(logging) && { logging: {} }),
  }
}

function flags(said: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => said[name] === true).map((name) => [name, true]))
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
