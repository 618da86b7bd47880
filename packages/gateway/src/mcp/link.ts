// One server for one client: its connection, the tools it offers, and whether a person approved them.

import { performance } from 'node:perf_hooks'
import { definitionOf, type Catalogue, type Definition } from '@tollgate/kernel/admin'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { FACULTIES, isUsable } from '../tools/offer.ts'
import { originOf } from '../tools/origin.ts'
import { isSafeText } from './safe-text.ts'
import { UpstreamFault, type Server, type ServerHello, type Upstream } from './server/upstream.ts'

/** A governed method of a server that is not a tool call. */
export type Faculty = (typeof FACULTIES)[number]

/** The definition that a server offers under a name, and the connection it was offered on. */
export interface Offered {
  /** Hash of the definition; null if there is none. */
  readonly hash: string | null
  /** The connection it is offered on. */
  readonly incarnation: number
  /** See `ServerLink`. */
  readonly generation: number
}

/** A server, for one client. */
export interface ServerLink {
  readonly name: string
  readonly upstream: Upstream
  /** The server's description of itself. Adds its faculties to the catalogue. @throws UpstreamFault. */
  hello(): Promise<ServerHello>
  /** The definition that the server offers for a tool. @throws UpstreamFault. */
  offered(tool: string): Promise<Offered>
  /** The definition of the server itself. @throws UpstreamFault. */
  faculty(): Promise<Offered>
  /** Whether a person approved the newest description of the server for one faculty. */
  isPinned(faculty: Faculty): boolean
  /** Whether a person approved it for all faculties. */
  readonly approved: boolean
  /** The name of the server that a client may see. */
  readonly info: JsonObject
  /** The server's instructions for models. Show them only if the server is approved. */
  readonly instructions: string | undefined
  /** Records listed tools. Returns approved tools as they are and others as blocked; invalid ones are left out. */
  take(tools: readonly Json[]): readonly JsonObject[]
  /** Cursors that the server gave to this client. No other cursor is sent to it. */
  readonly cursors: Cursors
  /** Counts invalidations. A definition from an earlier generation is no longer valid. */
  readonly generation: number
  /** Asks the server for everything it offers, so that a person can review it. @throws UpstreamFault. */
  meet(): Promise<void>
  /** The server's offer has changed. It is asked again. */
  forget(): void
  /** The connection is lost. The server is asked again who it is. */
  lose(): void
}

interface Cursors {
  keep(cursor: Json | undefined): void
  has(cursor: string): boolean
}

// Limits the memory that a server can fill.
const MAX_PAGES = 100
const MAX_TOOLS = 2000
const MAX_CURSORS = 1000
const MAX_DEFINITION = 256 << 10
const MAX_BYTES = 8 << 20
const MAX_ATTEMPTS = 3
// A server that reports no changes is asked again after this time.
const FRESH_MS = 60_000

/** The name of a tool in the policy and the catalogue. */
export function toolName(server: string, tool: string): string {
  return `${server}/${tool}`
}

/** The name of a faculty in the policy and the catalogue. */
export function facultyName(server: string, faculty: Faculty): string {
  return `${server}:${faculty}`
}

interface Greeted {
  readonly hello: ServerHello
  readonly definition: Definition
  readonly incarnation: number
}

interface ListedState {
  readonly incarnation: number
  readonly generation: number
  readonly until: number
}

export function createLink(server: Server, upstream: Upstream, catalogue: Catalogue): ServerLink {
  const { name } = server
  const origin = originOf(server.address)
  const hashes = new Map<string, string>()
  let bytes = 0
  let generation = 0
  let greeting: Promise<Greeted> | undefined
  let greeted: Greeted | undefined
  let listing: Promise<ListedState> | undefined

  function greet(): Promise<Greeted> {
    if (greeting) return greeting
    const began = generation
    greeting = upstream.hello().then((hello) => {
      // The server may have been replaced since it answered.
      if (began !== generation) return greet()
      const definition = facultyDefinition(name, origin, hello)
      for (const each of FACULTIES) catalogue.offer(facultyName(name, each), definition)
      greeted = { hello, definition, incarnation: upstream.incarnation }
      return greeted
    })
    // After a failure, the next caller tries again.
    greeting.then(listOnce).catch(() => (greeting = undefined))
    return greeting
  }

  /** Records the definition of a tool; undefined if it is invalid. */
  function note(tool: Json): { tool: JsonObject; own: string; hash: string } | undefined {
    if (!isObject(tool) || typeof tool['name'] !== 'string' || !isUsable(tool['name'])) return undefined
    const own = tool['name']
    if (hashes.size >= MAX_TOOLS && !hashes.has(own)) return undefined
    const definition = toolDefinition(name, origin, tool)
    if (!definition || bytes + definition.text.length > MAX_BYTES) return undefined
    if (!catalogue.offer(toolName(name, own), definition)) return undefined
    bytes += hashes.get(own) === definition.hash ? 0 : definition.text.length
    hashes.set(own, definition.hash)
    return { tool, own, hash: definition.hash }
  }

  function take(tools: readonly Json[]): readonly JsonObject[] {
    return tools.flatMap((each) => {
      const noted = note(each)
      if (!noted) return []
      const full = toolName(name, noted.own)
      if (catalogue.pinned(full) === noted.hash) return [noted.tool]
      return isSafeText(noted.own) ? [blocked(full, noted.own, catalogue)] : []
    })
  }

  /** Reads everything that the server offers. Reads again if it changes meanwhile: only the newest list counts. */
  async function list(): Promise<ListedState> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const began = generation
      const { hello, incarnation } = await greet()
      const tools = hello.capabilities['tools'] === undefined ? [] : await allTools(name, upstream)
      if (began !== generation || upstream.incarnation !== incarnation) continue
      replace(tools)
      return { incarnation, generation, until: performance.now() + FRESH_MS }
    }
    throw new UpstreamFault('UNREACHABLE', `the tools of \`${name}\` change faster than they can be listed`)
  }

  /** Replaces the known tools and withdraws those that the server no longer offers. */
  function replace(tools: readonly Json[]): void {
    const before = new Map(hashes)
    hashes.clear()
    bytes = 0
    for (const tool of tools) note(tool)
    for (const [own, hash] of before) {
      const full = toolName(name, own)
      if (!hashes.has(own) && catalogue.offered(full)?.hash === hash) catalogue.withdraw(full)
    }
  }

  function listOnce(): Promise<ListedState> {
    const current = (listing ??= list())
    current.catch(() => {
      if (listing === current) listing = undefined
    })
    return current
  }

  /** The listing, renewed if it is stale. */
  async function listed(): Promise<ListedState> {
    const current = listOnce()
    const known = await current
    if (performance.now() < known.until && known.generation === generation) return known
    if (listing === current) listing = undefined
    return listOnce()
  }

  const isPinned = (faculty: Faculty): boolean =>
    greeted !== undefined && catalogue.pinned(facultyName(name, faculty)) === greeted.definition.hash
  const isApproved = (): boolean => FACULTIES.every(isPinned)

  return {
    name,
    upstream,
    hello: async () => (await greet()).hello,
    async offered(tool) {
      const { incarnation, generation: at } = await listed()
      return { hash: hashes.get(tool) ?? null, incarnation, generation: at }
    },
    async faculty() {
      const { definition, incarnation } = await greet()
      return { hash: definition.hash, incarnation, generation }
    },
    get generation() {
      return generation
    },
    isPinned,
    get approved() {
      return isApproved()
    },
    get info() {
      return isApproved() && greeted ? infoOf(greeted.hello) : { name, version: '0' }
    },
    get instructions() {
      return greeted?.hello.instructions
    },
    take,
    cursors: createCursors(),
    async meet() {
      await listOnce()
    },
    forget() {
      generation++
      listing = undefined
      greeting = undefined
    },
    lose() {
      this.forget()
      // Until it is asked again, it is unknown whether it is still the approved server.
      greeted = undefined
    },
  }
}

async function allTools(name: string, upstream: Upstream): Promise<readonly Json[]> {
  const found: Json[] = []
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES && found.length <= MAX_TOOLS; page++) {
    const answer = await upstream.request('tools/list', cursor === undefined ? {} : { cursor })
    if (!answer.ok) throw new UpstreamFault('GARBLED', `\`${name}\` does not list its tools`)
    const { tools, nextCursor } = answer.result
    if (isList(tools)) found.push(...tools)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return found
}

/** The definition of a tool: everything its server says about it. Undefined if it is too large to review. */
function toolDefinition(server: string, origin: string, tool: JsonObject): Definition | undefined {
  const { inputSchema } = tool
  try {
    const schema = inputSchema === undefined ? {} : { inputSchema }
    const definition = definitionOf({ kind: 'tool', server, origin, tool, ...schema })
    return definition.text.length > MAX_DEFINITION ? undefined : definition
  } catch {
    // Too large for canonical JSON, so it counts as not offered.
    return undefined
  }
}

/** The description of a server, without its version: a new version with the same description needs no new approval. */
function facultyDefinition(server: string, origin: string, hello: ServerHello): Definition {
  const { name, title } = hello.info
  return definitionOf({
    kind: 'server',
    server,
    origin,
    instructions: hello.instructions ?? null,
    name: typeof name === 'string' ? name : null,
    title: typeof title === 'string' ? title : null,
  })
}

// A person does not approve the version, so it must not hold a sentence.
const VERSION = /^[\w.+-]{1,64}$/

/** The approved name and title of a server, and its version. */
function infoOf({ info }: ServerHello): JsonObject {
  const { name, title, version } = info
  return {
    name: typeof name === 'string' ? name : '',
    ...(typeof title === 'string' && { title }),
    version: typeof version === 'string' && VERSION.test(version) ? version : '0',
  }
}

/** A tool in the list before a person approves it. No text of its server reaches a model. */
function blocked(full: string, name: string, catalogue: Catalogue): JsonObject {
  const changed = catalogue.pinned(full) !== undefined
  const why = changed
    ? 'Its definition changed after a person approved it.'
    : 'No person has approved it yet.'
  const description = `Blocked by Tollgate. ${why} Ask the operator to review and approve the tool ${full}.`
  return { name, description, inputSchema: { type: 'object' } }
}

function createCursors(): Cursors {
  const kept = new Set<string>()
  return {
    keep(cursor) {
      if (typeof cursor !== 'string') return
      kept.delete(cursor)
      kept.add(cursor)
      const [oldest] = kept
      if (kept.size > MAX_CURSORS && oldest !== undefined) kept.delete(oldest)
    },
    has: (cursor) => kept.has(cursor),
  }
}
