// The tools of a request of Chat Completions: those that a reply may call, and those that the provider would run by itself.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Refused, type DeclaredTool, type HostedTool } from '../dialect.ts'
import { searchesByItself } from '../searching.ts'

/** What a request declares. */
interface Toolbox {
  readonly tools: ReadonlyMap<string, DeclaredTool>
  readonly hosted: readonly HostedTool[]
}

const MOST_DECLARED = 4096
const MOST_HOSTED = 128

/** Reads the tools of a request. @throws Refused */
export function readTools(body: JsonObject): Toolbox {
  const tools = new Map<string, DeclaredTool>()
  const hosted: HostedTool[] = []

  function host(tool: HostedTool): void {
    if (hosted.length >= MOST_HOSTED)
      throw tooLarge(`more than ${MOST_HOSTED} tools that the provider would run`, 'tools')
    hosted.push(tool)
  }

  function declare(definition: Json | undefined, tool: DeclaredTool, param: string): void {
    const name = isObject(definition) ? definition['name'] : undefined
    if (typeof name !== 'string' || name === '') throw unreadable('a tool has no name', param)
    if (tools.has(name)) throw unreadable('two tools have one name; give each its own', param)
    if (tools.size >= MOST_DECLARED) throw tooLarge(`more than ${MOST_DECLARED} tools`, param)
    tools.set(name, tool)
  }

  for (const entry of entriesOf(body, 'tools')) {
    const { type, function: definition, custom } = entry
    if (type === 'function') declare(definition, functionTool(definition), 'tools')
    else if (type === 'custom') declare(custom, { form: 'text', schema: undefined }, 'tools')
    else host({ tool: nameOf(type), args: {}, known: false })
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
    throw unreadable('`web_search_options` is not an object', 'web_search_options')
  }
  // The second names those that OpenRouter tries after the first.
  const isOnline = searchesByItself(model) || searchesByItself(models)
  return options || isOnline ? { tool: 'openai/web_search', args: options ?? {}, known: true } : undefined
}

const TYPE = /^[\w.-]{1,64}$/

function nameOf(type: Json | undefined): string | undefined {
  return typeof type === 'string' && TYPE.test(type) ? `openai/${type}` : undefined
}

function entriesOf(body: JsonObject, param: string): readonly JsonObject[] {
  const entries = body[param] ?? null
  if (entries === null) return []
  if (!isList(entries)) throw unreadable(`\`${param}\` is not a list`, param)
  return entries.map((entry) => {
    if (!isObject(entry)) throw unreadable(`an entry of \`${param}\` is not an object`, param)
    return entry
  })
}

/** A request that cannot be read in one way only. */
export function unreadable(message: string, param: string): Refused {
  return new Refused(400, 'AMBIGUOUS_INPUT', message, param)
}

/** A request that holds more than one may. */
export function tooLarge(what: string, param: string): Refused {
  return new Refused(400, 'REQUEST_TOO_LARGE', `the request has ${what}`, param)
}
