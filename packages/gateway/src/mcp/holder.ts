// Finds the server that has a resource. A URI does not name its server.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { ServerLink } from './link.ts'
import { CODE, RpcFault } from './message.ts'
import type { Reach } from './proxy.ts'

const SEARCH_MS = 10_000

/**
 * The server that has a resource. With several approved servers: the one that lists it, else the one with a matching template.
 * @throws RpcFault if none has it, or more than one.
 */
export async function holderOf(
  { links, merged }: Reach,
  uri: string,
  signal: AbortSignal,
): Promise<ServerLink> {
  const [only] = links
  if (!merged && only) return only
  const within = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)])
  const claims = await Promise.all(links.map((link) => claimOf(link, uri, within)))
  for (const kind of ['listed', 'template'] as const) {
    const holders = links.filter((_, i) => claims[i] === kind)
    const [holder] = holders
    if (holders.length > 1) break
    if (holder) return holder
  }
  throw new RpcFault(CODE.invalidParams, 'no server has this resource, or more than one server has it')
}

async function claimOf(
  link: ServerLink,
  uri: string,
  signal: AbortSignal,
): Promise<'listed' | 'template' | undefined> {
  try {
    const { capabilities } = await link.hello()
    if (capabilities['resources'] === undefined || !link.isPinned('resources/read')) return undefined
    const resources = await listed(link, 'resources/list', 'resources', signal)
    if (resources.some((each) => each['uri'] === uri)) return 'listed'
    const templates = await listed(link, 'resources/templates/list', 'resourceTemplates', signal)
    const fitting = templates.some(
      ({ uriTemplate }) => typeof uriTemplate === 'string' && fits(uriTemplate, uri),
    )
    return fitting ? 'template' : undefined
  } catch {
    // A server that is down has no resources now.
    return undefined
  }
}

const MAX_ITEMS = 10_000

async function listed(
  link: ServerLink,
  method: 'resources/list' | 'resources/templates/list',
  member: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: Json | undefined
  for (let page = 0; page < 20 && found.length < MAX_ITEMS; page++) {
    const got = await link.upstream.request(method, cursor === undefined ? {} : { cursor }, { signal })
    if (!got.ok) break
    const items = got.result[member]
    if (isList(items)) found.push(...items.filter(isObject))
    cursor = got.result['nextCursor']
    if (cursor === undefined) break
  }
  return found
}

/** Whether a URI matches a template: its fixed parts occur in order. */
function fits(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/)
  let at = 0
  for (const [i, part] of parts.entries()) {
    const found = uri.indexOf(part, at)
    if (found < 0 || (i === 0 && found !== 0)) return false
    at = found + part.length
  }
  const last = parts.at(-1) ?? ''
  return last === '' || uri.endsWith(last)
}
