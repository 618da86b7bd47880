// The tools of a request: those that the agent runs, by the name in a reply, and those that run at the provider.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  ambiguous,
  tooLarge,
  unknownTool,
  type DeclaredTool,
  type HostedTool,
  type Refused,
} from '../dialect.ts'
import { entryOf, isGiven, only } from '../filter.ts'
import { placeIn } from '../removal.ts'
import { beginsLikeServer, joined, serverKey } from './calls.ts'
import { idOf } from './text.ts'

type Take = (tool: JsonObject, book: ToolEntries) => void

interface ToolEntries {
  /** Counts tools before they are taken. @throws Refused if there are too many. */
  count(tools: number): void
  /** Reserves a name. Without `tool`, the agent does not run it. */
  declare(name: string | undefined, tool: DeclaredTool | undefined): void
  host(tool: HostedTool): void
}

const BUILT_IN: DeclaredTool = { form: 'built-in', schema: undefined }

const asBuiltIn =
  (name: string): Take =>
  (_, book) => {
    book.declare(name, BUILT_IN)
  }

const asHosted =
  (tool: string): Take =>
  (entry, book) => {
    book.host({ tool, args: settingsOf(entry), known: true })
  }

const KINDS: Readonly<Record<string, Take>> = {
  function: (tool, book) => {
    book.declare(functionName(tool), functionOf(tool))
  },
  custom: (tool, book) => {
    book.declare(functionName(tool), { form: 'text', schema: undefined })
  },
  namespace: takeNamespace,
  mcp: takeServer,
  shell: takeShell,
  tool_search: takeSearch,
  local_shell: asBuiltIn('local_shell'),
  apply_patch: asBuiltIn('apply_patch'),
  computer: asBuiltIn('computer'),
  computer_use: asBuiltIn('computer'),
  computer_use_preview: asBuiltIn('computer'),
  web_search: asHosted('openai/web_search'),
  web_search_preview: asHosted('openai/web_search'),
  file_search: asHosted('openai/file_search'),
  code_interpreter: asHosted('openai/code_interpreter'),
  image_generation: asHosted('openai/image_generation'),
  programmatic_tool_calling: asHosted('openai/programmatic_tool_calling'),
}

const MAX_TOOLS = 4096
const MAX_HOSTED = 128

const DATED = /_\d{4}_?\d{2}_?\d{2}$/

/** Collects the tools of a request. */
export class ToolBook {
  readonly tools: Map<string, DeclaredTool> = new Map<string, DeclaredTool>()
  readonly hosted: HostedTool[] = []
  readonly #taken = new Set<string>()
  #entries = 0

  /** Takes a list of tools. @throws Refused */
  take(list: Json | undefined, param: string): void {
    this.#takeAll(list, param, false)
  }

  /** Takes a list that may repeat declared tools. @throws Refused */
  repeat(list: Json | undefined, param: string): void {
    this.#takeAll(list, param, true)
  }

  #takeAll(list: Json | undefined, param: string, mayRepeat: boolean): void {
    if (!isGiven(list)) return
    if (!isList(list) || !list.every(isObject)) throw ambiguous('`tools` must be a list of objects', param)
    const book: ToolEntries = {
      count: (tools) => {
        this.#entries += tools
        if (this.#entries > MAX_TOOLS) throw tooMany(`${MAX_TOOLS} tools`, param)
      },
      declare: (name, tool) => {
        if (name === undefined) throw ambiguous('a tool has no valid name', param)
        if (this.#taken.has(name) && mayRepeat) return
        if (this.#taken.has(name)) throw ambiguous('two tools have the same name; give each its own', param)
        this.#taken.add(name)
        if (tool) this.tools.set(name, tool)
      },
      host: (tool) => {
        if (this.hosted.length >= MAX_HOSTED)
          throw tooMany(`${MAX_HOSTED} tools that run at the provider`, param)
        this.hosted.push(tool)
      },
    }
    book.count(list.length)
    for (const tool of list) {
      // Elsewhere, as in a result of a search, an entry cannot be removed.
      const place = param === 'tools' && !mayRepeat ? placeIn(list, tool) : undefined
      takeTool(tool, { ...book, host: (hosted) => book.host({ place, ...hosted }) })
    }
  }
}

function takeTool(tool: JsonObject, book: ToolEntries): void {
  const { type } = tool
  const base = typeof type === 'string' ? type.replace(DATED, '') : ''
  const take = entryOf(KINDS, base)
  if (take) take(tool, book)
  else book.host(unknownTool('openai', type))
}

// The names of servers have this prefix and no schema.
function functionName({ name }: JsonObject): string | undefined {
  return beginsLikeServer(name) ? undefined : idOf(name)
}

function functionOf({ parameters }: JsonObject): DeclaredTool {
  return { form: 'json', schema: parameters ?? undefined }
}

function takeNamespace({ name, tools }: JsonObject, book: ToolEntries): void {
  const inside: ToolEntries = {
    ...book,
    declare: (inner, tool) => book.declare(joined(name, inner), tool),
    // Removing the entry would remove the other tools of the namespace, too.
    host: (tool) => book.host({ ...tool, place: undefined }),
  }
  if (!isList(tools) || !tools.every(isObject)) {
    throw ambiguous('the tools of a namespace must be a list of objects', 'tools')
  }
  book.count(tools.length)
  for (const tool of tools) {
    const { type } = tool
    if (type === 'function' || type === 'custom') takeTool(tool, inside)
    else inside.host(unknownTool('openai', type))
  }
}

const SERVER_SETTINGS = [
  'server_label',
  'server_url',
  'connector_id',
  'tunnel_id',
  'server_description',
  'allowed_tools',
  'allowed_callers',
  'require_approval',
  'defer_loading',
] as const

function takeServer(tool: JsonObject, book: ToolEntries): void {
  const { headers } = tool
  const names = isObject(headers) ? { headers: Object.keys(headers).sort() } : {}
  // A call that needs approval comes back as a proposal with the name of its server.
  const declares = serverKey(tool['server_label'])
  book.declare(declares, { form: 'json', schema: undefined })
  book.host({ tool: 'openai/mcp', args: { ...only(tool, SERVER_SETTINGS), ...names }, known: true, declares })
}

function takeShell(tool: JsonObject, book: ToolEntries): void {
  const isOurs = isLocal(tool['environment'])
  // The name is reserved in both cases, so that an agent with its own shell never gets calls for the other.
  book.declare('shell', isOurs ? BUILT_IN : undefined)
  if (!isOurs) asHosted('openai/shell')(tool, book)
}

function isLocal(environment: Json | undefined): boolean {
  return !isGiven(environment) || (isObject(environment) && environment['type'] === 'local')
}

function takeSearch(tool: JsonObject, book: ToolEntries): void {
  const isOurs = tool['execution'] === 'client'
  const schema = tool['parameters'] ?? undefined
  book.declare('tool_search', isOurs ? { form: 'built-in', schema } : undefined)
  if (!isOurs) asHosted('openai/tool_search')(tool, book)
}

const SECRET: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'api_key', 'headers'])

function settingsOf(tool: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(tool)
      .filter(([name]) => name !== 'type' && !SECRET.has(name))
      .map(([name, value]) => [name, withoutSecrets(value)]),
  )
}

function withoutSecrets(value: Json): Json {
  if (isList(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([name]) => !SECRET.has(name))
  return Object.fromEntries(
    entries.map(([name, member]) => [
      name,
      name === 'domain_secrets' ? labels(member) : withoutSecrets(member),
    ]),
  )
}

function labels(secrets: Json): Json {
  return isList(secrets) ? secrets.filter(isObject).map((secret) => only(secret, ['domain', 'name'])) : []
}

function tooMany(tools: string, param: string): Refused {
  return tooLarge(`the request has more than ${tools}; leave out unneeded ones`, param)
}
