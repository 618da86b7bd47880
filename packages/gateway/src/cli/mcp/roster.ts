// Lists what a server offers: its description, tools, prompts and resources. Calls no tool.

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

/** The offers of a server, or why they are unknown. */
export type Roster =
  | { readonly ok: true; readonly offers: readonly Offer[]; readonly tools: number }
  | { readonly ok: false; readonly why: string }

const MAX_PAGES = 100
const MAX_ITEMS = 5000

// Claims the usual client capabilities, so that the server shows everything. Its requests are refused.
const CLAIMED = { sampling: {}, elicitation: {}, roots: {} }

/** Lists what a server offers, then ends the connection. Never rejects. */
export async function rosterOf(
  connect: Connect,
  server: { readonly name: string; readonly address: ServerAddress },
  timeoutMs = 60_000,
): Promise<Roster> {
  const client = { capabilities: CLAIMED, info: { name: 'tollgate', version: VERSION } }
  const upstream = connect(server, client, NO_EVENTS)
  const late = startTimeout(timeoutMs)
  try {
    return await Promise.race([read(upstream, server.name, late.signal), late.passed])
  } catch (fault) {
    // Text of the server is not put into messages.
    return {
      ok: false,
      why: fault instanceof UpstreamFault ? fault.message : 'its lists cannot be read',
    }
  } finally {
    late.cancel()
    await upstream.close().catch(() => undefined)
  }
}

function startTimeout(timeoutMs: number): {
  readonly passed: Promise<Roster>
  readonly signal: AbortSignal
  cancel(): void
} {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<Roster>((resolve) => {
    timer = setTimeout(() => {
      resolve({ ok: false, why: `it did not list its tools within ${timeoutMs / 1000} s` })
      abort.abort()
    }, timeoutMs)
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

/** Reads a whole list. A refused list is empty, because a server can announce more than it has. */
async function listAll(
  upstream: Upstream,
  method: ListMethod,
  member: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && items.length <= MAX_ITEMS; page++) {
    const answer = await upstream.request(method, cursor === undefined ? {} : { cursor }, { signal })
    if (!answer.ok) {
      if (method === 'tools/list') throw new UpstreamFault('GARBLED', 'it does not list its tools')
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
