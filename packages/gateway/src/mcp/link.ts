// One server, for one client: the connection to it, what it offers, and whether a person has approved of that.

import { definitionOf, type Catalogue, type Definition } from '@tollgate/kernel'
import type { Json, JsonObject } from '@tollgate/evidence'
import { FACULTIES, isUsable } from '../tools/offer.ts'
import { isObject } from './message.ts'
import {
  UpstreamFault,
  type Exchange,
  type ServerHello,
  type Upstream,
  type UpstreamAnswer,
} from './server/upstream.ts'

/** What is governed of a server besides its tools. */
export type Faculty = (typeof FACULTIES)[number]

/** A server, for one client. */
export interface Link {
  readonly name: string
  readonly upstream: Upstream
  /** Who the server is. What it offers of faculties is then in the catalogue. @throws UpstreamFault. */
  hello(): Promise<ServerHello>
  /** Hash of the definition that the server offers for a tool; null if it offers none. @throws UpstreamFault. */
  offered(tool: string): Promise<string | null>
  /** Hash of what the server says of itself. @throws UpstreamFault. */
  facultyHash(): Promise<string>
  /** Whether a person has approved of the server as it is now. @throws UpstreamFault. */
  isApproved(): Promise<boolean>
  /** Takes note of tools as the server lists them; each is passed on as it is, or as blocked, or not at all. */
  take(tools: readonly Json[]): readonly JsonObject[]
  /** Asks the server for all it offers, so that a person can look at it. @throws UpstreamFault. */
  meet(): Promise<void>
  /** What the server offers has changed: it is asked anew. */
  forget(): void
}

// A server that goes on for ever must not fill the memory.
const MAX_PAGES = 100
const MAX_TOOLS = 10_000

/** The name that the policy and the catalogue have for a tool of a server. */
export function toolName(server: string, tool: string): string {
  return `${server}/${tool}`
}

/** The name that the policy and the catalogue have for a faculty of a server. */
export function facultyName(server: string, faculty: Faculty): string {
  return `${server}:${faculty}`
}

/** Links a client with a server. */
export function createLink(name: string, upstream: Upstream, catalogue: Catalogue): Link {
  const hashes = new Map<string, string>()
  let listing: Promise<void> | undefined
  let greeting: Promise<{ hello: ServerHello; faculty: Definition }> | undefined

  function greet(): Promise<{ hello: ServerHello; faculty: Definition }> {
    if (greeting) return greeting
    greeting = upstream.hello().then((hello) => {
      const faculty = facultyDefinition(name, hello)
      for (const each of FACULTIES) catalogue.offer(facultyName(name, each), faculty)
      return { hello, faculty }
    })
    // A server that could not be reached is tried again by who comes next.
    greeting.then(ensureListed).catch(() => (greeting = undefined))
    return greeting
  }

  function take(tools: readonly Json[]): readonly JsonObject[] {
    return tools.flatMap((tool) => {
      if (!isObject(tool) || typeof tool['name'] !== 'string' || !isUsable(tool['name'])) return []
      if (hashes.size > MAX_TOOLS) return []
      const full = toolName(name, tool['name'])
      const definition = toolDefinition(name, tool)
      hashes.set(tool['name'], definition.hash)
      catalogue.offer(full, definition)
      return [catalogue.pinned(full) === definition.hash ? tool : blocked(full, tool['name'], catalogue)]
    })
  }

  /** Reads all of what the server offers, once. */
  async function list(): Promise<void> {
    const { hello } = await greet()
    if (hello.capabilities['tools'] === undefined) return
    const found: Json[] = []
    let cursor: Json | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await resultOf(name, upstream, 'tools/list', cursor === undefined ? {} : { cursor })
      if (Array.isArray(result['tools'])) found.push(...(result['tools'] as readonly Json[]))
      cursor = result['nextCursor']
      if (cursor === undefined || found.length > MAX_TOOLS) break
    }
    hashes.clear()
    take(found)
  }

  function ensureListed(): Promise<void> {
    listing ??= list()
    listing.catch(() => (listing = undefined))
    return listing
  }

  return {
    name,
    upstream,
    hello: async () => (await greet()).hello,
    async offered(tool) {
      await ensureListed()
      return hashes.get(tool) ?? null
    },
    facultyHash: async () => (await greet()).faculty.hash,
    async isApproved() {
      const { faculty } = await greet()
      return catalogue.pinned(facultyName(name, 'resources/read')) === faculty.hash
    },
    take,
    meet: () => ensureListed(),
    forget() {
      listing = undefined
      greeting = undefined
    },
  }
}

/** The definition of a tool: all of what its server says of it. */
function toolDefinition(server: string, tool: JsonObject): Definition {
  const { inputSchema } = tool
  return definitionOf({ kind: 'tool', server, tool, ...(inputSchema !== undefined && { inputSchema }) })
}

/** What a server says of itself, without the version: a new one that says the same is no news. */
function facultyDefinition(server: string, { info, instructions }: ServerHello): Definition {
  const { name, title } = info
  return definitionOf({
    kind: 'server',
    server,
    instructions: instructions ?? null,
    name: typeof name === 'string' ? name : null,
    title: typeof title === 'string' ? title : null,
  })
}

/** A tool as it is listed until a person approves it: nothing of what its server says of it reaches a model. */
function blocked(full: string, name: string, catalogue: Catalogue): JsonObject {
  const changed = catalogue.pinned(full) !== undefined
  const what = changed
    ? 'Its definition has changed since a person approved it.'
    : 'No person has approved it yet.'
  const description = `Blocked by Tollgate. ${what} The user can look at it with \`tollgate mcp show ${full}\` and approve it with \`tollgate mcp approve ${full}\`.`
  return { name, description, inputSchema: { type: 'object' } }
}

/** The result of a request; an error of the server's is as good as no answer. */
export async function resultOf(
  server: string,
  upstream: Upstream,
  method: string,
  params: JsonObject,
  exchange?: Exchange,
): Promise<JsonObject> {
  const answer: UpstreamAnswer = await upstream.request(method, params, exchange)
  if (answer.ok) return answer.result
  throw new UpstreamFault('GARBLED', `\`${server}\` does not answer \`${method}\``)
}
