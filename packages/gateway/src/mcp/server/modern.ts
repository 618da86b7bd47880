// The client side of the revision without a handshake. Every request names its sender, and a server asks the client through
// interim results.

import { canonicalBytes, isList, isObject, type JsonObject } from '@tollgate/evidence'
import { faultOf, notAskable, silent, violation, within } from './calls.ts'
import { perform, type ServerRequest, type ServerChannel } from './channel.ts'
import { META, MODERN, without } from '../protocol.ts'
import { progressMeta, withMeta, type ServerSession } from './legacy.ts'
import { createListening } from './listening.ts'
import { CODE, errorOf, RpcFault } from '../message.ts'
import { ASKS, NAMED } from '../methods.ts'
import {
  UpstreamFault,
  type ClientHello,
  type Exchange,
  type ServerHello,
  type UpstreamAnswer,
  type UpstreamEvents,
} from './upstream.ts'

/** The sender, as members of `_meta`. */
export function senderMeta({ capabilities, info }: ClientHello): JsonObject {
  return { [META.version]: MODERN, [META.capabilities]: capabilities, [META.clientInfo]: info }
}

/** Reads who a server is; undefined if the answer is invalid or does not include this revision. */
export function readDiscovered(result: JsonObject): ServerHello | undefined {
  const { supportedVersions, capabilities, instructions, _meta } = result
  if (!isList(supportedVersions) || !supportedVersions.includes(MODERN)) return undefined
  if (!isObject(capabilities)) return undefined
  if (instructions !== undefined && typeof instructions !== 'string') return undefined
  const info = result['serverInfo'] ?? (isObject(_meta) ? _meta[META.serverInfo] : undefined)
  return { protocol: 'modern', version: MODERN, capabilities, info: isObject(info) ? info : {}, instructions }
}

const MAX_ROUNDS = 16
const MAX_QUESTIONS = 16

interface ModernOptions {
  readonly client: ClientHello
  readonly events: UpstreamEvents
  /** A server over HTTP no longer reports changes. */
  readonly onChangesLost: () => void
}

/** Serves a server that speaks the modern protocol. */
export function speakModern(
  channel: ServerChannel,
  hello: ServerHello,
  options: ModernOptions,
): ServerSession {
  const { client, events, onChangesLost } = options
  const { name } = channel
  const sender = senderMeta(client)
  const listening = createListening(
    channel,
    sender,
    events,
    // A process stays the same while it runs.
    () => channel.transport === 'http' && onChangesLost(),
  )

  return {
    hello,
    async askAgain(deadline) {
      const params = (): JsonObject => ({ _meta: sender })
      const answer = await perform(channel, { method: 'server/discover', params, exchange: {}, deadline })
      return answer.ok ? readDiscovered(answer.result) : undefined
    },
    async request(method, params, exchange, { deadline, holds }) {
      const { signal } = exchange
      let more: JsonObject = {}
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const given = { ...params, ...more }
        const meta = (id: number): JsonObject => withMeta(given, metaFor(id, sender, exchange))
        const asked = { method, params: meta, exchange, deadline }
        const answer = await (round === 0 ? perform(channel, asked) : performAgain(channel, asked, holds))
        if (!answer.ok) return answer
        const { resultType: type = 'complete' } = answer.result
        if (type === 'complete') {
          const result = without(answer.result, 'resultType')
          return { ok: true, result: channel.learn?.(method, params, result) ?? result }
        }
        if (type !== 'input_required') throw unknownType(name, answer.result)
        const questions = NAMED.has(method) ? readQuestions(answer.result) : undefined
        if (!questions) throw violation(name, 'sent an invalid question for the client')
        const late = (): UpstreamFault => silent(name)
        const replies = await within(askAll(questions, exchange), { signal, deadline, late, name })
        if ('ok' in replies) return replies
        more = { ...replies.given, ...stateOf(answer.result) }
      }
      throw violation(name, 'asked the client in too many rounds')
    },
    // The modern protocol has no client notifications. Closing a request cancels it.
    notify: () => undefined,
    listen: (wanted) => listening.want(wanted),
    stop: () => listening.stop(),
  }
}

/** Sends a later message of a request. A lost server may already have acted. */
async function performAgain(
  channel: ServerChannel,
  asked: ServerRequest,
  holds: () => boolean,
): Promise<UpstreamAnswer> {
  if (!holds()) throw faultOf('LOST', channel.name, 'it may be another server now')
  return perform(channel, asked).catch((fault: unknown) => {
    const isGone = fault instanceof UpstreamFault && fault.code === 'UNREACHABLE'
    throw isGone ? faultOf('LOST', channel.name, fault.because, { cause: fault }) : fault
  })
}

function metaFor(id: number, sender: JsonObject, exchange: Exchange): JsonObject {
  const { logLevel } = exchange
  return {
    ...sender,
    ...progressMeta(id, exchange),
    ...(logLevel !== undefined && { [META.logLevel]: logLevel }),
  }
}

/** It is a result, so the call was done. */
function unknownType(name: string, result: JsonObject): UpstreamFault {
  return faultOf('GARBLED', name, 'its result has an unknown type', {
    bytes: canonicalBytes(result, { maxLength: Infinity }),
  })
}

interface ServerQuestion {
  readonly key: string
  readonly method: string
  readonly params: JsonObject
}

/** The questions of a server; undefined if they are invalid. */
function readQuestions({ inputRequests, requestState }: JsonObject): readonly ServerQuestion[] | undefined {
  if (requestState !== undefined && typeof requestState !== 'string') return undefined
  if (inputRequests === undefined) return requestState === undefined ? undefined : []
  if (!isObject(inputRequests)) return undefined
  const entries = Object.entries(inputRequests)
  const questions = entries.flatMap(([key, question]) => {
    const { method, params = {} } = isObject(question) ? question : {}
    const isKnown = typeof method === 'string' && ASKS.has(method) && isObject(params)
    return isKnown ? [{ key, method, params }] : []
  })
  return entries.length <= MAX_QUESTIONS && questions.length === entries.length ? questions : undefined
}

function stateOf({ requestState }: JsonObject): JsonObject {
  return requestState === undefined ? {} : { requestState }
}

/** Asks the client all questions. Returns an error answer if the client cannot be asked. */
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
      fault instanceof RpcFault ? errorOf(fault) : { code: CODE.internal, message: 'the question failed' },
    )
  }
}
