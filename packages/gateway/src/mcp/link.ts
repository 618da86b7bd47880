// One server for one client: its connection, the tools it offers, and whether a person approved them.

import { performance } from 'node:perf_hooks'
import { definitionOf, type Catalogue, type Definition } from '@tollgate/kernel/admin'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { adapterOf, type AdapterName } from '../browser/servers/adapters.ts'
import { Recent } from '../recent.ts'
import { defaultsIn, type Defaults } from '../tools/defaults.ts'
import { FACULTIES, isUsable } from '../tools/offer.ts'
import { originOf } from '../tools/origin.ts'
import { OutsideQuestions } from './outside.ts'
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
  /** The defaults of its arguments, if a person approved the definition. */
  readonly defaults?: Defaults | undefined
}

/** A tool that the server offers. */
interface NotedTool {
  readonly hash: string
  readonly defaults: Defaults | undefined
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

/** A server, for one client. */
export class ServerLink {
  readonly name: string
  readonly upstream: Upstream
  /** Cursors that the server gave to this client. No other cursor is sent to it. */
  readonly cursors: Recent<true> = new Recent<true>(MAX_CURSORS)
  /** Counts invalidations. A definition from an earlier generation is no longer valid. */
  generation = 0
  /** The published browser server that it is, if it is one. */
  readonly browser: AdapterName | undefined
  /** Its questions outside of a call. */
  readonly outside: OutsideQuestions = new OutsideQuestions()
  readonly #origin: string
  readonly #catalogue: Catalogue
  /** The tools that the server offers, by their names at the server. */
  readonly #noted = new Map<string, NotedTool>()
  /** The length of their definitions. */
  #bytes = 0
  #greeting: Promise<Greeted> | undefined
  #greeted: Greeted | undefined
  #listing: Promise<ListedState> | undefined

  constructor({ name, address }: Server, upstream: Upstream, catalogue: Catalogue) {
    this.name = name
    this.upstream = upstream
    this.browser = address.transport === 'stdio' ? address.browser : undefined
    this.#origin = originOf(address)
    this.#catalogue = catalogue
  }

  /** The server's description of itself. Adds its faculties to the catalogue. @throws UpstreamFault. */
  async hello(): Promise<ServerHello> {
    return (await this.#greet()).hello
  }

  /** The definition that the server offers for a tool. @throws UpstreamFault. */
  async offered(tool: string): Promise<Offered> {
    const { incarnation, generation } = await this.#listed()
    const noted = this.#noted.get(tool)
    const isApproved = this.#catalogue.pinned(toolName(this.name, tool)) === noted?.hash
    const defaults = isApproved ? noted?.defaults : undefined
    return { hash: noted?.hash ?? null, incarnation, generation, defaults }
  }

  /** The definition of the server itself. @throws UpstreamFault. */
  async faculty(): Promise<Offered> {
    const { definition, incarnation } = await this.#greet()
    return { hash: definition.hash, incarnation, generation: this.generation }
  }

  /** Whether a person approved the newest description of the server for one faculty. */
  isPinned(faculty: Faculty): boolean {
    const hash = this.#greeted?.definition.hash
    return hash !== undefined && this.#catalogue.pinned(facultyName(this.name, faculty)) === hash
  }

  /** Whether a person approved it for all faculties. */
  get approved(): boolean {
    return FACULTIES.every((faculty) => this.isPinned(faculty))
  }

  /** The name of the server that a client may see. */
  get info(): JsonObject {
    return this.approved && this.#greeted ? infoOf(this.#greeted.hello) : { name: this.name, version: '0' }
  }

  /** The server's instructions for models. Show them only if the server is approved. */
  get instructions(): string | undefined {
    return this.#greeted?.hello.instructions
  }

  /** Records listed tools. Returns approved tools as they are and others as blocked; invalid ones are left out. */
  take(tools: readonly Json[]): readonly JsonObject[] {
    return tools.flatMap((each) => {
      const noted = this.#note(each)
      if (!noted) return []
      const full = toolName(this.name, noted.own)
      if (this.#catalogue.pinned(full) === noted.hash) return [noted.tool]
      return isSafeText(noted.own) ? [blocked(full, noted.own, this.#catalogue)] : []
    })
  }

  /** Asks the server for everything it offers, so that a person can review it. @throws UpstreamFault. */
  async meet(): Promise<void> {
    await this.#listOnce()
  }

  /** The server's offer has changed. It is asked again. */
  forget(): void {
    this.generation++
    this.#listing = undefined
    this.#greeting = undefined
  }

  /** The connection is lost. The server is asked again who it is. */
  lose(): void {
    this.forget()
    this.outside.lose()
    // Until it is asked again, it is unknown whether it is still the approved server.
    this.#greeted = undefined
  }

  #greet(): Promise<Greeted> {
    if (this.#greeting) return this.#greeting
    const began = this.generation
    const greeting = this.upstream.hello().then((hello) => {
      // The server may have been replaced since it answered.
      if (began !== this.generation) return this.#greet()
      const definition = facultyDefinition(this.name, this.#origin, hello)
      for (const each of FACULTIES) this.#catalogue.offer(facultyName(this.name, each), definition)
      return (this.#greeted = { hello, definition, incarnation: this.upstream.incarnation })
    })
    this.#greeting = greeting
    // After a failure, the next caller tries again.
    greeting.then(() => this.#listOnce()).catch(() => (this.#greeting = undefined))
    return greeting
  }

  /** Records the definition of a tool; undefined if it is invalid. */
  #note(tool: Json): { tool: JsonObject; own: string; hash: string } | undefined {
    if (!isObject(tool) || typeof tool['name'] !== 'string' || !isUsable(tool['name'])) return undefined
    const own = tool['name']
    // A tool that the gateway cannot guard does not exist.
    if (this.browser !== undefined && !adapterOf(this.browser).tools.has(own)) return undefined
    const before = this.#noted.get(own)?.hash
    if (this.#noted.size >= MAX_TOOLS && before === undefined) return undefined
    const definition = toolDefinition(this.name, this.#origin, tool)
    if (!definition || this.#bytes + definition.text.length > MAX_BYTES) return undefined
    if (!this.#catalogue.offer(toolName(this.name, own), definition)) return undefined
    this.#bytes += before === definition.hash ? 0 : definition.text.length
    this.#noted.set(own, { hash: definition.hash, defaults: defaultsIn(tool['inputSchema']) })
    return { tool, own, hash: definition.hash }
  }

  /** The listing, renewed if it is stale. */
  async #listed(): Promise<ListedState> {
    const current = this.#listOnce()
    const known = await current
    if (performance.now() < known.until && known.generation === this.generation) return known
    if (this.#listing === current) this.#listing = undefined
    return this.#listOnce()
  }

  #listOnce(): Promise<ListedState> {
    const current = (this.#listing ??= this.#list())
    current.catch(() => {
      if (this.#listing === current) this.#listing = undefined
    })
    return current
  }

  /** Reads everything that the server offers. Reads again if it changes meanwhile: only the newest list counts. */
  async #list(): Promise<ListedState> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { generation } = this
      const { hello, incarnation } = await this.#greet()
      const tools = hello.capabilities['tools'] === undefined ? [] : await allTools(this.name, this.upstream)
      if (generation !== this.generation || this.upstream.incarnation !== incarnation) continue
      this.#replace(tools)
      return { incarnation, generation, until: performance.now() + FRESH_MS }
    }
    const message = `the tools of \`${this.name}\` change faster than they can be listed`
    throw new UpstreamFault('UNREACHABLE', message)
  }

  /** Replaces the known tools and withdraws those that the server no longer offers. */
  #replace(tools: readonly Json[]): void {
    const before = new Map(this.#noted)
    this.#noted.clear()
    this.#bytes = 0
    for (const tool of tools) this.#note(tool)
    for (const [own, { hash }] of before) {
      const full = toolName(this.name, own)
      const isGone = !this.#noted.has(own) && this.#catalogue.offered(full)?.hash === hash
      if (isGone) this.#catalogue.withdraw(full)
    }
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
