// What a gateway knows of the tools of its servers: what is offered, what is pinned, and how the two stand to each other.

import type { JsonObject } from '@tollgate/evidence'
import type { Catalogue } from '@tollgate/kernel/admin'
import { diffOf } from './diff.ts'
import { elsewhereIn, readPinned } from './elsewhere.ts'
import { isAtLeast, type Finding } from './finding.ts'
import { inspect } from './inspect.ts'
import { originIn, serverOf, toolOf, type Offer } from './offer.ts'

/** How a tool stands. `new` and `changed` ones are blocked; `gone` is pinned, and its server does not offer it now. */
export const STATES = ['pinned', 'new', 'changed', 'gone'] as const
/** How a tool stands. */
export type State = (typeof STATES)[number]

/** A tool, or a faculty of a server. */
export interface ListedTool {
  readonly tool: string
  readonly kind: 'tool' | 'faculty'
  readonly state: State
  /** Where the server that offers it comes from; null if none offers it, or that is not known. */
  readonly origin: string | null
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
  /** How many there are besides. */
  readonly more: number
}

/** As much of what there is as an answer can hold. */
export interface Listing {
  readonly servers: readonly ListedServer[]
  /** How many tools and faculties there are besides, in all. */
  readonly more: number
}

/** Of what there is, the part that is wanted. */
export interface ListingFilter {
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly state?: State | undefined
}

/** A tool with its definitions. */
export interface ShownTool extends ListedTool {
  readonly offered_definition: JsonObject | null
  /** Null if nothing is pinned, or what was pinned cannot be read. */
  readonly pinned_definition: JsonObject | null
  /** From what is pinned to what is offered; empty if both are the same, or one of them is not there. */
  readonly diff: readonly string[]
}

/** What a listing is made of. */
export type Known = Pick<Catalogue, 'names' | 'offered' | 'pinned'>

/** Most names in an answer: servers invent as many as they like. */
export const MOST_LISTED = 2000
/** Most servers in an answer; each has its share of the names. */
export const MOST_SERVERS = 200

/** Every server and tool that is offered or pinned, as far as an answer can hold them. No server takes the room of another. */
export function listTools(catalogue: Known, wanted: ListingFilter = {}): Listing {
  const findings = findingsIn(catalogue)
  const all = groupedByServer(catalogue, wanted)
  const share = Math.floor(MOST_LISTED / Math.max(1, Math.min(all.size, MOST_SERVERS)))
  const servers = [...all].slice(0, MOST_SERVERS).map(([server, names]) => {
    const listing = names.map((name) => listed(catalogue, name, findings.get(name) ?? []))
    const tools = foremost(listing, share)
    return { server, findings: findings.get(server) ?? [], tools, more: names.length - tools.length }
  })
  const told = servers.reduce((sum, { tools }) => sum + tools.length, 0)
  const count = [...all.values()].reduce((sum, names) => sum + names.length, 0)
  return { servers, more: count - told }
}

function groupedByServer(catalogue: Known, wanted: ListingFilter): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>()
  for (const name of catalogue.names()) {
    const server = serverOf(name)
    if (wanted.server !== undefined && wanted.server !== server) continue
    if (wanted.tool !== undefined && wanted.tool !== name) continue
    if (wanted.state !== undefined && wanted.state !== standing(catalogue, name).state) continue
    const own = all.get(server)
    if (own) own.push(name)
    else all.set(server, [name])
  }
  return all
}

/** As many as there is room for: what somebody has to look at before what is in order. They stay in their order. */
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
  const definition = catalogue.offered(tool)
  const kind = toolOf(tool) === undefined ? 'faculty' : 'tool'
  const origin = (definition && originIn(definition)) ?? null
  return { tool, kind, origin, ...standing(catalogue, tool), findings }
}

function standing(
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
  const elsewhere = elsewhereIn(tool, pinned, offered)
  return {
    ...listed(catalogue, tool, [...elsewhere, ...(findings.get(about) ?? [])]),
    offered_definition: offered?.content ?? null,
    pinned_definition: pinned?.content ?? null,
    diff: offered && pinned ? diffOf(pinned, offered) : [],
  }
}
