// A generated call as plain data that is copied and modified.

import type { Door, Json, JsonObject } from '@tollgate/evidence'
import type { ToolCall } from '@tollgate/kernel'
import { ITEM } from '@tollgate/kernel/workbench'
import { isList, isObject } from '../../tools/offer.ts'

/** A source text of a call: of the user, or of a tool or page. */
export type DraftSource = { readonly user: string } | { readonly output: string }

/** A call and its time. */
export interface Draft {
  readonly tool: string
  readonly args: JsonObject
  /** Undefined for a credential without a principal. */
  readonly principal: string | undefined
  readonly session: string
  readonly door: Door
  readonly tenant: string
  readonly environment?: string | undefined
  readonly workspace?: string | undefined
  readonly sources?: readonly DraftSource[]
  readonly browser?: JsonObject | undefined
  /** Whether the Sentinel posted the observation, instead of the agent. */
  readonly posted?: boolean
  readonly delegation?: string | undefined
  /** In milliseconds. */
  readonly time: number
}

/** The call in the form of the kernel. */
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

/** The call in the form of a case file. */
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

/** A posted page is written as the page of a case file. */
function browserOf({ browser, posted }: Draft): JsonObject | undefined {
  const seen = browser?.['observation']
  if (!browser || posted !== true || !isObject(seen)) return browser
  const rest = Object.fromEntries(Object.entries(browser).filter(([name]) => name !== 'observation'))
  const { url = '', sentinel_risk: risk = 0, sentinel_findings: findings = [] } = seen
  return { ...rest, page: { url, risk, findings } }
}

/** Returns a copy with another value at a path; undefined removes it. `[]` is the first item of a list. */
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

/** The list index of a path part; undefined if it is a member name. */
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

/** The value at a path, or undefined. */
export function valueAt(whole: Json | undefined, path: readonly string[]): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return whole
  const index = indexOf(name)
  if (index !== undefined) return isList(whole) ? valueAt(whole[index], rest) : undefined
  return isObject(whole) && Object.hasOwn(whole, name) ? valueAt(whole[name], rest) : undefined
}

/** The parts of a declared path such as `items[*].url`. */
export function declaredPath(path: string): readonly string[] {
  return path
    .split('.')
    .flatMap((name) => (name.endsWith('[*]') ? [name.slice(0, -3), ITEM] : [name]))
    .filter((name) => name !== '')
}
