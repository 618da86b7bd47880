// What a gateway knows of the tools of its servers: what is offered, what is pinned, and how the two stand to each other.

import { parseJson, sha256Hex, type JsonObject } from '@tollgate/evidence'
import type { Catalogue, Definition } from '@tollgate/kernel'
import { diffOf } from './diff.ts'
import type { Finding } from './finding.ts'
import { inspect } from './inspect.ts'
import { isObject, serverOf, toolOf, type Offer } from './offer.ts'

/** How a tool stands. `new` and `changed` ones are blocked; `gone` is pinned, and its server does not offer it now. */
export const STATES = ['pinned', 'new', 'changed', 'gone'] as const
/** How a tool stands. */
export type State = (typeof STATES)[number]

/** A tool, or a faculty of a server. */
export interface ListedTool {
  readonly tool: string
  readonly kind: 'tool' | 'faculty'
  readonly state: State
  /** Hash of the definition that is offered. */
  readonly offered: string | null
  /** Hash of the definition that is pinned. */
  readonly pinned: string | null
  readonly findings: readonly Finding[]
}

/** A server and what it offers. */
export interface ListedServer {
  readonly server: string
  /** What was found in what the server says of itself. */
  readonly findings: readonly Finding[]
  readonly tools: readonly ListedTool[]
}

/** A tool with its definitions. */
export interface ShownTool extends ListedTool {
  readonly offered_definition: JsonObject | null
  /** Null if nothing is pinned, or what was pinned cannot be read. */
  readonly pinned_definition: JsonObject | null
  /** From what is pinned to what is offered; empty if both are the same, or one of them is not there. */
  readonly diff: readonly string[]
}

type Known = Pick<Catalogue, 'names' | 'offered' | 'pinned'>

/** Every server and tool that is offered or pinned. */
export function listTools(catalogue: Known): readonly ListedServer[] {
  const names = catalogue.names()
  const findings = findingsIn(catalogue)
  const servers = [...new Set(names.map(serverOf))]
  return servers.map((server) => ({
    server,
    findings: findings.get(server) ?? [],
    tools: names
      .filter((name) => serverOf(name) === server)
      .map((name) => listed(catalogue, name, findings.get(name) ?? [])),
  }))
}

type ByName = ReadonlyMap<string, readonly Finding[]>

// By catalogue, what was last found, and in what: one look at a server asks for each of its tools.
const lastFound = new WeakMap<Known, { readonly offers: readonly Offer[]; readonly byName: ByName }>()

function findingsIn(catalogue: Known): ByName {
  const offers = catalogue.names().flatMap((name) => {
    const definition = catalogue.offered(name)
    return definition ? [{ name, definition }] : []
  })
  const last = lastFound.get(catalogue)
  if (last && isSame(last.offers, offers)) return last.byName
  const byName = groupedByName(inspect(offers))
  lastFound.set(catalogue, { offers, byName })
  return byName
}

function isSame(a: readonly Offer[], b: readonly Offer[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, definition }, i) => name === b[i]?.name && definition === b[i].definition)
  )
}

function groupedByName(findings: readonly Finding[]): ByName {
  const byName = new Map<string, Finding[]>()
  for (const finding of findings) {
    const own = byName.get(finding.tool)
    if (own) own.push(finding)
    else byName.set(finding.tool, [finding])
  }
  return byName
}

function listed(catalogue: Known, tool: string, findings: readonly Finding[]): ListedTool {
  const offered = catalogue.offered(tool)?.hash ?? null
  const pinned = catalogue.pinned(tool) ?? null
  const kind = toolOf(tool) === undefined ? 'faculty' : 'tool'
  return { tool, kind, state: stateOf(offered, pinned), offered, pinned, findings }
}

function stateOf(offered: string | null, pinned: string | null): State {
  if (offered === null) return 'gone'
  if (pinned === null) return 'new'
  return pinned === offered ? 'pinned' : 'changed'
}

/**
 * A tool with all that is known of it; undefined if it is neither offered nor pinned. `pinnedText` is what the ledger keeps as the
 * pinned definition; if it is not that, it is not shown.
 */
export function showTool(
  catalogue: Known,
  tool: string,
  pinnedText: string | undefined,
): ShownTool | undefined {
  const offered = catalogue.offered(tool)
  const hash = catalogue.pinned(tool)
  if (!offered && hash === undefined) return undefined
  const findings = findingsIn(catalogue)
  // A faculty is what its server says of itself.
  const about = toolOf(tool) === undefined ? serverOf(tool) : tool
  const pinned = hash === undefined ? undefined : readPinned(pinnedText, hash)
  return {
    ...listed(catalogue, tool, findings.get(about) ?? []),
    offered_definition: offered?.content ?? null,
    pinned_definition: pinned?.content ?? null,
    diff: offered && pinned ? diffOf(pinned, offered) : [],
  }
}

function readPinned(text: string | undefined, hash: string): Definition | undefined {
  if (text === undefined || sha256Hex(text) !== hash) return undefined
  const content = parseJson(text, { maxBytes: text.length * 4 })
  return isObject(content) ? { hash, text, content } : undefined
}
