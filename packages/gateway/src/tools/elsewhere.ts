// Whether another program now goes by the name of a server: what was approved came from somewhere else.

import { parseJson, sha256Hex } from '@tollgate/evidence'
import type { Definition } from '@tollgate/kernel/admin'
import type { Finding } from './finding.ts'
import { excerpt } from './hidden.ts'
import type { Known, ListedServer, Listing } from './listing.ts'
import { isObject, originIn, serverOf } from './offer.ts'

/** What is to be said of a tool or faculty of which one definition is pinned, and another offered. */
export function elsewhereIn(
  name: string,
  pinned: Definition | undefined,
  offered: Definition | undefined,
): readonly Finding[] {
  const [was, is] = [pinned && originIn(pinned), offered && originIn(offered)]
  if (was === undefined || is === undefined || was === is) return []
  const server = serverOf(name)
  const message = `another program now goes by the name \`${excerpt(server)}\`: approved was \`${excerpt(was, 300)}\`, and this is \`${excerpt(is, 300)}\``
  return [{ code: 'SERVER_ELSEWHERE', severity: 'high', tool: server, message }]
}

/** The definition that was pinned, from what the ledger keeps of it; undefined if that is not it. */
export function readPinned(text: string | undefined, hash: string): Definition | undefined {
  if (text === undefined || sha256Hex(text) !== hash) return undefined
  const content = parseJson(text, { maxBytes: text.length * 4 })
  return isObject(content) ? { hash, text, content } : undefined
}

// Enough to see that all of a server has moved; each costs a look into the ledger.
const MOST_COMPARED = 3

/** The same listing, with what is to be said of servers that are no longer where they were when they were approved. */
export async function withElsewhere(
  { servers, more }: Listing,
  catalogue: Known,
  pinnedText: (tool: string) => Promise<string | undefined>,
): Promise<Listing> {
  const told = servers.map(async (server): Promise<ListedServer> => {
    const changed = server.tools.filter(({ state }) => state === 'changed')
    // What a server says of itself before its tools.
    const faculties = changed.toSorted((a, b) => Number(a.kind === 'tool') - Number(b.kind === 'tool'))
    for (const { tool, pinned } of faculties.slice(0, MOST_COMPARED)) {
      const definition = readPinned(await pinnedText(tool), pinned ?? '')
      const found = elsewhereIn(tool, definition, catalogue.offered(tool))
      if (found.length > 0) return { ...server, findings: [...found, ...server.findings] }
    }
    return server
  })
  return { servers: await Promise.all(told), more }
}
