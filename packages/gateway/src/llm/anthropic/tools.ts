// The tools of a request. Client tools are declared; provider tools are judged before the request is forwarded.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { looksLikeMember, membersOf, toolsetOf } from './toolsets.ts'
import {
  ambiguous,
  notGoverned,
  tooLarge,
  unknownTool,
  type DeclaredTool,
  type HostedTool,
  type Refused,
  type ToolPlace,
} from '../dialect.ts'
import { entryOf, isGiven, only } from '../filter.ts'
import { placeIn } from '../removal.ts'

const MAX_NAME = 256

/** Built-in tools that the client runs, by type without the version date. */
const CLIENT_RUN: readonly string[] = ['bash', 'text_editor', 'computer', 'memory']

/** Tools that the provider runs, by type without the version date, and their names in the policy. */
const HOSTED: Readonly<Record<string, string>> = {
  web_search: 'anthropic/web_search',
  web_fetch: 'anthropic/web_fetch',
  code_execution: 'anthropic/code_execution',
  tool_search_tool_regex: 'anthropic/tool_search',
  tool_search_tool_bm25: 'anthropic/tool_search',
  advisor: 'anthropic/advisor',
  mcp_toolset: 'anthropic/mcp',
}

/** From this version on, these also run code, unless only the model may call them. */
const RUNS_CODE: readonly string[] = ['web_search', 'web_fetch']
const RUNS_CODE_SINCE = '20260209'

const SECRETS: readonly string[] = ['authorization_token', 'authorization', 'headers', 'api_key', 'token']

/** Each one is judged before the request is forwarded. */
const MAX_HOSTED = 128
const MAX_DECLARED = 4096

/** Collects the tools of a request. */
export class ToolList {
  readonly tools: Map<string, DeclaredTool> = new Map<string, DeclaredTool>()
  readonly hosted: HostedTool[] = []
  readonly #named = new Map<string, JsonObject>()

  /** Takes the list in `tools`. @throws Refused */
  takeAll(tools: Json | undefined): void {
    if (!isGiven(tools)) return
    if (!isList(tools)) throw ambiguous('`tools` must be a list', 'tools')
    for (const tool of tools) {
      if (!isObject(tool)) throw ambiguous('a tool must be an object', 'tools')
      this.#take(tool, placeIn(tools, tool))
    }
  }

  /** Takes a definition from the conversation. A repeated one must be identical. @throws Refused */
  takeAddition(tool: Json | undefined): void {
    if (!isObject(tool)) throw ambiguous('a tool must be an object', 'tools')
    const earlier = typeof tool['name'] === 'string' ? this.#named.get(tool['name']) : undefined
    if (earlier && JSON.stringify(earlier) === JSON.stringify(tool)) return
    this.#take(tool)
  }

  /** Takes the list in `mcp_servers`. @throws Refused */
  takeServers(servers: Json | undefined): void {
    if (!isGiven(servers)) return
    if (!isList(servers) || !servers.every(isObject)) {
      throw ambiguous('`mcp_servers` must be a list of objects', 'mcp_servers')
    }
    for (const server of servers) {
      const known = server['type'] === 'url' && Object.keys(server).every((name) => SERVER.includes(name))
      const args = only(server, ['name', 'url', 'tool_configuration'])
      this.#addHosted({ tool: 'anthropic/mcp', args, known, place: placeIn(servers, server) })
    }
  }

  /** Takes the container for code and its skills. @throws Refused */
  takeContainer(container: Json | undefined): void {
    if (!isGiven(container) || typeof container === 'string') return
    if (!isObject(container)) throw ambiguous('`container` must be an id or an object', 'container')
    if (!Object.keys(container).every((name) => name === 'id' || name === 'skills')) {
      throw notGoverned('`container` has an unknown member; send only `id` and `skills`', 'container')
    }
    const skills = container['skills'] ?? []
    if (!isList(skills) || !skills.every(isObject))
      throw ambiguous('`skills` must be a list of objects', 'container')
    for (const skill of skills) {
      this.#addHosted({ tool: 'anthropic/skills', args: skill, known: true, place: placeIn(skills, skill) })
    }
  }

  #take(tool: JsonObject, place?: ToolPlace): void {
    const type = tool['type'] ?? 'custom'
    if (typeof type !== 'string') throw ambiguous('the type of a tool must be a string', 'tools')
    const family = toolsetOf(type)
    const [, kind = type, version = ''] = /^(.+)_(\d{8})$/.exec(type) ?? []
    if (family !== undefined) this.#declareFamily(tool, family)
    else if (type === 'custom') this.#declare(tool, schemaOf(tool))
    else if (CLIENT_RUN.includes(kind) && version !== '') this.#declare(tool, undefined)
    else this.#host(tool, type, entryOf(HOSTED, kind), place)
    if (RUNS_CODE.includes(kind) && version >= RUNS_CODE_SINCE && !isDirectOnly(tool)) {
      this.#addHosted({ tool: 'anthropic/code_execution', args: { for: kind }, known: true, place })
    }
  }

  #declare(tool: JsonObject, schema: Json | undefined): void {
    const name = this.#claim(tool)
    if (name === undefined) throw ambiguous('a tool has no valid name', 'tools')
    if (looksLikeMember(name)) throw ambiguous('a tool has the name of a toolset member; rename it', 'tools')
    this.#addDeclared(name, schema)
  }

  #declareFamily(tool: JsonObject, family: string): void {
    for (const name of membersOf(family, tool['configs'])) {
      if (this.tools.has(name)) throw twice()
      this.#addDeclared(name, undefined)
    }
  }

  #host(tool: JsonObject, type: string, known: string | undefined, place: ToolPlace | undefined): void {
    this.#claim(tool)
    if (known === undefined) this.#addHosted({ ...unknownTool('anthropic', type), place })
    else this.#addHosted({ tool: known, args: settingsOf(tool), known: true, place })
  }

  #addDeclared(name: string, schema: Json | undefined): void {
    if (this.tools.size >= MAX_DECLARED) throw tooMany('tools', MAX_DECLARED)
    this.tools.set(name, { form: 'json', schema })
  }

  #addHosted(tool: HostedTool): void {
    if (this.hosted.length >= MAX_HOSTED) throw tooMany('tools that the provider would run', MAX_HOSTED)
    this.hosted.push(tool)
  }

  #claim(tool: JsonObject): string | undefined {
    const { name } = tool
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) return undefined
    if (this.#named.has(name)) throw twice()
    this.#named.set(name, tool)
    return name
  }
}

const SERVER: readonly string[] = ['type', 'name', 'url', 'authorization_token', 'tool_configuration']

function schemaOf(tool: JsonObject): Json {
  const schema = tool['input_schema']
  if (!isObject(schema)) throw ambiguous('a tool has no `input_schema`', 'tools')
  return schema
}

function isDirectOnly({ allowed_callers: callers }: JsonObject): boolean {
  return isList(callers) && callers.length > 0 && callers.every((caller) => caller === 'direct')
}

function settingsOf(tool: JsonObject): JsonObject {
  const names = Object.keys(tool).filter((name) => name !== 'type' && !SECRETS.includes(name))
  const headers = isObject(tool['headers']) ? { headers: Object.keys(tool['headers']) } : {}
  return { ...only(tool, names), ...headers }
}

function twice(): Refused {
  return ambiguous('two tools have the same name; give each its own', 'tools')
}

function tooMany(what: string, most: number): Refused {
  return tooLarge(`there are more than ${most} ${what}; send fewer`, 'tools')
}
