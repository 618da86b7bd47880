// The way of one request to its server: judged, then sent on the connection on which the server offered what was judged, and on no
// other. While it is under way the server may ask back, which is judged too.

import type { JsonObject } from '@tollgate/evidence'
import { metaForServer, OURS, without } from './protocol.ts'
import type { Govern, Order, OrderOutcome } from './govern.ts'
import { facultyName, type Faculty, type Offered, type ServerLink } from './link.ts'
import { CODE, RpcFault } from './message.ts'
import type { SentMethod } from './methods.ts'
import type { Turn } from './proxy.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer } from './server/upstream.ts'
import { createFlow, toldMessage, toldProgress } from './told.ts'

/** Something of a server that a client wants to use. */
interface ServerUse {
  readonly link: ServerLink
  /** The name the policy knows it by. */
  readonly tool: string
  readonly args: JsonObject
  /** Looks up what the server offers under this name. */
  readonly look: () => Promise<Offered>
}

/** The use of a faculty. */
export function facultyUse(link: ServerLink, faculty: Faculty, args: JsonObject): ServerUse {
  return { link, tool: facultyName(link.name, faculty), args, look: () => link.faculty() }
}

/** Has a use judged and, if it may be, made: `run` gets what was judged, and the connection that it is for. */
export async function govern(
  through: Govern,
  use: ServerUse,
  turn: Turn,
  run: (judged: JsonObject, only: number) => Promise<UpstreamAnswer>,
): Promise<OrderOutcome> {
  const offered = await use.look()
  return through.run(orderOf(turn, use, offered.hash), async (judged) => {
    const { incarnation } = await stillOffered(use, offered)
    return run(judged, incarnation)
  })
}

function orderOf({ caller, meta }: Turn, { tool, args }: ServerUse, offered: string | null): Order {
  return {
    caller,
    tool,
    offered,
    args,
    session: meta[OURS.session],
    approval: meta[OURS.approval],
    delegation: meta[OURS.delegation],
    scope: meta[OURS.scope],
    answeredBy: 'server',
  }
}

/** What was judged may have changed while the decision was written: then it must still be the same. @throws UpstreamFault. */
async function stillOffered({ link, look }: ServerUse, offered: Offered): Promise<Offered> {
  if (link.generation === offered.generation) return offered
  const now = await look()
  if (now.hash === offered.hash) return now
  throw new UpstreamFault('UNREACHABLE', `what \`${link.name}\` offers has changed meanwhile`)
}

/** A request that was judged, for one connection. */
interface Sending {
  readonly link: ServerLink
  readonly method: SentMethod
  readonly params: JsonObject
  readonly only: number
}

/** Sends a judged request to its server, and lets the server ask back. */
export function send(
  through: Govern,
  { link, method, params, only }: Sending,
  turn: Turn,
): Promise<UpstreamAnswer> {
  const meta = metaForServer(turn.meta)
  const flows = createFlow()
  let asked = 0
  const exchange: Exchange = {
    signal: turn.signal,
    only,
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
      return askBack(through, link, question, about, turn)
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
  through: Govern,
  link: ServerLink,
  method: string,
  params: JsonObject,
  turn: Turn,
): Promise<JsonObject> {
  const capability = CAPABILITY[method]
  if (capability === undefined || turn.sender.capabilities[capability] === undefined) {
    throw new RpcFault(CODE.methodNotFound, 'the client cannot be asked for this')
  }
  // Sound: all that has a capability is a faculty.
  const faculty = method as Faculty
  const { hash } = await link.faculty()
  const order: Order = {
    ...orderOf(turn, facultyUse(link, faculty, without(params, '_meta')), hash),
    answeredBy: 'client',
    author: link.name,
  }
  const outcome = await through.run(order, async (judged) => {
    const result = await turn.ask(method, judged)
    // An answer takes its time. The session is that of the call; the client may have brought the answer in another.
    if (through.isFrozen(order.caller, order.session))
      throw new RpcFault(CODE.internal, 'the client is frozen')
    return { ok: true, result }
  })
  if (outcome.kind === 'done') return outcome.result
  if (outcome.kind === 'denied' && faculty === 'elicitation/create') return { action: 'decline' }
  throw new RpcFault(CODE.internal, 'the request was not allowed')
}
