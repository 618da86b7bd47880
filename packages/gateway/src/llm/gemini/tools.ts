// The tools of a Gemini request: the functions of the agent, and those that the provider runs. One entry can hold several.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  ambiguous,
  tooLarge,
  unknownTool,
  type DeclaredTool,
  type HostedTool,
  type ToolPlace,
} from '../dialect.ts'
import { entryOf, isGiven, only } from '../filter.ts'
import { schemaOf } from './schema.ts'
import type { Spelling } from './spelling.ts'

/** The tools that run at the provider, by member, and their names in the policy. */
const HOSTED: Readonly<Record<string, string>> = {
  googleSearch: 'gemini/google_search',
  googleSearchRetrieval: 'gemini/google_search',
  codeExecution: 'gemini/code_execution',
  urlContext: 'gemini/url_context',
  googleMaps: 'gemini/google_maps',
  fileSearch: 'gemini/file_search',
  mcpServers: 'gemini/mcp',
}

/** The functions of computer use, which the client runs. */
const COMPUTER: readonly string[] = [
  'open_web_browser',
  'wait_5_seconds',
  'go_back',
  'go_forward',
  'search',
  'navigate',
  'click_at',
  'hover_at',
  'type_text_at',
  'key_combination',
  'scroll_document',
  'scroll_at',
  'drag_and_drop',
]

const SECRETS: readonly string[] = ['authConfig', 'apiKey']
const MAX_DECLARED = 4096
const MAX_HOSTED = 128
const MAX_NAME = 256

/** Collects the tools of a request. */
export class OfferedTools {
  readonly tools: Map<string, DeclaredTool> = new Map<string, DeclaredTool>()
  readonly hosted: HostedTool[] = []
  readonly #spelling: Spelling

  constructor(spelling: Spelling) {
    this.#spelling = spelling
  }

  /** Takes the list in `tools`. @throws Refused */
  takeAll(body: JsonObject): void {
    for (const entry of this.#spelling.list(body, 'tools', 'tools')) {
      for (const [member, value] of Object.entries(entry)) {
        if (isGiven(value)) this.#take(member, value, entry, placeIn(body, entry, member))
      }
    }
  }

  #take(member: string, value: Json, entry: JsonObject, place: ToolPlace): void {
    if (member === 'functionDeclarations') {
      for (const each of this.#spelling.list(entry, member, 'tools')) this.#declare(each)
    } else if (member === 'computerUse') this.#declareComputer(value)
    else if (member === 'mcpServers') {
      for (const server of this.#spelling.list(entry, member, 'tools')) this.#host(serverTool(server), place)
    } else {
      if (isObject(value)) this.#spelling.object(value, 'tools')
      this.#host(hostedTool(member, value), place)
    }
  }

  #declare(declaration: JsonObject): void {
    const { name } = declaration
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      throw ambiguous('a function has no valid name', 'tools')
    }
    this.#add(name, schemaOf(declaration))
  }

  #declareComputer(value: Json): void {
    const use = this.#spelling.object(value, 'tools') ?? {}
    const excluded = isList(use['excludedPredefinedFunctions']) ? use['excludedPredefinedFunctions'] : []
    for (const name of COMPUTER) if (!excluded.includes(name)) this.#add(name, undefined)
  }

  #add(name: string, schema: Json | undefined): void {
    if (this.tools.has(name)) throw ambiguous('two functions have the same name; give each its own', 'tools')
    if (this.tools.size >= MAX_DECLARED) {
      throw tooLarge(`there are more than ${MAX_DECLARED} functions; send fewer`, 'tools')
    }
    this.tools.set(name, { form: 'json', schema })
  }

  #host(tool: HostedTool, place: ToolPlace): void {
    if (this.hosted.length >= MAX_HOSTED) {
      const message = `there are more than ${MAX_HOSTED} tools that the provider would run; send fewer`
      throw tooLarge(message, 'tools')
    }
    this.hosted.push({ ...tool, place })
  }
}

/** The place of a tool in an entry. An entry without tools is removed too. */
function placeIn(body: JsonObject, entry: JsonObject, member: string): ToolPlace {
  return {
    remove() {
      Reflect.deleteProperty(entry, member)
      const { tools } = body
      if (!isList(tools) || Object.keys(entry).length > 0) return
      const at = tools.indexOf(entry)
      // Sound: the body may be changed.
      if (at >= 0) (tools as Json[]).splice(at, 1)
    },
  }
}

function hostedTool(member: string, value: Json): HostedTool {
  const tool = entryOf(HOSTED, member)
  if (tool === undefined || !isObject(value)) return unknownTool('gemini', member)
  const names = Object.keys(value).filter((name) => !SECRETS.includes(name))
  return { tool, args: only(value, names), known: true }
}

/** An MCP server, without its headers, which may hold keys. */
function serverTool(server: JsonObject): HostedTool {
  const { name, streamableHttpTransport: transport } = server
  const known = isObject(transport) && Object.keys(server).every((each) => SERVER.includes(each))
  const args = {
    ...(typeof name === 'string' && { name }),
    ...(isObject(transport) && only(transport, ['url'])),
  }
  return { tool: 'gemini/mcp', args, known }
}

const SERVER: readonly string[] = ['name', 'streamableHttpTransport']
