// Captures a call: copies it once, makes it canonical and hashes it. The caller's object is not used again.

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
import { isRecord, ownText } from '../plain.ts'
import { isName, UNREADABLE, NOBODY } from '../names.ts'
import type { ArgumentsSchema } from '../gates/schema/schema.ts'
import { capturePlace, type CallPlace } from '../shell/place.ts'
import { captureBrowser, type BrowserCall, type GuardedPage } from './browser-call.ts'

export type { BrowserCall } from './browser-call.ts'
export type { Context } from './call-context.ts'

/** The caller, authenticated by the door. Nothing in it is claimed by the caller. */
export interface Caller {
  readonly tenant: string
  /** The owner of the credential; undefined if it has none. */
  readonly principal: string | undefined
  /** The person that the principal acts for, if the issuer of its credential names one. */
  readonly person?: string
  /** The environment, if the door knows it. The claim in the call must then be the same. */
  readonly environment?: string
  readonly workspace?: string
}

/** The argument schema in the request. It applies in addition to the pinned and declared schemas. */
export interface Demanded {
  /** Identifies the schema in the evidence hash of the decision. */
  readonly hash: string
  /** The schema as JSON. */
  readonly text: string
  readonly schema: ArgumentsSchema
}

/**
 * A call as it arrives. Every member except `caller`, `door`, `assurance`, `author`, `offered`, `demanded`, `guarded`, `place` and
 * `prompting` is untrusted. `traceparent` is no part of the call: it is not judged and not recorded.
 */
export interface ToolCall {
  readonly caller: Caller
  readonly door: Door
  /** `enforced` if the gateway runs the tool, `advised` if the caller does. */
  readonly assurance: 'enforced' | 'advised'
  /**
   * The author of the arguments, if it is not the caller: `server:NAME` for a question of an MCP server to its client. The
   * arguments then count as tool output, and a denial does not count against the caller.
   */
  readonly author?: string
  /** Hash of the tool definition that the server behind this call offers, known to the door; null if it offers none. */
  readonly offered?: string | null
  readonly demanded?: Demanded
  /** The knowledge of the gateway about the page, if it drives the browser. */
  readonly guarded?: GuardedPage
  /** Where the call acts on files, if the door knows it. */
  readonly place?: CallPlace
  /** Whether the caller can ask the person at its own prompt before it runs the call, as the door knows it. */
  readonly prompting?: boolean
  readonly tool: unknown
  /** The arguments as a value. */
  readonly args?: unknown
  /** The arguments as JSON text, instead of `args`. */
  readonly raw?: Uint8Array | string
  /** The principal that the call claims. */
  readonly principal?: unknown
  readonly session_id?: unknown
  readonly delegation_session_id?: unknown
  /** The claimed context: `environment`, `workspace`, `tenant`, and optionally the session ids. */
  readonly context?: unknown
  /** For browser calls: the observation of the Sentinel and the part of the planner. */
  readonly browser?: unknown
  /** Id of the approval that the call uses. */
  readonly approval?: unknown
  /** Id of the delegation that the call is made under. */
  readonly delegation?: unknown
  /** Texts that led to the call: `{ source_channel, text }` each, see `Source`. */
  readonly sources?: unknown
  /** The caller's own id for the call. `openedAs` finds its effect by it. */
  readonly reference?: unknown
  /** The parent span, as the request names it, for the meter. */
  readonly traceparent?: string
}

/** The claimed channel of a source text. Text from a tool or a page is always `TOOL_OUTPUT`. */
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
  /** The principal that the call claims, if any. */
  readonly claimed: string | undefined
  /** The session id. State is stored by `rememberedAs`, within tenant and principal. */
  readonly session: string
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  /** The author of the arguments; undefined for the caller. */
  readonly author: string | undefined
  /** The person that the principal acts for, if one is known. */
  readonly person: string | undefined
  /** Hash of the definition that the server behind this call offers, if the door knows it; null if it offers none. */
  readonly offered: string | null | undefined
  readonly demanded: Demanded | undefined
  /** The canonical name of the tool. */
  readonly tool: string
  /** The tools that its name can mean, if it can mean several. It then counts as unknown. */
  readonly unclear: readonly string[] | undefined
  readonly args: Json
  /** The canonical text of the arguments: it is hashed, and the tool gets it. */
  readonly text: string
  /** SHA-256 of `text`, or of the input if the arguments are unreadable. */
  readonly hash: string
  readonly commit: Extract<Commit, 'plain' | 'raw'>
  readonly context: Context
  /** The call claims another context than the door knows. */
  readonly misplaced: boolean
  readonly browser: BrowserCall | undefined
  /** Where the call acts on files, if the door knows it. */
  readonly place: CallPlace | undefined
  /** The caller can ask the person at its own prompt. */
  readonly prompting: boolean
  readonly approval: string | undefined
  readonly delegation: string | undefined
  readonly sources: readonly Source[]
  readonly reference: string | undefined
  /** Why the call is unreadable, if it is. It names the part, never the content. */
  readonly unreadable: string | undefined
}

const MAX_ARGS_BYTES = 1 << 20

/** Captures a call. An unreadable call becomes an intent with `unreadable` set, which is denied. */
export function capture(call: ToolCall): Intent {
  // Each member is read once, so that a getter cannot return different values to the kernel and the tool.
  const { caller, door, assurance, tool, principal, session_id, delegation_session_id, approval } = call
  const { context, named } = captureContext(call.context)
  const owner = isName(caller.principal) ? caller.principal : undefined
  const tenant = isName(caller.tenant) ? caller.tenant : UNREADABLE
  const faults: string[] = tenant === UNREADABLE ? ['tenant'] : []
  const optional = (value: unknown, what: string): string | undefined => {
    if (value === undefined) return value
    // Names stay in memory until the effect is known, so they must not reference the request.
    if (isName(value)) return ownText(value)
    faults.push(what)
    return undefined
  }
  const args = captureArgs(call)
  const name = optional(tool, 'tool') ?? UNREADABLE
  const once = (top: unknown, inside: string | undefined, what: string): string | undefined => {
    const given = optional(top, what)
    // Two different ids for one session are refused, because the kernel must not choose one.
    if (given !== undefined && inside !== undefined && given !== inside)
      faults.push(`${what}: \`context\` names another`)
    return given ?? (inside === undefined ? undefined : ownText(inside))
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
  const browser = captureBrowser(call.browser, call.guarded)
  const delegation = optional(call.delegation, 'delegation')
  const reference = optional(call.reference, 'reference')
  const sources = captureSources(call.sources)
  if (sources === undefined) faults.push('sources')
  const { author } = call
  const { person } = caller
  if (person !== undefined && !isName(person)) faults.push('person')
  if (author !== undefined && !AUTHOR.test(author))
    throw new TypeError('the author of a call must be `server:NAME`')
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
    person: isName(person) ? person : undefined,
    offered: call.offered,
    demanded: call.demanded,
    tool: name,
    unclear: undefined,
    args: args.value,
    text: args.text,
    hash: args.hash,
    commit: args.fault === undefined ? 'plain' : 'raw',
    context: { ...context, ...known },
    misplaced: Object.entries(known).some(([name, at]) => (context?.[name as keyof Context] ?? at) !== at),
    browser,
    place: capturePlace(call.place),
    prompting: call.prompting === true,
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
    // Read once into our own copy, so that later changes have no effect.
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
  // A text with a lone surrogate has no UTF-8 form, so it is made well-formed before hashing.
  return {
    value: null,
    text: '',
    hash: sha256Hex(typeof came === 'string' ? came.toWellFormed() : came),
    fault,
  }
}

/** Returns the code of a parser error. Other errors are not quoted, because a getter of the caller can put anything into them. */
function codeOf(fault: unknown): string {
  return fault instanceof EvidenceError ? fault.code : 'cannot be read'
}

const MAX_SOURCES = 256
const MAX_SOURCES_LENGTH = 4 << 20
const NO_SOURCES: readonly Source[] = []

/** Returns a copy of the sources, or undefined if they are invalid. */
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
    // Safe cast: `Array.isArray` does not narrow a readonly array.
    return Array.isArray(copied) ? (copied as readonly Json[]) : undefined
  } catch {
    // Not plain data, or too large.
    return undefined
  }
}

function readSource(item: Json): Source | undefined {
  if (!isRecord(item) || Object.keys(item).length !== 2) return undefined
  const { source_channel: claimed, text } = item
  const source_channel = SOURCE_CHANNELS.find((channel) => channel === claimed)
  return source_channel !== undefined && typeof text === 'string' ? { source_channel, text } : undefined
}
