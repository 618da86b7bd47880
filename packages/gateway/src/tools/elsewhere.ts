// Detects that the origin of a server has changed: a different program uses the name of an approved server.

import { parseJson, sha256Hex } from '@tollgate/evidence'
import type { Definition } from '@tollgate/kernel/admin'
import type { Finding } from './finding.ts'
import { excerpt } from './hidden.ts'
import type { Known, ListedServer, Listing } from './listing.ts'
import { isObject, originIn, serverOf } from './offer.ts'

/** A finding if the origin of the offered definition differs from that of the pinned one. */
export function elsewhereIn(
  name: string,
  pinned: Definition | undefined,
  offered: Definition | undefined,
): readonly Finding[] {
  const [was, is] = [pinned && originIn(pinned), offered && originIn(offered)]
  if (was === undefined || is === undefined || was === is) return []
  const server = serverOf(name)
  const message = `a different program now uses the name \`${excerpt(server)}\`: approved was \`${excerpt(was, 300)}\`, now it is \`${excerpt(is, 300)}\``
  return [{ code: 'SERVER_ELSEWHERE', severity: 'high', tool: server, message }]
}

/** The pinned definition from the stored text; undefined if the text does not match the hash. */
export function readPinned(text: string | undefined, hash: string): Definition | undefined {
  if (text === undefined || sha256Hex(text) !== hash) return undefined
  const content = parseJson(text, { maxBytes: text.length * 4 })
  return isObject(content) ? { hash, text, content } : undefined
}

// Enough to detect that a server has moved. Each comparison costs a read of the ledger.
const MAX_COMPARED = 3

/** Adds findings about servers whose origin changed since they were approved. */
export async function withElsewhere(
  { servers, more }: Listing,
  catalogue: Known,
  pinnedText: (tool: string) => Promise<string | undefined>,
): Promise<Listing> {
  const checked = servers.map(async (server): Promise<ListedServer> => {
    const changed = server.tools.filter(({ state }) => state === 'changed')
    // The server's own description first, then its tools.
    const faculties = changed.toSorted((a, b) => Number(a.kind === 'tool') - Number(b.kind === 'tool'))
    for (const { tool, pinned } of faculties.slice(0, MAX_COMPARED)) {
      const definition = readPinned(await pinnedText(tool), pinned ?? '')
      const found = elsewhereIn(tool, definition, catalogue.offered(tool))
      if (found.length > 0) return { ...server, findings: [...found, ...server.findings] }
    }
    return server
  })
  return { servers: await Promise.all(checked), more }
}
