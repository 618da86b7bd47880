// Asks a server what it offers: who it is, its tools, prompts and resources. Lists are read to their end, within limits; no tool is
// ever called.

import type { Json, JsonObject } from '@tollgate/evidence'
import { definitionOf } from '@tollgate/kernel/admin'
import type { ListMethod } from '../../mcp/methods.ts'
import {
  NO_EVENTS,
  UpstreamFault,
  type Connect,
  type ServerAddress,
  type Upstream,
} from '../../mcp/server/upstream.ts'
import { isList, isObject, type Offer } from '../../tools/offer.ts'
import { VERSION } from '../program/version.ts'

/** What a server offers, or why that is not known. */
export type Roster =
  | { readonly ok: true; readonly offers: readonly Offer[]; readonly tools: number }
  | { readonly ok: false; readonly why: string }

const MOST_PAGES = 100
const MOST_ITEMS = 5000

// What clients can do, so that the server shows what it would show them. Whatever it then asks for is refused.
const CLAIMED = { sampling: {}, elicitation: {}, roots: {} }

/** Asks a server what it offers, and ends it. Never rejects. */
export async function rosterOf(
  connect: Connect,
  server: { readonly name: string; readonly address: ServerAddress },
  patience = 60_000,
): Promise<Roster> {
  const client = { capabilities: CLAIMED, info: { name: 'tollgate', version: VERSION } }
  const upstream = connect(server, client, NO_EVENTS)
  const late = afterwards(patience)
  try {
    return await Promise.race([read(upstream, server.name, late.signal), late.passed])
  } catch (fault) {
    // Only our own sentences: what a server says goes into no message.
    return {
      ok: false,
      why: fault instanceof UpstreamFault ? fault.message : 'what it offers cannot be read',
    }
  } finally {
    late.cancel()
    await upstream.close().catch(() => undefined)
  }
}

function afterwards(patience: number): {
  readonly passed: Promise<Roster>
  readonly signal: AbortSignal
  cancel(): void
} {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<Roster>((resolve) => {
    timer = setTimeout(() => {
      resolve({ ok: false, why: `it has not told what it offers in ${patience / 1000} s` })
      abort.abort()
    }, patience)
  })
  return { passed, signal: abort.signal, cancel: () => clearTimeout(timer) }
}

async function read(upstream: Upstream, server: string, signal: AbortSignal): Promise<Roster> {
  const { capabilities, info, instructions } = await upstream.hello()
  const has = (name: string): boolean => capabilities[name] !== undefined
  const all = (method: ListMethod, member: string): Promise<readonly JsonObject[]> =>
    listAll(upstream, method, member, signal)
  const tools = has('tools') ? await all('tools/list', 'tools') : []
  const prompts = has('prompts') ? await all('prompts/list', 'prompts') : []
  const resources = has('resources') ? await all('resources/list', 'resources') : []
  const templates = has('resources') ? await all('resources/templates/list', 'resourceTemplates') : []
  const own = { kind: 'server', server }
  const about = {
    ...own,
    instructions: instructions ?? null,
    name: info['name'] ?? null,
    title: info['title'] ?? null,
  }
  return {
    ok: true,
    tools: tools.length,
    offers: [
      ...tools.map((tool) => toolOffer(server, tool)),
      offer(`${server}:initialize`, about),
      ...(prompts.length > 0 ? [offer(`${server}:prompts/list`, { ...own, prompts })] : []),
      ...(resources.length > 0 ? [offer(`${server}:resources/list`, { ...own, resources })] : []),
      ...(templates.length > 0 ? [offer(`${server}:resources/templates/list`, { ...own, templates })] : []),
    ],
  }
}

function toolOffer(server: string, tool: JsonObject): Offer {
  const { name, inputSchema } = tool
  const content = { kind: 'tool', server, tool, ...(inputSchema !== undefined && { inputSchema }) }
  return offer(`${server}/${typeof name === 'string' ? name : ''}`, content)
}

function offer(name: string, content: JsonObject): Offer {
  return { name, definition: definitionOf(content) }
}

/** A list to its end. One that a server refuses to give is empty: it may have announced more than it has. */
async function listAll(
  upstream: Upstream,
  method: ListMethod,
  member: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES && items.length <= MOST_ITEMS; page++) {
    const answer = await upstream.request(method, cursor === undefined ? {} : { cursor }, { signal })
    if (!answer.ok) {
      if (method === 'tools/list') throw new UpstreamFault('GARBLED', 'it does not tell its tools')
      return items
    }
    items.push(...objectsIn(answer.result[member]))
    const { nextCursor } = answer.result
    if (typeof nextCursor !== 'string' || seen.has(nextCursor)) return items
    seen.add(nextCursor)
    cursor = nextCursor
  }
  throw new UpstreamFault('GARBLED', `its list of ${member} does not end`)
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : []
}
