// The client's side of the revision without a handshake: who asks is said with every request, and a server that needs something
// of the client says so in an interim result.

import { canonicalBytes, type JsonObject } from '@tollgate/evidence'
import { faultOf, notAskable, silent, within } from './calls.ts'
import { perform, type Asked, type Channel } from './channel.ts'
import { META, MODERN, without } from '../era.ts'
import { ASKS } from './incoming.ts'
import { progressMeta, withMeta, type Spoken } from './legacy.ts'
import { createListening } from './listening.ts'
import { CODE, errorOf, isObject, RpcFault } from '../message.ts'
import type { ClientHello, Exchange, ServerHello, UpstreamAnswer, UpstreamEvents } from './upstream.ts'

/** Whom a request is from. */
export function senderMeta({ capabilities, info }: ClientHello): JsonObject {
  return { [META.version]: MODERN, [META.capabilities]: capabilities, [META.clientInfo]: info }
}

/** Reads who a server is; undefined if it does not say, or does not speak this revision. */
export function readDiscovered(result: JsonObject): ServerHello | undefined {
  const { supportedVersions, capabilities, instructions, _meta } = result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN)) return undefined
  if (!isObject(capabilities)) return undefined
  if (instructions !== undefined && typeof instructions !== 'string') return undefined
  const said = result['serverInfo'] ?? (isObject(_meta) ? _meta[META.serverInfo] : undefined)
  return { era: 'modern', version: MODERN, capabilities, info: isObject(said) ? said : {}, instructions }
}

const MAX_ROUNDS = 16
const MAX_QUESTIONS = 16
const MAY_ASK: readonly string[] = ['tools/call', 'prompts/get', 'resources/read']

/** Speaks with a server of this era. */
export function speakModern(
  channel: Channel,
  hello: ServerHello,
  client: ClientHello,
  events: UpstreamEvents,
): Spoken {
  const { name } = channel
  const sender = senderMeta(client)
  const listening = createListening(channel, sender, (method, params) =>
    events.onNotification(method, params),
  )

  async function request(
    method: string,
    params: JsonObject,
    exchange: Exchange,
    deadline: number,
  ): Promise<UpstreamAnswer> {
    let more: JsonObject = {}
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const asked: Asked = {
        method,
        params: (id) => withMeta({ ...params, ...more }, metaFor(id, sender, exchange)),
        exchange,
        deadline,
      }
      const answer = await perform(channel, asked)
      if (!answer.ok) return answer
      const { resultType: type = 'complete' } = answer.result
      if (type === 'complete') {
        const result = without(answer.result, 'resultType')
        return { ok: true, result: channel.learn?.(method, params, result) ?? result }
      }
      if (type !== 'input_required' || !MAY_ASK.includes(method)) throw garbled(name, answer.result)
      const questions = readQuestions(name, answer.result)
      const limits = { signal: exchange.signal, deadline, late: () => silent(name), name }
      const replies = await within(askAll(questions, exchange), limits)
      if ('ok' in replies) return replies
      more = { ...replies.given, ...stateOf(answer.result) }
    }
    throw faultOf('GARBLED', name, 'it never has enough of asking')
  }

  return {
    hello,
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

function garbled(name: string, result: JsonObject): Error {
  return faultOf('GARBLED', name, 'its result is of no kind that the protocol has', {
    bytes: canonicalBytes(result, { maxLength: Infinity }),
  })
}

interface Question {
  readonly key: string
  readonly method: string
  readonly params: JsonObject
}

/** What a server wants to know. @throws UpstreamFault if it wants what no client has, or does not say what. */
function readQuestions(name: string, result: JsonObject): readonly Question[] {
  const { inputRequests, requestState } = result
  const isState = requestState === undefined || typeof requestState === 'string'
  if (!isState || (inputRequests === undefined && requestState === undefined)) throw garbled(name, result)
  if (inputRequests === undefined) return []
  if (!isObject(inputRequests)) throw garbled(name, result)
  const entries = Object.entries(inputRequests)
  if (entries.length > MAX_QUESTIONS) throw garbled(name, result)
  return entries.map(([key, question]) => {
    const { method, params = {} } = isObject(question) ? question : {}
    if (typeof method !== 'string' || !ASKS.includes(method) || !isObject(params)) throw garbled(name, result)
    return { key, method, params }
  })
}

function stateOf({ requestState }: JsonObject): JsonObject {
  return requestState === undefined ? {} : { requestState }
}

/** Asks the client all of it; the answer to the request if the client cannot be asked. */
async function askAll(
  questions: readonly Question[],
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
