// Maps each MCP method to its handling: governed methods are judged, lists are forwarded, unknown methods are refused.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { decisionMeta, denialFault, denialResult, withheldResult } from './denial.ts'
import { without, type Sender } from './protocol.ts'
import type { Govern, McpCaller, OrderOutcome } from './govern.ts'
import { holderOf } from './holder.ts'
import { toolName, type Faculty, type ServerLink } from './link.ts'
import { listAll } from './merged-list.ts'
import { metered } from './metered.ts'
import { CODE, RpcFault, textOf } from './message.ts'
import type { ListMethod, SentMethod } from './methods.ts'
import { facultyUse, govern, refuseTool, send } from './send.ts'
import type { UpstreamAnswer } from './server/upstream.ts'
import { targetOf, toolTargetOf, type ToolNames } from './tool-names.ts'

/** A request of a client, in progress. */
export interface Turn {
  readonly caller: McpCaller
  readonly sender: Sender
  readonly meta: JsonObject
  readonly signal: AbortSignal
  /** Aborted when the connection of the request is lost. A call that runs continues then. */
  readonly lost: AbortSignal
  /** Identifies the client that a server's question would reach. */
  readonly asker: string
  /** Lowest level of log messages that the client wants. */
  readonly logLevel: string | undefined
  /** Reports progress to the client; undefined if it does not want progress. */
  readonly progress: ((params: JsonObject) => void) | undefined
  /** Forwards a log message that belongs to the request. */
  message(params: JsonObject): void
  /** Asks the client. @throws RpcFault. */
  readonly ask: (method: string, params: JsonObject) => Promise<JsonObject>
}

/** An answer. `text` is the canonical text that was hashed, if the result needs no more changes. */
export interface ProxyAnswer {
  readonly result: JsonObject
  readonly text?: string
}

/** The servers that a client uses through one door. */
export interface Reach {
  readonly govern: Govern
  readonly links: readonly ServerLink[]
  /** Whether names carry a server prefix. */
  readonly merged: boolean
  /** The form of that prefix for tools. */
  readonly names: ToolNames
  readonly log: Log
  /** Milliseconds that a list waits for a server. */
  readonly patience: number
  /** Called when a server has listed its tools too late for a list. */
  readonly onListed: (link: ServerLink) => void
}

/** Answers a request that is meant for servers. @throws RpcFault or UpstreamFault. */
export async function answer(
  reach: Reach,
  method: string,
  params: JsonObject,
  turn: Turn,
): Promise<ProxyAnswer> {
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (!known) throw new RpcFault(CODE.methodNotFound, 'unknown method')
  return known(reach, without(params, '_meta'), turn)
}

type Method = (reach: Reach, params: JsonObject, turn: Turn) => Promise<ProxyAnswer>

const METHODS: Readonly<Record<string, Method>> = {
  'tools/list': listOf('tools/list'),
  'prompts/list': listOf('prompts/list'),
  'resources/list': listOf('resources/list'),
  'resources/templates/list': listOf('resources/templates/list'),
  'tools/call': callTool,
  'resources/read': readResource,
  'prompts/get': getPrompt,
  'completion/complete': complete,
}

function listOf(method: ListMethod): Method {
  return (reach, params, turn) => listAll(reach, method, params, turn)
}

async function callTool(reach: Reach, params: JsonObject, turn: Turn): Promise<ProxyAnswer> {
  const { name, arguments: args = {} } = params
  // An ambiguous call. The refusal is recorded.
  if (typeof name !== 'string' || !isCall(params) || !isObject(args))
    return { result: denialResult(await refuse(reach, params, turn), false) }
  const target = await toolTargetOf(reach, turn.caller, name)
  if (!target) {
    const decided = await refuseTool(reach.govern, turn, name, args)
    return { result: denialResult(decided, false) }
  }
  const { link, own } = target
  const outcome = await govern(
    reach.govern,
    { link, tool: toolName(link.name, own), own, args, waits: true, look: () => link.offered(own) },
    turn,
    (judged, only) =>
      send(
        reach.govern,
        { link, method: 'tools/call', params: { name: own, arguments: judged }, only },
        turn,
      ),
  )
  if (outcome.kind === 'denied') return { result: denialResult(outcome.decided, outcome.repeated) }
  if (outcome.kind === 'withheld')
    return { result: withheldResult(`No result: ${outcome.why}.`, outcome.receipt, outcome.meta) }
  return answerOf(outcome)
}

async function readResource(reach: Reach, params: JsonObject, turn: Turn): Promise<ProxyAnswer> {
  const { uri } = params
  if (!hasOnly(params, ['uri']) || typeof uri !== 'string') throw await malformed(reach, params, turn)
  return use(reach, await holderOf(reach, uri, turn.signal), 'resources/read', { uri }, turn)
}

async function getPrompt(reach: Reach, params: JsonObject, turn: Turn): Promise<ProxyAnswer> {
  const target = callIn(reach, params)
  if (!target) throw await malformed(reach, params, turn)
  return use(reach, target.link, 'prompts/get', { name: target.own, arguments: target.args }, turn)
}

async function complete(reach: Reach, params: JsonObject, turn: Turn): Promise<ProxyAnswer> {
  const { ref } = params
  const { name, uri } = isObject(ref) ? ref : {}
  const target =
    typeof name === 'string'
      ? targetOf(reach, name)
      : typeof uri === 'string'
        ? { link: await holderOf(reach, uri, turn.signal), own: undefined }
        : undefined
  if (!hasOnly(params, ['ref', 'argument', 'context']) || !isObject(ref) || !target) {
    throw await malformed(reach, params, turn)
  }
  const { link, own } = target
  const mine = own === undefined ? params : { ...params, ref: { ...ref, name: own } }
  return use(reach, link, 'completion/complete', mine, turn)
}

/** Uses a faculty of a server, if allowed. The judged arguments are sent. */
async function use(
  { govern: through }: Reach,
  link: ServerLink,
  faculty: Extract<Faculty, SentMethod>,
  args: JsonObject,
  turn: Turn,
): Promise<ProxyAnswer> {
  const outcome = await govern(through, facultyUse(link, faculty, args), turn, (judged, only) =>
    send(through, { link, method: faculty, params: judged, only }, turn),
  )
  if (outcome.kind === 'denied') throw denialFault(outcome.decided)
  return answerOf(outcome)
}

function answerOf(outcome: Exclude<OrderOutcome, { kind: 'denied' }>): ProxyAnswer {
  if (outcome.kind === 'done') return outcome
  if (outcome.kind === 'withheld') throw new RpcFault(CODE.internal, `no result: ${outcome.why}`)
  const { code, message, data } = outcome.error
  throw new RpcFault(code, message, data)
}

/** A subscription to a resource, or its end. */
export interface Watching {
  readonly link: ServerLink
  readonly faculty: Extract<Faculty, 'resources/subscribe' | 'resources/unsubscribe'>
  readonly uri: string
  /** Sends the request to the server. If false, only `done` is called. */
  readonly direct: boolean
  /** Called after success. */
  readonly done: () => void
}

/** Subscribes to a resource or unsubscribes, if allowed. The server's answer is dropped. @throws RpcFault. */
export async function watch(
  { govern: through }: Reach,
  { link, faculty, uri, direct, done }: Watching,
  turn: Turn,
): Promise<void> {
  const outcome = await govern(through, facultyUse(link, faculty, { uri }), turn, async (judged, only) => {
    const { signal } = turn
    const got = direct
      ? await metered(through, link.name, () => link.upstream.request(faculty, judged, { signal, only }))
      : EMPTY_ANSWER
    if (got.ok) done()
    return got
  })
  if (outcome.kind === 'denied') throw denialFault(outcome.decided)
  if (outcome.kind === 'error')
    throw new RpcFault(CODE.internal, `the server \`${link.name}\` refused the subscription`)
  if (outcome.kind === 'withheld') throw new RpcFault(CODE.internal, `no result: ${outcome.why}`)
}

const EMPTY_ANSWER: UpstreamAnswer = { ok: true, result: {} }

/** The prompt that parameters name, and its arguments; undefined if they are ambiguous. */
function callIn(
  reach: Reach,
  params: JsonObject,
): { link: ServerLink; own: string; args: JsonObject } | undefined {
  const { name, arguments: args = {} } = params
  const target = typeof name === 'string' ? targetOf(reach, name) : undefined
  if (!target || !isCall(params) || !isObject(args)) return undefined
  return { ...target, args }
}

function isCall(params: JsonObject): boolean {
  return hasOnly(params, ['name', 'arguments'])
}

function hasOnly(params: JsonObject, names: readonly string[]): boolean {
  return Object.keys(params).every((name) => names.includes(name))
}

/** Records the refusal of ambiguous parameters. */
function refuse({ govern }: Reach, params: JsonObject, turn: Turn): Promise<Decided> {
  return govern.refuse(turn.caller, textOf(params))
}

async function malformed(reach: Reach, params: JsonObject, turn: Turn): Promise<RpcFault> {
  const decided = await refuse(reach, params, turn)
  return new RpcFault(
    CODE.invalidParams,
    '`params` has members that this method does not take, or lacks one',
    decisionMeta(decided),
  )
}
