// The tools of a Chat Completions request: those that a reply may call, and those that the provider runs.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  ambiguous,
  tooLarge,
  unknownTool,
  type DeclaredTool,
  type HostedTool,
  type Refused,
} from '../dialect.ts'
import { searchesWeb } from '../parameters.ts'
import { placeIn } from '../removal.ts'

interface Toolbox {
  readonly tools: ReadonlyMap<string, DeclaredTool>
  readonly hosted: readonly HostedTool[]
}

const MAX_DECLARED = 4096
const MAX_HOSTED = 128

/** Reads the tools of a request. @throws Refused */
export function readTools(body: JsonObject): Toolbox {
  const tools = new Map<string, DeclaredTool>()
  const hosted: HostedTool[] = []

  function host(tool: HostedTool): void {
    if (hosted.length >= MAX_HOSTED) throw tooMany(`${MAX_HOSTED} tools that the provider would run`, 'tools')
    hosted.push(tool)
  }

  function declare(definition: Json | undefined, tool: DeclaredTool, param: string): void {
    const name = isObject(definition) ? definition['name'] : undefined
    if (typeof name !== 'string' || name === '') throw ambiguous('a tool has no name', param)
    if (tools.has(name)) throw ambiguous('two tools have the same name; give each its own', param)
    if (tools.size >= MAX_DECLARED) throw tooMany(`${MAX_DECLARED} tools`, param)
    tools.set(name, tool)
  }

  for (const entry of entriesOf(body, 'tools')) {
    const { type, function: definition, custom } = entry
    if (type === 'function') declare(definition, functionTool(definition), 'tools')
    else if (type === 'custom') declare(custom, { form: 'text', schema: undefined }, 'tools')
    else host({ ...unknownTool('openai', type), place: placeIn(body['tools'], entry) })
  }
  for (const entry of entriesOf(body, 'functions')) declare(entry, functionTool(entry), 'functions')
  const search = searchOf(body)
  if (search) host(search)
  return { tools, hosted }
}

function functionTool(definition: Json | undefined): DeclaredTool {
  return { form: 'json', schema: isObject(definition) ? definition['parameters'] : undefined }
}

function searchOf(body: JsonObject): HostedTool | undefined {
  const { web_search_options: options = null, model, models } = body
  if (options !== null && !isObject(options)) {
    throw ambiguous('`web_search_options` must be an object', 'web_search_options')
  }
  // OpenRouter tries the models in `models` after the first.
  const isOnline = searchesWeb(model) || searchesWeb(models)
  if (!options && !isOnline) return undefined
  // A model that searches by itself would search without the member, too.
  const place = isOnline
    ? undefined
    : { remove: () => void Reflect.deleteProperty(body, 'web_search_options') }
  return { tool: 'openai/web_search', args: options ?? {}, known: true, place }
}

function entriesOf(body: JsonObject, param: string): readonly JsonObject[] {
  const entries = body[param] ?? null
  if (entries === null) return []
  if (!isList(entries)) throw ambiguous(`\`${param}\` must be a list`, param)
  return entries.map((entry) => {
    if (!isObject(entry)) throw ambiguous(`an entry of \`${param}\` must be an object`, param)
    return entry
  })
}

/** A refusal of a request that has more than so many parts. */
export function tooMany(parts: string, param: string): Refused {
  return tooLarge(`the request has more than ${parts}; send fewer`, param)
}
