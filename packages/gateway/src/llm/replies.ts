// Judges the reply of a model, whole or streamed, and forwards it to the agent.

import { authorize } from '@tollgate/kernel'
import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { AnswerAttempt } from './answers.ts'
import { Garbled, type Dialect, type Judge, type OnItem, type Rewriter } from './dialect.ts'
import { causeOf, type Entered } from './entered.ts'
import { faultEvent, withoutKey } from './errors.ts'
import { faultOf } from './fault.ts'
import { headersFrom } from './headers.ts'
import type { Hosted } from './hosted.ts'
import type { Provider } from './providers.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import { Outgoing } from './outgoing.ts'
import { pump } from './pump.ts'
import { readJson } from './read-json.ts'
import { formatSse, SSE_COMMENT } from '../sse.ts'
import { LlmUpstreamFault, requireType, textOf, type UpstreamReply } from './upstream.ts'
import {
  callOf,
  count,
  removedHeader,
  summaryComment,
  summaryHeaders,
  type RequestContext,
} from './request-context.ts'

/** A reply, with everything needed to judge it. */
interface Judging {
  readonly entered: Entered
  readonly dialect: Dialect
  readonly reply: UpstreamReply
  readonly context: RequestContext
  readonly judge: Judge
  readonly hosted: Hosted
  readonly attempt: AnswerAttempt | undefined
  readonly onItem: OnItem
  readonly log: Log
  /** The number of durable receipts in the ledger. */
  readonly size: () => number
  /** Milliseconds without text after which a stream gets a ping. */
  readonly quiet?: number | undefined
}

/** Judges a whole reply. @throws Garbled, UpstreamFault */
export async function answerWhole(judging: Judging): Promise<Reply> {
  const { entered, dialect, reply, context, judge, hosted, attempt, onItem, size } = judging
  let text = ''
  const governed = await recordUnreadable(
    context,
    () => text,
    async () => {
      requireType(reply, 'application/json')
      text = await textOf(reply)
      return dialect.governReply(parsed(text), judge, onItem)
    },
  )
  await hosted.close('done')
  const answer = {
    status: 200,
    headers: {
      ...headersFrom(reply.headers),
      'content-type': 'application/json',
      ...summaryHeaders(context.tally, size()),
    },
    body: JSON.stringify(withoutKeyIn(governed, entered.address.key)),
  }
  attempt?.keep(answer, answer.body)
  entered.over()
  return answer
}

/** A reply may report its own failure. The key must not be in it. */
function withoutKeyIn(governed: JsonObject, key: string | undefined): JsonObject {
  const { error } = governed
  if (!isObject(error)) return governed
  const safe = Object.entries(error).map(([name, value]) => [
    name,
    typeof value === 'string' ? withoutKey(value, key) : value,
  ])
  return { ...governed, error: Object.fromEntries(safe) as JsonObject }
}

function parsed(text: string): Json {
  try {
    return readJson(text)
  } catch {
    throw new Garbled('it is not JSON')
  }
}

const QUIET_MS = 15_000
// Some clients of Anthropic count events, not comments. Clients of OpenAI accept only comments at any time.
const PINGS: Readonly<Record<Provider, string>> = {
  openai: SSE_COMMENT,
  azure: SSE_COMMENT,
  anthropic: formatSse('{"type":"ping"}', { type: 'ping' }),
  gemini: SSE_COMMENT,
}

/** Whether the client reads comments. The retired client of Google, on which LangChain is built, fails on them. */
function readsComments({ asked, provider }: Entered): boolean {
  return provider !== 'gemini' || asked.header('x-goog-api-client')?.startsWith('genai-js/') !== true
}

/** Judges a streamed reply as it arrives. @throws Garbled if it is no stream. */
export async function answerStreamed(judging: Judging): Promise<Reply> {
  const { entered, dialect, reply, context, judge, onItem, size, quiet = QUIET_MS } = judging
  await recordUnreadable(context, nothing, () => {
    requireType(reply, 'text/event-stream')
    return Promise.resolve()
  })
  const outgoing = new Outgoing(
    quiet,
    () => entered.abort(),
    readsComments(entered) ? PINGS[entered.provider] : '',
  )
  const headers = {
    ...headersFrom(reply.headers),
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies must not buffer.
    'x-accel-buffering': 'no',
    ...summaryHeaders(undefined, size()),
    ...removedHeader(context.tally),
  }
  const rewriter = dialect.openStream(judge, onItem)
  void run(judging, rewriter, outgoing, headers)
  return { status: 200, headers, body: outgoing }
}

/** Forwards the stream. Never rejects: a fault is reported in the stream, and all resources are released. */
async function run(
  judging: Judging,
  rewriter: Rewriter,
  outgoing: Outgoing,
  headers: Record<string, string>,
): Promise<void> {
  const { entered, context, hosted, attempt, log, size } = judging
  const transcript = createTranscript(attempt !== undefined)
  let end: 'whole' | 'broken' = 'broken'
  try {
    const fault = await pumped(judging, rewriter, transcript, outgoing)
    // A connection that breaks after the end of the reply is fine.
    const isWhole = fault === undefined || (rewriter.ended && fault instanceof LlmUpstreamFault)
    if (!isWhole)
      outgoing.write(
        faultEvent(
          entered.provider,
          judging.dialect === openaiResponses,
          faultOf(causeOf(entered, fault), log),
        ),
      )
    await hosted.close(isWhole && !rewriter.failed ? 'done' : 'unknown')
    const comment = readsComments(entered) ? summaryComment(context.tally, size()) : ''
    outgoing.write(comment)
    if (isWhole) end = 'whole'
    if (isWhole && !rewriter.failed)
      attempt?.keep({ status: 200, headers, body: '' }, transcript.text() + comment)
  } catch (fault) {
    faultOf(fault, log)
  } finally {
    // Some clients ignore an error in a stream, but none ignores a broken connection.
    outgoing.end(end)
    attempt?.drop()
    // Stops the upstream.
    if (end === 'broken') entered.abort()
    entered.over()
  }
}

/** Forwards a stream to its end. Returns the fault, if there was one. */
async function pumped(
  { entered, reply, context }: Judging,
  rewriter: Rewriter,
  transcript: ReturnType<typeof createTranscript>,
  outgoing: Outgoing,
): Promise<unknown> {
  const { key } = entered.address
  const write = (made: string): void => {
    const text = rewriter.failed ? withoutKey(made, key) : made
    transcript.add(text)
    outgoing.write(text)
  }
  try {
    await recordUnreadable(context, nothing, () =>
      pump(reply.body, rewriter, { write, drained: () => outgoing.drained() }),
    )
    return undefined
  } catch (fault) {
    return fault
  }
}

/** The text of a reply that was not read. */
export const nothing = (): string => ''

// A longer reply is not kept for repeated requests.
const MAX_TRANSCRIPT = 1 << 20

/** Collects the text of a stream, if it may be requested again. */
function createTranscript(wanted: boolean): { add(text: string): void; text(): string } {
  let text = ''
  return {
    add(more) {
      if (wanted && text.length <= MAX_TRANSCRIPT) text += more
    },
    text: () => text,
  }
}

const MAX_RAW = 1 << 20

/** Runs `work`. If the reply is unreadable, that is recorded, because it may have been a call. */
export async function recordUnreadable<T>(
  context: RequestContext,
  came: () => string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    if (!(fault instanceof Garbled)) throw fault
    const call = { ...callOf({ ...context, sources: [] }, 'advised'), tool: undefined }
    const { decided } = await authorize(context.kernel, { ...call, raw: came().slice(0, MAX_RAW) })
    count(context, decided)
    throw fault
  }
}
