// Lists the tools of MCP servers: offered, pinned, and their state.

import type { JsonObject } from '@tollgate/evidence'
import type { Catalogue } from '@tollgate/kernel/admin'
import { diffOf } from './diff.ts'
import { elsewhereIn, readPinned } from './elsewhere.ts'
import { isAtLeast, type Finding } from './finding.ts'
import { inspect } from './inspect.ts'
import { originIn, serverOf, toolOf, type Offer } from './offer.ts'

/** The states of a tool. `new` and `changed` tools are blocked. A `gone` tool is pinned, but its server does not offer it now. */
export const STATES = ['pinned', 'new', 'changed', 'gone'] as const
export type State = (typeof STATES)[number]

/** A tool, or another governed feature of a server. */
export interface ListedTool {
  readonly tool: string
  readonly kind: 'tool' | 'faculty'
  readonly state: State
  /** The origin of its server; null if it is not offered or the origin is unknown. */
  readonly origin: string | null
  /** Hash of the offered definition. */
  readonly offered: string | null
  /** Hash of the pinned definition. */
  readonly pinned: string | null
  readonly findings: readonly Finding[]
}

export interface ListedServer {
  readonly server: string
  /** Findings in the server's own description. */
  readonly findings: readonly Finding[]
  readonly tools: readonly ListedTool[]
  /** The number of tools that are not listed. */
  readonly more: number
}

/** A server of the gateway whose newest start failed. */
export interface FailedStart {
  readonly server: string
  /** When, in ISO 8601. */
  readonly at: string
  readonly because: string
  /** The last lines of its standard error, without secrets. */
  readonly stderr: readonly string[]
}

/** A listing of limited size. */
export interface Listing {
  readonly servers: readonly ListedServer[]
  /** The total number of tools that are not listed. */
  readonly more: number
  /** Missing if no gateway runs. */
  readonly failed_starts?: readonly FailedStart[]
}

export interface ListingFilter {
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly state?: State | undefined
}

export interface ShownTool extends ListedTool {
  readonly offered_definition: JsonObject | null
  /** Null if nothing is pinned or the pinned definition cannot be read. */
  readonly pinned_definition: JsonObject | null
  /** The changes from the pinned to the offered definition; empty if they are equal or one is missing. */
  readonly diff: readonly string[]
}

export type Known = Pick<Catalogue, 'names' | 'offered' | 'pinned'>

/** The maximum number of tools in an answer: servers can invent any number. */
export const MAX_LISTED = 2000
/** The maximum number of servers in an answer. Each has an equal share of the tools. */
export const MAX_SERVERS = 200

/** Lists the servers and tools that are offered or pinned, within the limits. A server cannot use up the share of another. */
export function listTools(catalogue: Known, wanted: ListingFilter = {}): Listing {
  const findings = findingsIn(catalogue)
  const all = groupedByServer(catalogue, wanted)
  const share = Math.floor(MAX_LISTED / Math.max(1, Math.min(all.size, MAX_SERVERS)))
  const servers = [...all].slice(0, MAX_SERVERS).map(([server, names]) => {
    const listing = names.map((name) => listed(catalogue, name, findings.get(name) ?? []))
    const tools = foremost(listing, share)
    return { server, findings: findings.get(server) ?? [], tools, more: names.length - tools.length }
  })
  const shownCount = servers.reduce((sum, { tools }) => sum + tools.length, 0)
  const count = [...all.values()].reduce((sum, names) => sum + names.length, 0)
  return { servers, more: count - shownCount }
}

function groupedByServer(catalogue: Known, wanted: ListingFilter): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>()
  for (const name of catalogue.names()) {
    const server = serverOf(name)
    if (wanted.server !== undefined && wanted.server !== server) continue
    if (wanted.tool !== undefined && wanted.tool !== name) continue
    if (wanted.state !== undefined && wanted.state !== statusOf(catalogue, name).state) continue
    const own = all.get(server)
    if (own) own.push(name)
    else all.set(server, [name])
  }
  return all
}

/** The first `most` tools in order of urgency: tools that need review come first. Their order is kept. */
function foremost(tools: readonly ListedTool[], most: number): readonly ListedTool[] {
  if (tools.length <= most) return tools
  const chosen = new Set(tools.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, most))
  return tools.filter((each) => chosen.has(each))
}

const RANKS = { changed: 0, new: 3, pinned: 4, gone: 5 } as const

function rankOf({ state, kind, findings }: ListedTool): number {
  if (state === 'changed') return RANKS.changed
  if (findings.some((each) => isAtLeast(each, 'high'))) return 1
  return kind === 'faculty' ? 2 : RANKS[state]
}

type ByName = ReadonlyMap<string, readonly Finding[]>

// The last findings per catalogue, because showing one server asks for each of its tools.
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
  const definition = catalogue.offered(tool)
  const kind = toolOf(tool) === undefined ? 'faculty' : 'tool'
  const origin = (definition && originIn(definition)) ?? null
  return { tool, kind, origin, ...statusOf(catalogue, tool), findings }
}

function statusOf(
  catalogue: Known,
  tool: string,
): { readonly state: State; readonly offered: string | null; readonly pinned: string | null } {
  const offered = catalogue.offered(tool)?.hash ?? null
  const pinned = catalogue.pinned(tool) ?? null
  return { state: stateOf(offered, pinned), offered, pinned }
}

function stateOf(offered: string | null, pinned: string | null): State {
  if (offered === null) return 'gone'
  if (pinned === null) return 'new'
  return pinned === offered ? 'pinned' : 'changed'
}

/**
 * One tool with its definitions; undefined if it is neither offered nor pinned. `pinnedText` is the stored text of the pinned
 * definition; it is ignored if its hash does not match.
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
  // A feature has the findings of its server.
  const about = toolOf(tool) === undefined ? serverOf(tool) : tool
  const pinned = hash === undefined ? undefined : readPinned(pinnedText, hash)
  const elsewhere = elsewhereIn(tool, pinned, offered)
  return {
    ...listed(catalogue, tool, [...elsewhere, ...(findings.get(about) ?? [])]),
    offered_definition: offered?.content ?? null,
    pinned_definition: pinned?.content ?? null,
    diff: offered && pinned ? diffOf(pinned, offered) : [],
  }
}
