// A call as an agent asks it, and as we captured it: copied once, canonical, hashed. The caller's object is not used again.

import {
  AUTHOR,
  canonicalize,
  copyJson,
  EvidenceError,
  parseJson,
  sha256Hex,
  type Commit,
  type Door,
  type Json,
} from '@tollgate/evidence/core'
import { captureContext, type Context } from './call-context.ts'
import { copyOf, isRecord, ownText } from '../plain.ts'
import { isName, UNREADABLE, NOBODY } from '../names.ts'
import type { ArgumentsSchema } from '../gates/schema/schema.ts'
import { type Observation, readObservation, MAX_URL } from './observation.ts'

export type { Context } from './call-context.ts'

/** Who is calling, as the door has made sure of it. Nothing in here is the caller's own word. */
export interface Caller {
  readonly tenant: string
  /** Whom the credential belongs to; undefined if it belongs to nobody. */
  readonly principal: string | undefined
  /** Where the call comes from, if the door knows: the call's own word then only counts if it says the same. */
  readonly environment?: string
  readonly workspace?: string
}

/** The arguments that a call must fit besides what is pinned or declared in the policy, as its door has it from the request. */
export interface Demanded {
  /** Names the schema in what the decision commits to. */
  readonly hash: string
  /** The schema as JSON. */
  readonly text: string
  readonly schema: ArgumentsSchema
}

/**
 * What an agent asks. Everything but `caller`, `door`, `assurance`, `author`, `offered` and `demanded` is untrusted and may be
 * anything.
 */
export interface ToolCall {
  readonly caller: Caller
  readonly door: Door
  /** `enforced` if the gateway itself runs the tool, `advised` if the caller does. */
  readonly assurance: 'enforced' | 'advised'
  /**
   * Who wrote the arguments, if the caller did not: `server:NAME` for a question of an MCP server to its client. They then count as
   * the output of a tool, and a denial does not count against the caller.
   */
  readonly author?: string
  /**
   * Hash of the definition that the server behind this call offers for the tool, as the door has it from the server itself; null if
   * it offers none.
   */
  readonly offered?: string | null
  readonly demanded?: Demanded
  readonly tool: unknown
  /** The arguments as a value. */
  readonly args?: unknown
  /** The arguments as JSON text, instead of `args`. */
  readonly raw?: Uint8Array | string
  /** Whom the call says it is from. */
  readonly principal?: unknown
  readonly session_id?: unknown
  readonly delegation_session_id?: unknown
  /** Where the call says it comes from: `environment`, `workspace`, `tenant`; its sessions may be named here, too. */
  readonly context?: unknown
  /** For browser calls: the Sentinel's observation and the planner's part. */
  readonly browser?: unknown
  /** Id of the approval that the call relies on. */
  readonly approval?: unknown
  /** Id of the delegation that the call is made under. */
  readonly delegation?: unknown
  /** Texts that led to the call: `{ source_channel, text }` each, see `Source`. */
  readonly sources?: unknown
  /** What the caller calls the call: its effect can be found by it, see `openedAs`. */
  readonly reference?: unknown
}

/** Where a text came from, in the caller's words: a claim. What a tool or a page said is never more than that. */
export const SOURCE_CHANNELS = ['USER', 'TOOL_OUTPUT'] as const

/** A text that led to the call. */
export interface Source {
  readonly source_channel: (typeof SOURCE_CHANNELS)[number]
  readonly text: string
}

/** The captured call. */
export interface Intent {
  readonly tenant: string
  readonly principal: string | undefined
  /** Whom the call says it is from, if it says so. */
  readonly claimed: string | undefined
  /** Its id; what is remembered goes by `rememberedAs`, inside tenant and principal. */
  readonly session: string
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** Who wrote the arguments; undefined: the caller. */
  readonly author: string | undefined
  /** Hash of the definition that the server behind this call offers, if the door knows; null if it offers none. */
  readonly offered: string | null | undefined
  readonly demanded: Demanded | undefined
  readonly tool: string
  readonly args: Json
  /** The canonical text of the arguments: what is hashed, and what the tool gets. */
  readonly text: string
  /** SHA-256 of `text`, or of what came instead of readable arguments. */
  readonly hash: string
  readonly commit: Extract<Commit, 'plain' | 'raw'>
  readonly context: Context
  /** The call says it comes from elsewhere than the door knows. */
  readonly misplaced: boolean
  readonly browser: BrowserCall | undefined
  readonly approval: string | undefined
  readonly delegation: string | undefined
  readonly sources: readonly Source[]
  readonly reference: string | undefined
  /** Why the call cannot be read, if it cannot. Names the part, never the content. */
  readonly unreadable: string | undefined
}

/** What a browser call brings along. What cannot be read is never taken for something harmless. */
export interface BrowserCall {
  readonly observation: Observation | undefined
  /** Id of an observation that the Sentinel posted itself. */
  readonly observation_id: string | undefined
  /** `sha256:` and 64 hexadecimal digits. */
  readonly planner_ref: string | undefined
  readonly side_effect: boolean | undefined
  readonly destination: string | undefined
}

const MAX_ARGS_BYTES = 1 << 20

/** Captures a call. What cannot be read becomes an intent that says so, and is denied. */
export function capture(call: ToolCall): Intent {
  // Each member is read once: a getter cannot show us one thing and the tool another.
  const { caller, door, assurance, tool, principal, session_id, delegation_session_id, approval } = call
  const { context, named } = captureContext(call.context)
  const owner = isName(caller.principal) ? caller.principal : undefined
  const tenant = isName(caller.tenant) ? caller.tenant : UNREADABLE
  const faults: string[] = tenant === UNREADABLE ? ['tenant'] : []
  const optional = (value: unknown, what: string): string | undefined => {
    if (value === undefined) return value
    // Names are kept with the call until its effect is known; what else came with it is not.
    if (isName(value)) return ownText(value)
    faults.push(what)
    return undefined
  }
  const args = captureArgs(call)
  const name = optional(tool, 'tool') ?? UNREADABLE
  const once = (top: unknown, inside: string | undefined, what: string): string | undefined => {
    const said = optional(top, what)
    // Two names for one session: which of them risk is remembered by must not be ours to pick.
    if (said !== undefined && inside !== undefined && said !== inside)
      faults.push(`${what}: \`context\` names another`)
    return said ?? (inside === undefined ? undefined : ownText(inside))
  }
  const own = once(session_id, named?.session_id, 'session_id')
  const delegated = once(delegation_session_id, named?.delegation_session_id, 'delegation_session_id')
  const session = own ?? delegated
  const claimed = optional(principal, 'principal')
  const claim = optional(approval, 'approval')
  const { environment, workspace } = caller
  const known = {
    ...(environment !== undefined && { environment }),
    ...(workspace !== undefined && { workspace }),
  }
  const browser = captureBrowser(call.browser)
  const delegation = optional(call.delegation, 'delegation')
  const reference = optional(call.reference, 'reference')
  const sources = captureSources(call.sources)
  if (sources === undefined) faults.push('sources')
  const { author } = call
  if (author !== undefined && !AUTHOR.test(author)) throw new TypeError('the author of a call has no name')
  if (tool === undefined) faults.push('tool')
  if (context === undefined) faults.push('context')
  if (args.fault !== undefined) faults.push(args.fault)
  return {
    tenant,
    principal: owner,
    claimed,
    session: session ?? owner ?? NOBODY,
    door,
    assurance,
    author,
    offered: call.offered,
    demanded: call.demanded,
    tool: name,
    args: args.value,
    text: args.text,
    hash: args.hash,
    commit: args.fault === undefined ? 'plain' : 'raw',
    context: { ...context, ...known },
    misplaced: Object.entries(known).some(([name, at]) => (context?.[name as keyof Context] ?? at) !== at),
    browser,
    approval: claim,
    delegation,
    sources: sources ?? [],
    reference,
    unreadable: faults.length === 0 ? undefined : faults.join(', '),
  }
}

interface CapturedArgs {
  readonly value: Json
  readonly text: string
  readonly hash: string
  readonly fault?: string
}

function captureArgs(call: ToolCall): CapturedArgs {
  const { raw, args } = call
  if (raw !== undefined) return args === undefined ? captureText(raw) : unreadable('', 'args: given twice')
  try {
    // Read once, into a value of our own: what shifts while it is looked at cannot be two things.
    const value = copyJson(args === undefined ? {} : args)
    const text = canonicalize(value, { maxLength: MAX_ARGS_BYTES })
    return { value, text, hash: sha256Hex(text) }
  } catch (fault) {
    return unreadable('', `args: ${codeOf(fault)}`)
  }
}

function captureText(raw: unknown): CapturedArgs {
  if (typeof raw !== 'string' && !(raw instanceof Uint8Array))
    return unreadable('', 'args: neither text nor bytes')
  if (raw.length > MAX_ARGS_BYTES) return unreadable(raw, 'args: JSON_TOO_LARGE')
  const bytes = typeof raw === 'string' ? raw : Uint8Array.from(raw)
  try {
    const value = parseJson(bytes, { maxBytes: MAX_ARGS_BYTES })
    const text = canonicalize(value)
    return { value, text, hash: sha256Hex(text) }
  } catch (fault) {
    return unreadable(bytes, `args: ${codeOf(fault)}`)
  }
}

function unreadable(came: Uint8Array | string, fault: string): CapturedArgs {
  // A text with half a surrogate pair has no UTF-8; its hash is of what UTF-8 makes of it.
  return {
    value: null,
    text: '',
    hash: sha256Hex(typeof came === 'string' ? came.toWellFormed() : came),
    fault,
  }
}

/** The code of a fault of the parser's. What a stranger's getter threw says nothing here: it may hold anything. */
function codeOf(fault: unknown): string {
  return fault instanceof EvidenceError ? fault.code : 'cannot be read'
}

const MAX_SOURCES = 256
const MAX_SOURCES_LENGTH = 4 << 20
const NO_SOURCES: readonly Source[] = []

/** Our own copy of what led to the call; undefined if it is not what it should be. */
function captureSources(value: unknown): readonly Source[] | undefined {
  if (value === undefined) return NO_SOURCES
  const copied = copyList(value)
  if (!copied || copied.length > MAX_SOURCES) return undefined
  const sources = copied.map(readSource).filter((source) => source !== undefined)
  return sources.length === copied.length ? sources : undefined
}

function copyList(value: unknown): readonly Json[] | undefined {
  try {
    const copied = copyJson(value)
    canonicalize(copied, { maxLength: MAX_SOURCES_LENGTH })
    // Sound: `Array.isArray` does not narrow a readonly array.
    return Array.isArray(copied) ? (copied as readonly Json[]) : undefined
  } catch {
    // Not plain data, or too much of it.
    return undefined
  }
}

function readSource(item: Json): Source | undefined {
  if (!isRecord(item) || Object.keys(item).length !== 2) return undefined
  const { source_channel: said, text } = item
  const source_channel = SOURCE_CHANNELS.find((channel) => channel === said)
  return source_channel !== undefined && typeof text === 'string' ? { source_channel, text } : undefined
}

function captureBrowser(value: unknown): BrowserCall | undefined {
  if (value === undefined) return undefined
  const copied = copyOf(value) ?? {}
  const { observation, observation_id, planner_ref, side_effect, destination } = copied
  return {
    observation: isRecord(observation) ? readObservation(observation) : undefined,
    observation_id: isName(observation_id) ? observation_id : undefined,
    planner_ref: digestOf(planner_ref),
    // What is there but cannot be read counts as the worst it could be.
    side_effect: side_effect === undefined ? undefined : side_effect !== false,
    destination: destination === undefined ? undefined : readable(destination),
  }
}

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i

/**
 * The plan's digest, in one form. Any other text is hashed, so that neither reasoning nor a password in it is ever written down;
 * a blank one is none.
 */
function digestOf(reference: Json | undefined): string | undefined {
  if (typeof reference !== 'string' || reference.trim() === '') return undefined
  const digest = DIGEST.exec(reference)?.[1]?.toLowerCase()
  return `sha256:${digest ?? sha256Hex(reference)}`
}

function readable(destination: Json): string {
  return typeof destination === 'string' && destination.length <= MAX_URL ? destination.toWellFormed() : ''
}
