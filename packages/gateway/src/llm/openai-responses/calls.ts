// Calls that the agent runs: how each kind of item proposes one, and the item that is forwarded if it is allowed.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Form, type ProposedCall } from '../dialect.ts'
import { entryOf, objectIn, only } from '../filter.ts'
import { idOf, plain, statusOf } from './text.ts'

/** The stream events of an item. */
export interface ItemEvents {
  /** A member that a stream sends in pieces, and the prefix of its events. */
  readonly streamed?: { readonly member: string; readonly event: string }
  /** Members that a stream sends only with the finished item, with their earlier values. */
  readonly later?: JsonObject
  /** Progress events, before and after the streamed member. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** The event that replaces those in `after` if the item failed. */
  readonly failed?: string
}

/** One kind of call item. */
export interface CallKind extends ItemEvents {
  readonly form: Form
  /** The tool; undefined if the item has no name. */
  tool(item: JsonObject): string | undefined
  /** The name under which the request must have declared it, if it differs from the tool. */
  declared?(item: JsonObject): string | undefined
  /** The arguments to judge; undefined if they are invalid. */
  args(item: JsonObject): string | JsonObject | undefined
  /** The members that hold the judged arguments. */
  carry(args: string, item: JsonObject): JsonObject
  /** Further members to forward. */
  besides(item: JsonObject): JsonObject
  /** Whether an item without the status `completed` counts as cut. */
  readonly mustComplete: boolean
}

const FUNCTION: CallKind = {
  form: 'json',
  tool: nameOf,
  declared: (item) => (beginsLikeServer(item['name']) ? undefined : nameOf(item)),
  args: writtenArgs,
  carry: (args) => ({ arguments: args }),
  besides: named,
  streamed: { member: 'arguments', event: 'response.function_call_arguments' },
  mustComplete: true,
}

const CUSTOM: CallKind = {
  ...FUNCTION,
  form: 'text',
  args: ({ input }) => (typeof input === 'string' ? { input } : undefined),
  carry: (args) => ({ input: textIn(args) }),
  streamed: { member: 'input', event: 'response.custom_tool_call_input' },
}

const APPROVAL: CallKind = {
  form: 'json',
  tool: ({ server_label: label, name }) => joined(label, name),
  declared: ({ server_label: label }) => serverKey(label),
  args: writtenArgs,
  carry: (args) => ({ arguments: args }),
  besides: (item) => only(plain(item), ['server_label', 'name']),
  mustComplete: true,
}

function builtIn(
  tool: string,
  member: string,
  besides: (item: JsonObject) => JsonObject = () => ({}),
): CallKind {
  return {
    form: 'built-in',
    tool: () => tool,
    args: (item) => (isObject(item[member]) ? item[member] : undefined),
    carry: (args) => ({ [member]: parsed(args) }),
    besides: (item) => ({ call_id: idOf(item['call_id']) ?? '', ...besides(item), ...callerOf(item) }),
    mustComplete: false,
  }
}

const COMPUTER: CallKind = {
  ...builtIn('computer', 'action', (item) => ({ pending_safety_checks: checksOf(item) })),
  args: actionOf,
  carry: (args) => {
    const action = parsed(args)
    return isList(action['actions']) ? { actions: action['actions'] } : { action }
  },
}

const CALLS: Readonly<Record<string, CallKind>> = {
  function_call: FUNCTION,
  custom_tool_call: CUSTOM,
  mcp_approval_request: APPROVAL,
  local_shell_call: builtIn('local_shell', 'action'),
  shell_call: builtIn('shell', 'action', environmentOf),
  apply_patch_call: builtIn('apply_patch', 'operation'),
  computer_call: COMPUTER,
  tool_search_call: builtIn('tool_search', 'arguments', () => ({ execution: 'client' })),
}

/** The kind of call of an item; undefined if the agent does not run it. */
export function callKind(item: JsonObject): CallKind | undefined {
  return isAtProvider(item) ? undefined : entryOf(CALLS, item['type'])
}

/** Whether the provider runs it, for kinds that both sides can run. */
function isAtProvider({ type, environment, execution }: JsonObject): boolean {
  if (type === 'shell_call') return isObject(environment) && environment['type'] !== 'local'
  return type === 'tool_search_call' && execution !== 'client'
}

/** The id by which the result of a call refers to it. */
export function refOf(item: JsonObject): string | undefined {
  return idOf(item['type'] === 'mcp_approval_request' ? item['id'] : item['call_id'])
}

/** The proposal of a call. A cut or invalid call names no tool, so it is denied. */
export function proposalOf(kind: CallKind, item: JsonObject, cut: boolean): ProposedCall {
  const { form } = kind
  const args = kind.args(item)
  const ref = refOf(item)
  const tool = kind.tool(item)
  const isPart = cut || isUnfinished(kind, item)
  if (args === undefined || ref === undefined || isPart) {
    return { tool: undefined, declared: undefined, form, args: args ?? {}, ref }
  }
  return { tool, declared: kind.declared ? kind.declared(item) : tool, form, args, ref }
}

function isUnfinished(kind: CallKind, { status }: JsonObject): boolean {
  if (status === 'incomplete') return true
  return kind.mustComplete && status !== undefined && status !== null && status !== 'completed'
}

/** The item to forward for an allowed call. */
export function releasedCall(kind: CallKind, item: JsonObject, args: string): JsonObject {
  const id = idOf(item['id'])
  const status = item['type'] === 'mcp_approval_request' ? {} : { status: statusOf(item) }
  return {
    ...(id === undefined ? {} : { id }),
    type: item['type'] ?? null,
    ...kind.besides(item),
    ...kind.carry(args, item),
    ...status,
  }
}

/** The name under which an MCP server of the provider is declared. */
export function serverKey(label: Json | undefined): string | undefined {
  const known = idOf(label)
  return known === undefined ? undefined : `mcp:${known}`
}

/** Whether a name could be mistaken for that of a server. */
export function beginsLikeServer(name: Json | undefined): boolean {
  return typeof name === 'string' && name.startsWith('mcp:')
}

/** The name of a tool in a namespace. */
export function joined(space: Json | undefined, name: Json | undefined): string | undefined {
  const [first, second] = [idOf(space), idOf(name)]
  return first === undefined || second === undefined ? undefined : `${first}/${second}`
}

function nameOf({ namespace, name }: JsonObject): string | undefined {
  return namespace === undefined || namespace === null ? idOf(name) : joined(namespace, name)
}

function writtenArgs({ arguments: args }: JsonObject): string | undefined {
  return typeof args === 'string' ? args : undefined
}

function named(item: JsonObject): JsonObject {
  const { async } = item
  return {
    ...only(plain(item), ['call_id', 'name', 'namespace']),
    ...(typeof async === 'boolean' ? { async } : {}),
    ...callerOf(item),
  }
}

function callerOf({ caller }: JsonObject): JsonObject {
  if (!isObject(caller)) return {}
  const { type, caller_id } = caller
  if (type === 'direct') return { caller: { type } }
  const id = idOf(caller_id)
  return type === 'program' && id !== undefined ? { caller: { type, caller_id: id } } : {}
}

function environmentOf({ environment }: JsonObject): JsonObject {
  return { environment: isObject(environment) ? { type: 'local' } : null }
}

function checksOf({ pending_safety_checks: checks }: JsonObject): Json {
  return isList(checks)
    ? checks.filter(isObject).map((check) => only(plain(check), ['id', 'code', 'message']))
    : []
}

// With both members, readers could differ.
function actionOf({ action, actions }: JsonObject): JsonObject | undefined {
  const isOne = isObject(action)
  if (isList(actions)) return isOne ? undefined : { actions }
  return isOne && !('actions' in action) ? action : undefined
}

function parsed(args: string): JsonObject {
  const value = objectIn(args)
  if (!value) throw new Garbled('a ruling without arguments')
  return value
}

function textIn(args: string): string {
  const { input } = parsed(args)
  if (typeof input !== 'string') throw new Garbled('a ruling without a text')
  return input
}
