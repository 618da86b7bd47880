// A call that is being made up, as plain data that is copied and changed.

import type { Door, Json, JsonObject } from '@tollgate/evidence'
import type { ToolCall } from '@tollgate/kernel'
import { ITEM } from '@tollgate/kernel/workbench'
import { isList, isObject } from '../../tools/offer.ts'

/** A text that came with a call: what the user said, or what a tool or a page did. */
export type DraftSource = { readonly user: string } | { readonly output: string }

/** A call, and when it is made. */
export interface Draft {
  readonly tool: string
  readonly args: JsonObject
  /** Undefined for a credential that belongs to nobody. */
  readonly principal: string | undefined
  readonly session: string
  readonly door: Door
  readonly tenant: string
  readonly environment?: string | undefined
  readonly workspace?: string | undefined
  readonly sources?: readonly DraftSource[]
  readonly browser?: JsonObject | undefined
  /** Whether the Sentinel has posted what is said of the page, so that it is not only the agent's word. */
  readonly posted?: boolean
  readonly delegation?: string | undefined
  /** In milliseconds. */
  readonly time: number
}

/** The call as the kernel takes it. */
export function callOf(draft: Draft): ToolCall {
  const { tenant, principal, door, tool, args, session, sources, browser, delegation } = draft
  const context = contextOf(draft)
  return {
    caller: { tenant, principal },
    door,
    assurance: 'advised',
    tool,
    args,
    session_id: session,
    ...(context && { context }),
    ...(sources && { sources: sources.map(sourceOf) }),
    ...(browser && { browser }),
    ...(delegation !== undefined && { delegation }),
  }
}

function contextOf({ environment, workspace }: Draft): JsonObject | undefined {
  if (environment === undefined && workspace === undefined) return undefined
  return { ...(environment !== undefined && { environment }), ...(workspace !== undefined && { workspace }) }
}

function sourceOf(source: DraftSource): { readonly source_channel: string; readonly text: string } {
  return 'user' in source
    ? { source_channel: 'USER', text: source.user }
    : { source_channel: 'TOOL_OUTPUT', text: source.output }
}

/** The call as a file of cases has it, for one line. */
export function caseOf(draft: Draft): JsonObject {
  const { tool, args, principal, session, door, sources, delegation } = draft
  const context = contextOf(draft)
  const browser = browserOf(draft)
  return {
    tool,
    args,
    principal: principal ?? null,
    session,
    door,
    ...(context && { context }),
    ...(sources && { sources }),
    ...(browser && { browser }),
    ...(delegation !== undefined && { delegation }),
  }
}

/** A page that the Sentinel has posted is written by what it says of it. */
function browserOf({ browser, posted }: Draft): JsonObject | undefined {
  const seen = browser?.['observation']
  if (!browser || posted !== true || !isObject(seen)) return browser
  const rest = Object.fromEntries(Object.entries(browser).filter(([name]) => name !== 'observation'))
  const { url = '', sentinel_risk: risk = 0, sentinel_findings: findings = [] } = seen
  return { ...rest, page: { url, risk, findings } }
}

/** The same value with another one at a path; undefined takes it away. Lists have one item for `[]`. */
export function withAt(
  whole: Json | undefined,
  path: readonly string[],
  value: Json | undefined,
): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return value
  const index = indexOf(name)
  if (index !== undefined) {
    const items = isList(whole) ? whole : []
    const before = Array.from({ length: index }, (_, i) => items[i] ?? 'x')
    const item = withAt(items[index], rest, value)
    return [...before, ...(item === undefined ? [] : [item]), ...items.slice(index + 1)]
  }
  const members = isObject(whole) ? whole : {}
  const changed = withAt(Object.hasOwn(members, name) ? members[name] : undefined, rest, value)
  const others = Object.entries(members).filter(([each]) => each !== name)
  return Object.fromEntries(changed === undefined ? others : [...others, [name, changed]])
}

const MAX_ITEMS = 64

/** The place in a list that a name of a path stands for; undefined if it stands for a member. */
function indexOf(name: string): number | undefined {
  if (name === ITEM) return 0
  const index = /^\[(\d{1,4})\]$/.exec(name)?.[1]
  return index !== undefined && Number(index) < MAX_ITEMS ? Number(index) : undefined
}

/** The draft with another value at a path of its arguments. */
export function withArgument(draft: Draft, path: readonly string[], value: Json | undefined): Draft {
  const args = withAt(draft.args, path, value)
  return { ...draft, args: isObject(args) ? args : {} }
}

/** What stands at a path; undefined for nothing. */
export function valueAt(whole: Json | undefined, path: readonly string[]): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return whole
  const index = indexOf(name)
  if (index !== undefined) return isList(whole) ? valueAt(whole[index], rest) : undefined
  return isObject(whole) && Object.hasOwn(whole, name) ? valueAt(whole[name], rest) : undefined
}

/** A declared path such as `items[*].url` as the names on the way. */
export function declaredPath(path: string): readonly string[] {
  return path
    .split('.')
    .flatMap((name) => (name.endsWith('[*]') ? [name.slice(0, -3), ITEM] : [name]))
    .filter((name) => name !== '')
}
