// The client's side of the revision without a handshake: who asks is said with every request, and a server that needs something
// of the client says so in an interim result.

import { canonicalBytes, isList, isObject, type JsonObject } from '@tollgate/evidence'
import { faultOf, notAskable, silent, strayed, within } from './calls.ts'
import { perform, type ServerRequest, type ServerChannel } from './channel.ts'
import { META, MODERN, without } from '../protocol.ts'
import { ASKS } from './incoming.ts'
import { progressMeta, withMeta, type RequestLimits, type Spoken } from './legacy.ts'
import { createListening } from './listening.ts'
import { CODE, errorOf, RpcFault } from '../message.ts'
import type { SentMethod } from '../methods.ts'
import {
  UpstreamFault,
  type ClientHello,
  type Exchange,
  type ServerHello,
  type UpstreamAnswer,
  type UpstreamEvents,
} from './upstream.ts'

/** Whom a request is from. */
export function senderMeta({ capabilities, info }: ClientHello): JsonObject {
  return { [META.version]: MODERN, [META.capabilities]: capabilities, [META.clientInfo]: info }
}

/** Reads who a server is; undefined if it does not say, or does not speak this revision. */
export function readDiscovered(result: JsonObject): ServerHello | undefined {
  const { supportedVersions, capabilities, instructions, _meta } = result
  if (!isList(supportedVersions) || !supportedVersions.includes(MODERN)) return undefined
  if (!isObject(capabilities)) return undefined
  if (instructions !== undefined && typeof instructions !== 'string') return undefined
  const said = result['serverInfo'] ?? (isObject(_meta) ? _meta[META.serverInfo] : undefined)
  return { era: 'modern', version: MODERN, capabilities, info: isObject(said) ? said : {}, instructions }
}

const MAX_ROUNDS = 16
const MAX_QUESTIONS = 16
const MAY_ASK: readonly string[] = ['tools/call', 'prompts/get', 'resources/read']

/** What speaking with such a server needs. */
interface ModernOptions {
  readonly client: ClientHello
  readonly events: UpstreamEvents
  /** A server by HTTP no longer tells of changes. */
  readonly onUntold: () => void
}

/** Speaks with a server of this era. */
export function speakModern(channel: ServerChannel, hello: ServerHello, options: ModernOptions): Spoken {
  const { client, events, onUntold } = options
  const { name } = channel
  const sender = senderMeta(client)
  const listening = createListening(
    channel,
    sender,
    events,
    // A process is the same for as long as it runs.
    () => channel.transport === 'http' && onUntold(),
  )

  async function request(
    method: SentMethod,
    params: JsonObject,
    exchange: Exchange,
    limits: RequestLimits,
  ): Promise<UpstreamAnswer> {
    let more: JsonObject = {}
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const answer = await sendRound(round, method, { ...params, ...more }, exchange, limits)
      if (!answer.ok) return answer
      const { resultType: type = 'complete' } = answer.result
      if (type === 'complete') {
        const result = without(answer.result, 'resultType')
        return { ok: true, result: channel.learn?.(method, params, result) ?? result }
      }
      if (type !== 'input_required') throw ofNoKind(name, answer.result)
      const replies = await reply(method, answer.result, exchange, limits)
      if ('ok' in replies) return replies
      more = { ...replies.given, ...stateOf(answer.result) }
    }
    throw strayed(name, 'never stops asking')
  }

  /** One message of a request. After the first, nobody knows what a server that is gone has done. */
  async function sendRound(
    round: number,
    method: SentMethod,
    params: JsonObject,
    exchange: Exchange,
    { deadline, holds }: RequestLimits,
  ): Promise<UpstreamAnswer> {
    const asked: ServerRequest = {
      method,
      params: (id) => withMeta(params, metaFor(id, sender, exchange)),
      exchange,
      deadline,
    }
    if (round === 0) return perform(channel, asked)
    if (!holds()) throw faultOf('LOST', name, 'it may be another by now')
    return perform(channel, asked).catch((fault: unknown) => {
      const isGone = fault instanceof UpstreamFault && fault.code === 'UNREACHABLE'
      throw isGone ? faultOf('LOST', name, fault.because, { cause: fault }) : fault
    })
  }

  function reply(
    method: string,
    result: JsonObject,
    exchange: Exchange,
    { deadline }: RequestLimits,
  ): Promise<{ given: JsonObject } | UpstreamAnswer> {
    const questions = MAY_ASK.includes(method) ? readQuestions(result) : undefined
    if (!questions) throw strayed(name, 'asked for what the protocol does not have')
    const limits = { signal: exchange.signal, deadline, late: () => silent(name), name }
    return within(askAll(questions, exchange), limits)
  }

  async function askAgain(deadline: number): Promise<ServerHello | undefined> {
    const params = (): JsonObject => ({ _meta: sender })
    const answer = await perform(channel, { method: 'server/discover', params, exchange: {}, deadline })
    return answer.ok ? readDiscovered(answer.result) : undefined
  }

  return {
    hello,
    askAgain,
    request,
    // No client has anything to tell in this era but that it gives up, which it says by doing so.
    notify: () => undefined,
    listen: (wanted) => listening.want(wanted),
    stop: () => listening.stop(),
  }
}

function metaFor(id: number, sender: JsonObject, exchange: Exchange): JsonObject {
  const { logLevel } = exchange
  return {
    ...sender,
    ...progressMeta(id, exchange),
    ...(logLevel !== undefined && { [META.logLevel]: logLevel }),
  }
}

/** A result all the same: whatever was asked for has been done. */
function ofNoKind(name: string, result: JsonObject): UpstreamFault {
  return faultOf('GARBLED', name, 'its result is of no kind that the protocol has', {
    bytes: canonicalBytes(result, { maxLength: Infinity }),
  })
}

interface ServerQuestion {
  readonly key: string
  readonly method: string
  readonly params: JsonObject
}

/** What a server wants to know; undefined if it wants what no client has, or does not say what. */
function readQuestions({ inputRequests, requestState }: JsonObject): readonly ServerQuestion[] | undefined {
  if (requestState !== undefined && typeof requestState !== 'string') return undefined
  if (inputRequests === undefined) return requestState === undefined ? undefined : []
  if (!isObject(inputRequests)) return undefined
  const entries = Object.entries(inputRequests)
  const questions = entries.flatMap(([key, question]) => {
    const { method, params = {} } = isObject(question) ? question : {}
    const isKnown = typeof method === 'string' && ASKS.includes(method) && isObject(params)
    return isKnown ? [{ key, method, params }] : []
  })
  return entries.length <= MAX_QUESTIONS && questions.length === entries.length ? questions : undefined
}

function stateOf({ requestState }: JsonObject): JsonObject {
  return requestState === undefined ? {} : { requestState }
}

/** Asks the client all of it; the answer to the request if the client cannot be asked. */
async function askAll(
  questions: readonly ServerQuestion[],
  exchange: Exchange,
): Promise<{ given: JsonObject } | UpstreamAnswer> {
  if (questions.length === 0) return { given: {} }
  if (exchange.onAsk === undefined) return notAskable()
  try {
    const replies = questions.map(async ({ key, method, params }) => {
      return [key, (await exchange.onAsk?.(method, params)) ?? {}] as const
    })
    return { given: { inputResponses: Object.fromEntries(await Promise.all(replies)) } }
  } catch (fault) {
    return notAskable(
      fault instanceof RpcFault ? errorOf(fault) : { code: CODE.internal, message: 'it failed' },
    )
  }
}
