// What each method of the protocol means here: what is governed goes down the road, what is not is passed on, and what nobody
// knows is refused.

import type { Json, JsonObject } from '@tollgate/evidence'
import { denialFault, denialResult, withheldResult } from './denial.ts'
import { metaForServer, OURS, without, type Sender } from './era.ts'
import type { Caller, Govern, Outcome } from './govern.ts'
import { facultyName, toolName, type Faculty, type Link } from './link.ts'
import { listAll } from './lists.ts'
import { CODE, isObject, RpcFault } from './message.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer } from './server/upstream.ts'

/** A request of a client, under way. */
export interface Turn {
  readonly caller: Caller
  readonly sender: Sender
  readonly meta: JsonObject
  readonly signal: AbortSignal
  /** Least level of log messages that the client wants. */
  readonly logLevel: string | undefined
  /** Tells the client how far it is; undefined if it does not want to know. */
  readonly progress: ((params: JsonObject) => void) | undefined
  /** Hands on a log message that belongs to the request. */
  message(params: JsonObject): void
  /** Asks the client itself. @throws RpcFault. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
}

/** An answer: as a value or, where it need not be changed any more, as the canonical text that was hashed. */
export interface Answer {
  readonly result: JsonObject
  readonly text?: string
}

/** The servers that a client reaches through one door. */
export interface Reach {
  readonly govern: Govern
  readonly links: readonly Link[]
  /** Whether names carry the name of their server. */
  readonly merged: boolean
}

/** Answers a request that is for servers. @throws RpcFault. */
export async function answer(reach: Reach, method: string, params: JsonObject, turn: Turn): Promise<Answer> {
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (!known) throw new RpcFault(CODE.methodNotFound, 'this method is not known here')
  try {
    return await known(reach, without(params, '_meta'), turn)
  } catch (fault) {
    throw fault instanceof UpstreamFault ? faultOf(fault) : fault
  }
}

type Method = (reach: Reach, params: JsonObject, turn: Turn) => Promise<Answer>

const METHODS: Readonly<Record<string, Method>> = {
  'tools/list': (reach, params, turn) => listAll(reach, 'tools/list', 'tools', params, turn),
  'prompts/list': (reach, params, turn) => listAll(reach, 'prompts/list', 'prompts', params, turn),
  'resources/list': (reach, params, turn) => listAll(reach, 'resources/list', 'resources', params, turn),
  'resources/templates/list': (reach, params, turn) =>
    listAll(reach, 'resources/templates/list', 'resourceTemplates', params, turn),
  'tools/call': callTool,
  'resources/read': readResource,
  'prompts/get': getPrompt,
  'completion/complete': complete,
}

async function callTool(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { name, arguments: args = {} } = params
  if (!hasOnly(params, ['name', 'arguments']) || typeof name !== 'string' || !isObject(args)) {
    // Not a call that everybody reads the same: on the record as that.
    const decided = await reach.govern.refuse(turn.caller, JSON.stringify(params))
    return { result: denialResult(decided, false) }
  }
  const { link, own } = targetOf(reach, name)
  const offered = await link.offered(own)
  const outcome = await reach.govern.run(
    { ...orderOf(turn), tool: toolName(link.name, own), offered, args },
    (judged) => send(link, 'tools/call', { name: own, arguments: judged }, turn, reach.govern),
  )
  if (outcome.kind === 'denied') return { result: denialResult(outcome.decided, outcome.repeated) }
  if (outcome.kind === 'withheld')
    return { result: withheldResult(`No result: ${outcome.why}.`, outcome.receipt) }
  return answerOf(outcome)
}

async function readResource(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { uri } = params
  if (!hasOnly(params, ['uri']) || typeof uri !== 'string') throw malformed()
  const link = await holderOf(reach, uri)
  return use(reach, link, 'resources/read', { uri }, turn, (judged) => judged)
}

async function getPrompt(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { name, arguments: args = {} } = params
  if (!hasOnly(params, ['name', 'arguments']) || typeof name !== 'string' || !isObject(args))
    throw malformed()
  const { link, own } = targetOf(reach, name)
  return use(reach, link, 'prompts/get', { name: own, arguments: args }, turn, (judged) => judged)
}

/** Uses a faculty of a server, if it may be used. */
async function use(
  { govern }: Reach,
  link: Link,
  faculty: Faculty,
  args: JsonObject,
  turn: Turn,
  paramsOf: (judged: JsonObject) => JsonObject,
): Promise<Answer> {
  const order = {
    ...orderOf(turn),
    tool: facultyName(link.name, faculty),
    offered: await link.facultyHash(),
    args,
  }
  const outcome = await govern.run(order, (judged) => send(link, faculty, paramsOf(judged), turn, govern))
  if (outcome.kind === 'denied') throw denialFault(outcome.decided)
  return answerOf(outcome)
}

function answerOf(outcome: Exclude<Outcome, { kind: 'denied' }>): Answer {
  if (outcome.kind === 'done') return outcome
  if (outcome.kind === 'withheld') throw new RpcFault(CODE.internal, `no result: ${outcome.why}`)
  const { code, message, data } = outcome.error
  throw new RpcFault(code, message, data)
}

/** Completion says what a server has, so it is for servers that a person has approved. */
async function complete(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { ref } = params
  if (!hasOnly(params, ['ref', 'argument', 'context']) || !isObject(ref)) throw malformed()
  const name = ref['name']
  const uri = ref['uri']
  const { link, own } =
    typeof name === 'string'
      ? targetOf(reach, name)
      : { link: await holderOf(reach, typeof uri === 'string' ? uri : ''), own: undefined }
  await requireApproval(link)
  const mine = own === undefined ? params : { ...params, ref: { ...ref, name: own } }
  return passOn(link, 'completion/complete', mine, turn)
}

/** Passes a request on that is not governed. */
export async function passOn(link: Link, method: string, params: JsonObject, turn: Turn): Promise<Answer> {
  const got = await link.upstream.request(method, params, { signal: turn.signal })
  if (got.ok) return { result: got.result }
  throw new RpcFault(got.error.code, got.error.message, got.error.data)
}

/** @throws RpcFault unless a person has approved of the server as it is. */
export async function requireApproval(link: Link): Promise<void> {
  if (await link.isApproved()) return
  throw new RpcFault(
    CODE.invalidParams,
    `no person has approved the server \`${link.name}\` yet: \`tollgate mcp approve ${link.name}\``,
  )
}

/** Sends a judged request to its server, and lets the server ask back. */
function send(
  link: Link,
  method: string,
  params: JsonObject,
  turn: Turn,
  govern: Govern,
): Promise<UpstreamAnswer> {
  const meta = metaForServer(turn.meta)
  const exchange: Exchange = {
    signal: turn.signal,
    ...(turn.progress && { onProgress: turn.progress }),
    ...(turn.logLevel !== undefined && { logLevel: turn.logLevel }),
    onMessage: (said) => turn.message(said),
    onAsk: (asked, about) => askBack(link, asked, about, turn, govern),
  }
  return link.upstream.request(method, meta ? { ...params, _meta: meta } : params, exchange)
}

const CAPABILITY: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}

/** A server asks the client for something: data comes in as what it asks, and goes out as what it is told. */
async function askBack(
  link: Link,
  method: string,
  params: JsonObject,
  turn: Turn,
  govern: Govern,
): Promise<JsonObject> {
  const capability = CAPABILITY[method]
  if (capability === undefined || turn.sender.capabilities[capability] === undefined) {
    throw new RpcFault(CODE.methodNotFound, 'the client cannot be asked for this')
  }
  if (method === 'roots/list') return turn.ask(method, params)
  // Sound: the two that are left are faculties.
  const faculty = method as Faculty
  const order = {
    ...orderOf(turn),
    tool: facultyName(link.name, faculty),
    offered: await link.facultyHash(),
    args: without(params, '_meta'),
  }
  const outcome = await govern.run(order, async () => ({ ok: true, result: await turn.ask(method, params) }))
  if (outcome.kind === 'done') return outcome.result
  if (outcome.kind === 'denied' && faculty === 'elicitation/create') return { action: 'decline' }
  throw new RpcFault(CODE.internal, 'the request was not allowed')
}

type Common = Pick<Parameters<Govern['run']>[0], 'caller' | 'session' | 'approval'>

function orderOf({ caller, meta }: Turn): Common {
  return { caller, session: meta[OURS.session], approval: meta[OURS.approval] }
}

/** The server that a name is for, and the name that it has there. */
export function targetOf({ links, merged }: Reach, name: string): { link: Link; own: string } {
  const [only] = links
  if (!merged && only) return { link: only, own: name }
  const slash = name.indexOf('/')
  const link = links.find((each) => each.name === name.slice(0, Math.max(slash, 0)))
  if (link) return { link, own: name.slice(slash + 1) }
  throw new RpcFault(CODE.invalidParams, 'the name is not that of a server, a slash, and a name')
}

/** The server that has a resource. Where there are several, the one that lists it. */
export async function holderOf({ links, merged }: Reach, uri: string): Promise<Link> {
  const [only] = links
  if (!merged && only) return only
  for (const link of links) if (await lists(link, uri)) return link
  throw new RpcFault(CODE.invalidParams, 'no server lists this resource')
}

async function lists(link: Link, uri: string): Promise<boolean> {
  try {
    const { capabilities } = await link.hello()
    if (capabilities['resources'] === undefined) return false
    const resources = await listed(link, 'resources/list', 'resources')
    if (resources.some((each) => each['uri'] === uri)) return true
    const templates = await listed(link, 'resources/templates/list', 'resourceTemplates')
    return templates.some(({ uriTemplate }) => typeof uriTemplate === 'string' && fits(uriTemplate, uri))
  } catch {
    // A server that is down holds nothing at the moment.
    return false
  }
}

async function listed(link: Link, method: string, member: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: Json | undefined
  for (let page = 0; page < 20; page++) {
    const got = await link.upstream.request(method, cursor === undefined ? {} : { cursor })
    if (!got.ok) break
    const items = got.result[member]
    if (Array.isArray(items)) found.push(...(items as readonly Json[]).filter(isObject))
    cursor = got.result['nextCursor']
    if (cursor === undefined) break
  }
  return found
}

/** Whether a URI can come of a template: the fixed parts, in their order. */
export function fits(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/)
  let at = 0
  for (const [i, part] of parts.entries()) {
    const found = uri.indexOf(part, at)
    if (found < 0 || (i === 0 && found !== 0)) return false
    at = found + part.length
  }
  const last = parts.at(-1) ?? ''
  return last === '' || uri.endsWith(last)
}

function hasOnly(params: JsonObject, names: readonly string[]): boolean {
  return Object.keys(params).every((name) => names.includes(name))
}

function malformed(): RpcFault {
  return new RpcFault(CODE.invalidParams, '`params` is not what this method takes')
}

function faultOf({ code, message }: UpstreamFault): RpcFault {
  return new RpcFault(CODE.internal, message, { upstream: code })
}
