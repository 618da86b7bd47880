// What each method of the protocol means here: what is governed goes down the road, what is not is passed on, and what nobody
// knows is refused.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { verdictOf } from '../verdict.ts'
import { denialFault, denialResult, withheldResult } from './denial.ts'
import { metaForServer, OURS, without, type Sender } from './era.ts'
import type { Caller, Govern, Outcome } from './govern.ts'
import { holderOf } from './holder.ts'
import { facultyName, toolName, type Faculty, type Link, type Offered } from './link.ts'
import { listAll } from './lists.ts'
import { CODE, isObject, RpcFault, textOf } from './message.ts'
import type { SentMethod } from './methods.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer } from './server/upstream.ts'
import { createFlow, toldMessage, toldProgress } from './told.ts'

/** A request of a client, under way. */
export interface Turn {
  readonly caller: Caller
  readonly sender: Sender
  readonly meta: JsonObject
  readonly signal: AbortSignal
  /** Who would be asked, if the server asks something back. */
  readonly asker: string
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

/** Answers a request that is for servers. @throws RpcFault or UpstreamFault. */
export async function answer(reach: Reach, method: string, params: JsonObject, turn: Turn): Promise<Answer> {
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (!known) throw new RpcFault(CODE.methodNotFound, 'this method is not known here')
  return known(reach, without(params, '_meta'), turn)
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
  const target = typeof name === 'string' ? targetOf(reach, name) : undefined
  if (!hasOnly(params, ['name', 'arguments']) || !target || !isObject(args)) {
    // Not a call that everybody reads the same: on the record as that.
    return { result: denialResult(await refuse(reach, params, turn), false) }
  }
  const { link, own } = target
  const offered = await link.offered(own)
  const outcome = await reach.govern.run(
    { ...orderOf(turn), tool: toolName(link.name, own), offered: offered.hash, args },
    (judged) =>
      send(
        {
          link,
          method: 'tools/call',
          params: { name: own, arguments: judged },
          offered,
          again: () => link.offered(own),
        },
        turn,
        reach.govern,
      ),
  )
  if (outcome.kind === 'denied') return { result: denialResult(outcome.decided, outcome.repeated) }
  if (outcome.kind === 'withheld')
    return { result: withheldResult(`No result: ${outcome.why}.`, outcome.receipt) }
  return answerOf(outcome)
}

async function readResource(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { uri } = params
  if (!hasOnly(params, ['uri']) || typeof uri !== 'string') throw await malformed(reach, params, turn)
  return use(reach, await holderOf(reach, uri, turn.signal), 'resources/read', { uri }, turn)
}

async function getPrompt(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
  const { name, arguments: args = {} } = params
  const target = typeof name === 'string' ? targetOf(reach, name) : undefined
  if (!hasOnly(params, ['name', 'arguments']) || !target || !isObject(args)) {
    throw await malformed(reach, params, turn)
  }
  return use(reach, target.link, 'prompts/get', { name: target.own, arguments: args }, turn)
}

async function complete(reach: Reach, params: JsonObject, turn: Turn): Promise<Answer> {
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

/** Uses a faculty of a server, if it may be used. What is judged is what is sent. */
async function use(
  { govern }: Reach,
  link: Link,
  faculty: Extract<Faculty, SentMethod>,
  args: JsonObject,
  turn: Turn,
): Promise<Answer> {
  const offered = await link.faculty()
  const order = { ...orderOf(turn), tool: facultyName(link.name, faculty), offered: offered.hash, args }
  const outcome = await govern.run(order, (judged) =>
    send({ link, method: faculty, params: judged, offered, again: () => link.faculty() }, turn, govern),
  )
  if (outcome.kind === 'denied') throw denialFault(outcome.decided)
  return answerOf(outcome)
}

function answerOf(outcome: Exclude<Outcome, { kind: 'denied' }>): Answer {
  if (outcome.kind === 'done') return outcome
  if (outcome.kind === 'withheld') throw new RpcFault(CODE.internal, `no result: ${outcome.why}`)
  const { code, message, data } = outcome.error
  throw new RpcFault(code, message, data)
}

/** How a resource is watched, or no longer. */
export interface Watching {
  readonly link: Link
  readonly faculty: Extract<Faculty, 'resources/subscribe' | 'resources/unsubscribe'>
  readonly uri: string
  /** Asks the server with a request; else `done` is all there is to do. */
  readonly direct: boolean
  /** It has been done. */
  readonly done: () => void
}

/** Watches a resource, or no longer, if that may be. What the server says to it goes to nobody. @throws RpcFault. */
export async function watch(
  { govern }: Reach,
  { link, faculty, uri, direct, done }: Watching,
  turn: Turn,
): Promise<void> {
  const offered = await link.faculty()
  const order = {
    ...orderOf(turn),
    tool: facultyName(link.name, faculty),
    offered: offered.hash,
    args: { uri },
  }
  const outcome = await govern.run(order, async (judged) => {
    const { incarnation } = await stillOffered(link, offered, () => link.faculty())
    const only = { signal: turn.signal, only: incarnation }
    const got = direct ? await link.upstream.request(faculty, judged, only) : NOTHING_SAID
    if (got.ok) done()
    return got
  })
  if (outcome.kind === 'denied') throw denialFault(outcome.decided)
  if (outcome.kind === 'error') throw new RpcFault(CODE.internal, `the server \`${link.name}\` refused`)
  if (outcome.kind === 'withheld') throw new RpcFault(CODE.internal, `no result: ${outcome.why}`)
}

const NOTHING_SAID: UpstreamAnswer = { ok: true, result: {} }

/** A judged request: for the connection on which the server offered what was judged, and for no other. */
interface Judged {
  readonly link: Link
  readonly method: SentMethod
  readonly params: JsonObject
  readonly offered: Offered
  /** Looks up once more what is offered. */
  readonly again: () => Promise<Offered>
}

/** What was judged may have changed while the decision was written: then it must still be the same. @throws UpstreamFault. */
async function stillOffered(link: Link, offered: Offered, again: () => Promise<Offered>): Promise<Offered> {
  if (link.generation === offered.generation) return offered
  const now = await again()
  if (now.hash === offered.hash) return now
  throw new UpstreamFault('UNREACHABLE', `what \`${link.name}\` offers has changed meanwhile`)
}

/** Sends a judged request to its server, and lets the server ask back. */
async function send(
  { link, method, params, offered, again }: Judged,
  turn: Turn,
  govern: Govern,
): Promise<UpstreamAnswer> {
  const { incarnation } = await stillOffered(link, offered, again)
  const meta = metaForServer(turn.meta)
  const flows = createFlow()
  let asked = 0
  const exchange: Exchange = {
    signal: turn.signal,
    only: incarnation,
    asker: turn.asker,
    ...(turn.progress && {
      onProgress: (said) => {
        const told = flows() ? toldProgress(said) : undefined
        if (told) turn.progress?.(told)
      },
    }),
    ...(turn.logLevel !== undefined && { logLevel: turn.logLevel }),
    onMessage: (said) => {
      const told = flows() ? toldMessage(said, turn.logLevel) : undefined
      if (told) turn.message(told)
    },
    onAsk: (question, about) => {
      // Each would be a decision, a receipt, and perhaps a person's time.
      if (++asked > MAX_QUESTIONS) return Promise.reject(tooManyQuestions())
      return askBack(link, question, about, turn, govern)
    },
  }
  return link.upstream.request(method, meta ? { ...params, _meta: meta } : params, exchange)
}

/** How many questions a server may ask while it does one governed call. */
export const MAX_QUESTIONS = 16

function tooManyQuestions(): RpcFault {
  return new RpcFault(CODE.internal, `a server may ask ${MAX_QUESTIONS} questions in one call`)
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
  // Sound: all that has a capability is a faculty.
  const faculty = method as Faculty
  const { hash } = await link.faculty()
  const order = {
    ...orderOf(turn),
    tool: facultyName(link.name, faculty),
    offered: hash,
    args: without(params, '_meta'),
    answeredBy: 'client' as const,
    author: link.name,
  }
  const outcome = await govern.run(order, async (judged) => {
    const result = await turn.ask(method, judged)
    // An answer takes its time. The session is that of the call; the client may have brought the answer in another.
    if (govern.isFrozen(order.caller, order.session))
      throw new RpcFault(CODE.internal, 'the client is frozen')
    return { ok: true, result }
  })
  if (outcome.kind === 'done') return outcome.result
  if (outcome.kind === 'denied' && faculty === 'elicitation/create') return { action: 'decline' }
  throw new RpcFault(CODE.internal, 'the request was not allowed')
}

type Common = Pick<
  Parameters<Govern['run']>[0],
  'caller' | 'session' | 'approval' | 'delegation' | 'scope' | 'answeredBy'
>

function orderOf({ caller, meta }: Turn): Common {
  return {
    caller,
    session: meta[OURS.session],
    approval: meta[OURS.approval],
    delegation: meta[OURS.delegation],
    scope: meta[OURS.scope],
    answeredBy: 'server',
  }
}

/** The server that a name is for, and the name that it has there; undefined if there is none. */
function targetOf({ links, merged }: Reach, name: string): { link: Link; own: string } | undefined {
  const [only] = links
  if (!merged) return only && { link: only, own: name }
  const slash = name.indexOf('/')
  const link = links.find((each) => each.name === name.slice(0, Math.max(slash, 0)))
  return link && { link, own: name.slice(slash + 1) }
}

function hasOnly(params: JsonObject, names: readonly string[]): boolean {
  return Object.keys(params).every((name) => names.includes(name))
}

/** On the record: something was asked for that not everybody reads the same. */
function refuse({ govern }: Reach, params: JsonObject, turn: Turn): Promise<Decided> {
  return govern.refuse(turn.caller, textOf(params))
}

async function malformed(reach: Reach, params: JsonObject, turn: Turn): Promise<RpcFault> {
  const decided = await refuse(reach, params, turn)
  return new RpcFault(CODE.invalidParams, '`params` is not what this method takes', {
    [OURS.decision]: verdictOf(decided),
  })
}
