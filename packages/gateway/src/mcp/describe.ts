// What a client is told of the servers it reaches: one as it is, several as one.

import type { JsonObject } from '@tollgate/evidence'
import { LEGACY, VERSIONS } from './era.ts'
import type { Link } from './link.ts'
import { isObject } from './message.ts'
import type { Reach } from './proxy.ts'
import { UpstreamFault, type ServerHello } from './server/upstream.ts'

/** What a client is told. */
export interface Description {
  readonly info: JsonObject
  /** The result of `server/discover`. */
  readonly discovered: JsonObject
}

/** Describes what is reached. @throws UpstreamFault if it is a single server that cannot be reached. */
export async function describe({ links, merged }: Reach): Promise<Description> {
  const known = await Promise.all(links.map((link) => (merged ? orNothing(look(link)) : look(link))))
  const seen = known.filter((each) => each !== undefined)
  const [only] = seen
  const info = !merged && only ? only.hello.info : MERGED
  const instructions = seen.flatMap((each) => (each.instructions === undefined ? [] : [each.instructions]))
  return {
    info,
    discovered: {
      supportedVersions: VERSIONS,
      capabilities: seen.reduce<JsonObject>((all, { hello }) => ({ ...all, ...capabilitiesOf(hello) }), {}),
      serverInfo: info,
      ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    },
  }
}

const MERGED: JsonObject = { name: 'tollgate', title: 'Tollgate', version: '1' }

interface Seen {
  readonly hello: ServerHello
  /** Only if a person has approved of them: they are read by a model. */
  readonly instructions: string | undefined
}

async function look(link: Link): Promise<Seen> {
  const hello = await link.hello()
  return { hello, instructions: (await link.isApproved()) ? hello.instructions : undefined }
}

async function orNothing(looking: Promise<Seen>): Promise<Seen | undefined> {
  try {
    return await looking
  } catch (fault) {
    if (fault instanceof UpstreamFault) return undefined
    throw fault
  }
}

/** What of a server's capabilities goes through this door. What is not governed does not. */
function capabilitiesOf({ capabilities }: ServerHello): JsonObject {
  const { tools, resources, prompts, completions, logging } = capabilities
  return {
    // Also approving a tool changes the list.
    ...(isObject(tools) && { tools: { listChanged: true } }),
    ...(isObject(resources) && { resources }),
    ...(isObject(prompts) && { prompts }),
    ...(isObject(completions) && { completions }),
    ...(isObject(logging) && { logging }),
  }
}

/** The answer to `initialize`. */
export function negotiate({ info, discovered }: Description, requested: string): JsonObject {
  const { capabilities, instructions } = discovered
  return {
    protocolVersion: LEGACY.includes(requested) ? requested : (LEGACY[0] ?? ''),
    capabilities: capabilities ?? {},
    serverInfo: info,
    ...(instructions !== undefined && { instructions }),
  }
}
