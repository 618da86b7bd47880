// One server, for one client: the connection to it, what it offers, and whether a person has approved of that.

import { performance } from 'node:perf_hooks'
import { definitionOf, type Catalogue, type Definition } from '@tollgate/kernel/admin'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { FACULTIES, isUsable } from '../tools/offer.ts'
import { originOf } from '../tools/origin.ts'
import { isTold } from './told.ts'
import { UpstreamFault, type Server, type ServerHello, type Upstream } from './server/upstream.ts'

/** What is governed of a server besides its tools. */
export type Faculty = (typeof FACULTIES)[number]

/** What a server offers under some name, and on which connection it did. */
export interface Offered {
  /** Hash of the definition; null if there is none. */
  readonly hash: string | null
  /** The connection it is offered on. */
  readonly incarnation: number
  /** See `Link`. */
  readonly generation: number
}

/** A server, for one client. */
export interface ServerLink {
  readonly name: string
  readonly upstream: Upstream
  /** Who the server is. What it offers of faculties is then in the catalogue. @throws UpstreamFault. */
  hello(): Promise<ServerHello>
  /** What the server offers as a tool. @throws UpstreamFault. */
  offered(tool: string): Promise<Offered>
  /** What the server says of itself. @throws UpstreamFault. */
  faculty(): Promise<Offered>
  /** Whether a person has approved of what the server said of itself when it was last asked, for one faculty. */
  isPinned(faculty: Faculty): boolean
  /** The same for all of them. */
  readonly approved: boolean
  /** What the server is called, as far as a client may know. */
  readonly info: JsonObject
  /** What the server wants models to know of it. Only for those who have approved of it. */
  readonly instructions: string | undefined
  /** Takes note of tools as the server lists them; each is passed on as it is, or as blocked, or not at all. */
  take(tools: readonly Json[]): readonly JsonObject[]
  /** Cursors that the server has given out to this client: no other text goes to it as one. */
  readonly cursors: Cursors
  /** How often what was known has been forgotten. What was looked up in an earlier one no longer holds. */
  readonly generation: number
  /** Asks the server for all it offers, so that a person can look at it. @throws UpstreamFault. */
  meet(): Promise<void>
  /** What the server offers has changed: it is asked anew. */
  forget(): void
  /** The server is gone: also what it is has to be asked anew. */
  lose(): void
}

/** Cursors that were given out. */
interface Cursors {
  keep(cursor: Json | undefined): void
  has(cursor: string): boolean
}

// A server that goes on for ever must not fill the memory.
const MAX_PAGES = 100
const MAX_TOOLS = 2000
const MAX_CURSORS = 1000
const MAX_DEFINITION = 256 << 10
const MAX_BYTES = 8 << 20
const MAX_ATTEMPTS = 3
// A server that says nothing of its changes is asked again after this time.
const FRESH_MS = 60_000

/** The name that the policy and the catalogue have for a tool of a server. */
export function toolName(server: string, tool: string): string {
  return `${server}/${tool}`
}

/** The name that the policy and the catalogue have for a faculty of a server. */
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

/** Links a client with a server. */
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
      // Since the server answered it may have become another one.
      if (began !== generation) return greet()
      const definition = facultyDefinition(name, origin, hello)
      for (const each of FACULTIES) catalogue.offer(facultyName(name, each), definition)
      greeted = { hello, definition, incarnation: upstream.incarnation }
      return greeted
    })
    // A server that could not be reached is tried again by who comes next.
    greeting.then(listOnce).catch(() => (greeting = undefined))
    return greeting
  }

  /** The definition of a tool, taken note of; undefined if it cannot be one. */
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
      return isTold(noted.own) ? [blocked(full, noted.own, catalogue)] : []
    })
  }

  /** Reads all of what the server offers. If that changes meanwhile, it is read again: only the newest counts. */
  async function list(): Promise<ListedState> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const began = generation
      const { hello, incarnation } = await greet()
      const tools = hello.capabilities['tools'] === undefined ? [] : await allTools(name, upstream)
      if (began !== generation || upstream.incarnation !== incarnation) continue
      replace(tools)
      return { incarnation, generation, until: performance.now() + FRESH_MS }
    }
    throw new UpstreamFault('UNREACHABLE', `\`${name}\` changes faster than it can be asked what it offers`)
  }

  /** What the server no longer offers is withdrawn. */
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

  /** The listing, while it is fresh. */
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
      // Until it is asked again nobody knows whether it is still what was approved.
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

/** The definition of a tool: all of what its server says of it. Undefined if it is too large to be looked at. */
function toolDefinition(server: string, origin: string, tool: JsonObject): Definition | undefined {
  const { inputSchema } = tool
  try {
    const schema = inputSchema === undefined ? {} : { inputSchema }
    const definition = definitionOf({ kind: 'tool', server, origin, tool, ...schema })
    return definition.text.length > MAX_DEFINITION ? undefined : definition
  } catch {
    // More than canonical JSON may hold: as good as not offered.
    return undefined
  }
}

/** What a server says of itself, without the version: a new one that says the same is no news. */
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

// Nobody approves it, so it must be no sentence.
const VERSION = /^[\w.+-]{1,64}$/

/** Of what a server is called, what a person has seen, and the version. */
function infoOf({ info }: ServerHello): JsonObject {
  const { name, title, version } = info
  return {
    name: typeof name === 'string' ? name : '',
    ...(typeof title === 'string' && { title }),
    version: typeof version === 'string' && VERSION.test(version) ? version : '0',
  }
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
