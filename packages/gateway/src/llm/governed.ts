// A request for a reply of a model: read, what it reports is closed, what the provider would run is judged; then it goes on, and
// its reply is judged.

import { sha256Hex } from '@tollgate/evidence'
import { policyOf, type Kernel } from '@tollgate/kernel'
import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { KnownCaller } from '../tokens.ts'
import { errorIn } from './answered.ts'
import { createAnswers, type AnswerAttempt } from './answers.ts'
import { readBody } from './body.ts'
import { Garbled, Refused, type Dialect, type RequestReading } from './dialect.ts'
import { causeOf, sendOn, type Entered } from './entered.ts'
import { faultReply, upstreamFault } from './errors.ts'
import { faultOf, translated } from './fault.ts'
import { headersFrom } from './headers.ts'
import { admitHosted, type Hosted } from './hosted.ts'
import { createJudge } from './judge.ts'
import { claimsOf, receive } from './receive.ts'
import { createRecent } from './recent.ts'
import { answerStreamed, answerWhole, onRecord } from './replies.ts'
import { takeTurns, type ToolAnswer } from './results.ts'
import { takeScope } from './scope.ts'
import { summaryHeaders } from './summary.ts'
import type { UpstreamReply } from './upstream.ts'
import { createTally, type DecisionTally, type RequestContext } from './request-context.ts'

/** What governed requests need. */
interface GovernOptions {
  readonly kernel: Kernel
  readonly log: Log
  /** Most bytes of a body. */
  readonly body: number
  /** How many receipts the ledger has, as far as it is durable. */
  readonly size: () => number
}

/** Governs a request. Never rejects, and calls `over` when the last of it has gone out. */
type GovernRequest = (entered: Entered, dialect: Dialect) => Promise<Reply>

/** A request as it came in. */
interface Coming {
  readonly bytes: Uint8Array
  readonly tally: DecisionTally
  readonly attempt: AnswerAttempt | undefined
}

/** What it takes to go on: nothing of the body but what is sent. */
interface Prepared {
  readonly context: RequestContext
  readonly hosted: Hosted
  readonly stream: boolean
  readonly tools: RequestReading['tools']
  readonly body: readonly Uint8Array[]
}

/** What was answered so has not run. After anything else nobody knows. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422, 429])
const MOST_REMEMBERED = 20_000
const MOST_ITEMS = 100_000

/** Governs requests through a kernel. */
export function createGovern({ kernel, log, body: limit, size }: GovernOptions): GovernRequest {
  const { openings, freezes, catalogue } = kernel
  const answers = createAnswers(() => kernel.host.now(), {
    now: () => `${policyOf(kernel, kernel.tenant).hash} ${freezes.changes} ${catalogue.changes}`,
    isOpen: (receipt) => (openings.get(receipt)?.expires ?? 0) > kernel.host.now(),
  })
  const heard: ToolAnswer = { results: createRecent(MOST_REMEMBERED), words: createRecent(MOST_REMEMBERED) }
  const items = createRecent<true>(MOST_ITEMS)

  /** One that came before with the same key, or a new one; undefined if there is no key. */
  async function begin(
    { asked, caller, route }: Entered,
    bytes: Uint8Array,
  ): Promise<Reply | AnswerAttempt | undefined> {
    const key = asked.header('idempotency-key')
    if (key === undefined) return undefined
    const owner = `${caller.owner}\n${route.path}\n${asked.header('tollgate-session') ?? ''}`
    return answers.begin(owner, key, sha256Hex(bytes))
  }

  /** Reads a request, closes what it reports, and judges what the provider would run. What is left is what it takes to go on. */
  async function prepare(
    { asked, caller, address, admit, requireThawed }: Entered,
    dialect: Dialect,
    { bytes, tally, attempt }: Coming,
  ): Promise<Prepared> {
    const body = readBody(bytes, admit)
    const { claims, stripped } = claimsOf(asked, body.value)
    await requireThawed(claims.session)
    const reading = dialect.readRequest(body.value, address.parameters, (text) => body.restoredText(text))
    requireHandedOut(reading, caller)
    await takeScope(kernel, asked, caller, claims)
    const context = { kernel, caller, claims, tally, sources: [], onDecided: [], rulings: attempt?.rulings }
    const changed = await takeTurns(context, reading, body, heard)
    const hosted = await admitHosted(context, reading.hosted)
    for (const name of reading.spends ?? []) items.delete(`${caller.owner}\n${name}`)
    const { stream, tools } = reading
    return {
      context,
      hosted,
      stream,
      tools,
      body: body.written(changed || stripped || reading.changed === true),
    }
  }

  async function converse(entered: Entered, dialect: Dialect, coming: Coming): Promise<Reply> {
    const { attempt } = coming
    const { context, hosted, stream, tools, body } = await prepare(entered, dialect, coming)
    try {
      const reply = await onRecord(
        context,
        () => '',
        () => sendOn(entered, stream, body),
      )
      // It has been sent, and is not kept.
      entered.weigh(0)
      if (reply.status !== 200) return await answerFault(entered, reply, context, hosted, attempt)
      const judge = createJudge(context, tools, hosted)
      const onItem = (id: string): void => items.set(`${context.caller.owner}\n${id}`, true)
      const judging = { entered, dialect, reply, context, judge, hosted, attempt, onItem, log, size }
      return stream ? await answerStreamed(judging) : await answerWhole(judging)
    } catch (fault) {
      await hosted.close('unknown')
      throw fault
    }
  }

  /** What lies at the provider and was not handed out here may be what a tool has said, unseen. */
  function requireHandedOut({ references = [], spends = [] }: RequestReading, { owner }: KnownCaller): void {
    if ([...references, ...spends].every((id) => items.has(`${owner}\n${id}`))) return
    const message =
      'the request rests on an item that was not handed out here since the gateway was started, or that was used already; send items themselves (with `store: false`), and ask for approvals again'
    throw new Refused(400, 'ROUTE_NOT_GOVERNED', message, 'input')
  }

  async function answerFault(
    { address, provider, over, abort }: Entered,
    reply: UpstreamReply,
    context: RequestContext,
    hosted: Hosted,
    attempt: AnswerAttempt | undefined,
  ): Promise<Reply> {
    const { status } = reply
    await hosted.close(REFUSED.has(status) ? 'unsent' : 'unknown')
    const said = await errorIn(reply)
    if (status < 300)
      await onRecord(
        context,
        () => '',
        () => Promise.reject(new Garbled(`it answers ${status}`)),
      ).catch(() => undefined)
    const fault = translated(upstreamFault(status, said, address.key), address, log)
    attempt?.drop()
    abort()
    over()
    const headers = { ...headersFrom(reply.headers), ...summaryHeaders(context.tally, size()) }
    return faultReply(provider, fault, headers)
  }

  return async (entered, dialect) => {
    const tally = createTally()
    let attempt: AnswerAttempt | undefined
    try {
      const bytes = await receive(entered.asked, limit)
      entered.weigh(bytes.length)
      // A body takes its time, and the token may be gone by now.
      if (!entered.caller.known()) throw new Refused(401, 'TOKEN_UNKNOWN', 'the token is no longer in force')
      const begun = await begin(entered, bytes)
      if (begun && 'status' in begun) {
        entered.over()
        return begun
      }
      attempt = begun
      return await converse(entered, dialect, { bytes, tally, attempt })
    } catch (fault) {
      attempt?.drop()
      entered.failed(fault)
      // Nothing of it may still come in.
      entered.abort()
      entered.over()
      return faultReply(
        entered.provider,
        faultOf(causeOf(entered, fault), log),
        summaryHeaders(tally, size()),
      )
    }
  }
}
