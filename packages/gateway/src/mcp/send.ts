// Sends one judged request to its server, on the connection on which the judged definition was offered. Questions of the server
// during the call are judged too.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { metered } from './metered.ts'
import { metaForServer, OURS, traceparentIn, without } from './protocol.ts'
import type { Govern, Order, OrderOutcome } from './govern.ts'
import { runGuarded } from './guarded.ts'
import { facultyName, type Faculty, type Offered, type ServerLink } from './link.ts'
import { CODE, RpcFault } from './message.ts'
import { ASKS, NAMED, type SentMethod } from './methods.ts'
import type { Turn } from './proxy.ts'
import { withDefaults } from '../tools/defaults.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer } from './server/upstream.ts'
import { createRateLimit, safeMessage, safeProgress } from './safe-text.ts'

/** A tool or faculty of a server that a client wants to use. */
interface ServerUse {
  readonly link: ServerLink
  /** The name in the policy. */
  readonly tool: string
  /** The name at the server, for a tool. */
  readonly own?: string
  /** Whether the client may wait for an approval of it. */
  readonly waits: boolean
  readonly args: JsonObject
  /** Returns the definition that the server offers. */
  readonly look: () => Promise<Offered>
}

export function facultyUse(link: ServerLink, faculty: Faculty, args: JsonObject): ServerUse {
  const waits = NAMED.has(faculty)
  return { link, tool: facultyName(link.name, faculty), args, waits, look: () => link.faculty() }
}

type RunJudged = (judged: JsonObject, only: number) => Promise<UpstreamAnswer>

/** Judges a use and, if allowed, calls `run` with the judged arguments and the connection to use. May wait for an approval. */
export function govern(through: Govern, use: ServerUse, turn: Turn, run: RunJudged): Promise<OrderOutcome> {
  if (!use.waits) return governOnce(through, use, turn, run)
  // The scope of the session is set once.
  const again = { ...turn, meta: without(turn.meta, OURS.scope) }
  return through.waits.hold(turn, (isFirst) => governOnce(through, use, isFirst ? turn : again, run))
}

async function governOnce(
  through: Govern,
  use: ServerUse,
  turn: Turn,
  run: RunJudged,
): Promise<OrderOutcome> {
  const { link, own } = use
  const again = (): void => link.upstream.notify('notifications/roots/list_changed', {})
  if (own !== undefined) await link.outside.settle(turn.ask, again)
  const offered = await use.look()
  const order = orderOf(turn, { ...use, args: withDefaults(use.args, offered.defaults) }, offered.hash)
  const dispatch = async (judged: JsonObject): Promise<UpstreamAnswer> => {
    const { incarnation } = await stillOffered(use, offered)
    return run(judged, incarnation)
  }
  if (link.browser === undefined || own === undefined) return through.run(order, dispatch)
  const { session } = order.session === undefined ? turn.caller : order
  const known = typeof session === 'string' ? session : turn.caller.principal
  const plannerRef = turn.meta[OURS.plannerRef]
  const { signal } = turn
  return runGuarded(through, { link, own, order, session: known, plannerRef, signal }, dispatch)
}

/** Records the denial of a call whose tool no server has, or several servers have. */
export async function refuseTool(
  through: Govern,
  turn: Turn,
  tool: string,
  args: JsonObject,
): Promise<Decided> {
  const outcome = await through.run(orderOf(turn, { tool, args }, null), () => {
    throw new UpstreamFault('UNREACHABLE', 'no server has this tool')
  })
  if (outcome.kind === 'denied') return outcome.decided
  throw new RpcFault(CODE.internal, 'no server has this tool')
}

function orderOf(
  { caller, meta }: Pick<Turn, 'caller' | 'meta'>,
  { tool, args }: Pick<ServerUse, 'tool' | 'args'>,
  offered: string | null,
): Order {
  return {
    caller,
    tool,
    offered,
    args,
    session: meta[OURS.session],
    approval: meta[OURS.approval],
    delegation: meta[OURS.delegation],
    scope: meta[OURS.scope],
    traceparent: traceparentIn(meta),
    answeredBy: 'server',
  }
}

/** The offer may have changed while the decision was written. @throws UpstreamFault if the definition is now another. */
async function stillOffered({ link, look }: ServerUse, offered: Offered): Promise<Offered> {
  if (link.generation === offered.generation) return offered
  const now = await look()
  if (now.hash === offered.hash) return now
  throw new UpstreamFault('UNREACHABLE', `the definition at \`${link.name}\` changed during the decision`)
}

/** A judged request for one connection. */
interface Sending {
  readonly link: ServerLink
  readonly method: SentMethod
  readonly params: JsonObject
  readonly only: number
}

/** Sends a judged request to its server and answers the server's questions. */
export function send(
  through: Govern,
  { link, method, params, only }: Sending,
  turn: Turn,
): Promise<UpstreamAnswer> {
  const meta = metaForServer(turn.meta)
  const flows = createRateLimit()
  let asked = 0
  const exchange: Exchange = {
    signal: turn.signal,
    only,
    asker: turn.asker,
    ...(turn.progress && {
      onProgress: (params) => {
        const progress = flows() ? safeProgress(params) : undefined
        if (progress) turn.progress?.(progress)
      },
    }),
    ...(turn.logLevel !== undefined && { logLevel: turn.logLevel }),
    onMessage: (params) => {
      const message = flows() ? safeMessage(params, turn.logLevel) : undefined
      if (message) turn.message(message)
    },
    onAsk: (question, about) => {
      // Each question is a decision and a receipt, and may need a person.
      if (++asked > MAX_QUESTIONS) return Promise.reject(tooManyQuestions())
      return askBack(through, link, question, about, turn)
    },
  }
  const sent = meta ? { ...params, _meta: meta } : params
  return metered(through, link.name, () => link.upstream.request(method, sent, exchange))
}

/** The number of questions a server may ask during one governed call. */
export const MAX_QUESTIONS = 16

function tooManyQuestions(): RpcFault {
  return new RpcFault(CODE.internal, `a server may ask at most ${MAX_QUESTIONS} questions in one call`)
}

/** The client that a question would reach. */
type Asked = Pick<Turn, 'caller' | 'sender' | 'meta' | 'ask'>

async function askBack(
  through: Govern,
  link: ServerLink,
  method: string,
  params: JsonObject,
  turn: Asked,
): Promise<JsonObject> {
  const outcome = await judgeQuestion(through, link, { method, params }, turn)
  if (outcome.kind === 'denied' && method === 'elicitation/create') return { action: 'decline' }
  return answerIn(outcome)
}

/** The client's answer to a question. @throws RpcFault if there is none. */
export function answerIn(outcome: OrderOutcome): JsonObject {
  if (outcome.kind === 'done') return outcome.result
  throw new RpcFault(CODE.internal, 'the request to the client was denied')
}

/** Judges a question of a server. The question brings data to the client, the answer brings data to the server. @throws RpcFault */
export async function judgeQuestion(
  through: Govern,
  link: ServerLink,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  turn: Asked,
): Promise<OrderOutcome> {
  const capability = ASKS.get(method)
  if (capability === undefined || turn.sender.capabilities[capability] === undefined) {
    throw new RpcFault(CODE.methodNotFound, 'the client does not support this request')
  }
  // Sound: every method with a capability is a faculty.
  const faculty = method as Faculty
  const { hash } = await link.faculty()
  const order: Order = {
    ...orderOf(turn, facultyUse(link, faculty, without(params, '_meta')), hash),
    answeredBy: 'client',
    author: link.name,
  }
  return through.run(order, async (judged) => {
    const result = await turn.ask(method, judged)
    // The answer takes time, so the freeze is checked again, in the session of the call.
    if (through.isFrozen(order.caller, order.session))
      throw new RpcFault(CODE.internal, 'the client is frozen')
    return { ok: true, result }
  })
}
