// Governs a request to a model: reads it, records the tool results in it, judges the tools that the provider would run,
// forwards it and judges the reply.

import { sha256Hex } from '@tollgate/evidence'
import { policyOf, type Kernel } from '@tollgate/kernel'
import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { KnownCaller } from '../tokens.ts'
import { errorIn } from './answered.ts'
import { createAnswers, type AnswerAttempt } from './answers.ts'
import { readBody } from './body.ts'
import { Garbled, Refused, type Dialect, type RequestReading } from './dialect.ts'
import { causeOf, forward, type Entered } from './entered.ts'
import { faultReply, upstreamFault } from './errors.ts'
import { faultOf, translated } from './fault.ts'
import { headersFrom } from './headers.ts'
import { admitHosted, type Hosted } from './hosted.ts'
import { createJudge } from './judge.ts'
import { claimsOf, receive } from './receive.ts'
import { createRecent } from './recent.ts'
import { answerStreamed, answerWhole, recordUnreadable } from './replies.ts'
import { takeTurns, type SeenTurns } from './results.ts'
import { takeScope } from './scope.ts'
import { summaryHeaders } from './summary.ts'
import type { UpstreamReply } from './upstream.ts'
import { createTally, type DecisionTally, type RequestContext } from './request-context.ts'

interface GovernOptions {
  readonly kernel: Kernel
  readonly log: Log
  /** Largest body in bytes. */
  readonly body: number
  /** The number of durable receipts in the ledger. */
  readonly size: () => number
}

/** Governs a request. Never rejects. Calls `over` when everything is sent. */
type GovernRequest = (entered: Entered, dialect: Dialect) => Promise<Reply>

/** A received request. */
interface Coming {
  readonly bytes: Uint8Array
  readonly tally: DecisionTally
  readonly attempt: AnswerAttempt | undefined
}

/** Everything needed to forward the request. */
interface Prepared {
  readonly context: RequestContext
  readonly hosted: Hosted
  readonly stream: boolean
  readonly tools: RequestReading['tools']
  readonly body: readonly Uint8Array[]
}

/** After these statuses nothing has run. After any other the outcome is unknown. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422, 429])
const MAX_REMEMBERED = 20_000
const MAX_ITEMS = 100_000

export function createGovern({ kernel, log, body: limit, size }: GovernOptions): GovernRequest {
  const { openings, freezes, catalogue } = kernel
  const answers = createAnswers(() => kernel.host.now(), {
    now: () => `${policyOf(kernel, kernel.tenant).hash} ${freezes.changes} ${catalogue.changes}`,
    isOpen: (receipt) => (openings.get(receipt)?.expires ?? 0) > kernel.host.now(),
  })
  const seen: SeenTurns = { results: createRecent(MAX_REMEMBERED), words: createRecent(MAX_REMEMBERED) }
  const items = createRecent<true>(MAX_ITEMS)

  /** The earlier answer to the same key, or a new attempt; undefined without a key. */
  async function begin(
    { asked, caller, route }: Entered,
    bytes: Uint8Array,
  ): Promise<Reply | AnswerAttempt | undefined> {
    const key = asked.header('idempotency-key')
    if (key === undefined) return undefined
    const owner = `${caller.owner}\n${route.path}\n${asked.header('tollgate-session') ?? ''}`
    return answers.begin(owner, key, sha256Hex(bytes))
  }

  /** Reads a request, records the results in it, and judges the tools that the provider would run. */
  async function prepare(
    { asked, caller, address, admit, requireNotFrozen }: Entered,
    dialect: Dialect,
    { bytes, tally, attempt }: Coming,
  ): Promise<Prepared> {
    const body = readBody(bytes, admit)
    const { claims, stripped } = claimsOf(asked, body.value)
    await requireNotFrozen(claims.session)
    const reading = dialect.readRequest(body.value, address.parameters, (text) => body.restoredText(text))
    requireIssued(reading, caller)
    await takeScope(kernel, asked, caller, claims)
    const context = { kernel, caller, claims, tally, sources: [], onDecided: [], rulings: attempt?.rulings }
    const changed = await takeTurns(context, reading, body, seen)
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
      const reply = await recordUnreadable(
        context,
        () => '',
        () => forward(entered, stream, body),
      )
      // It has been sent, and is not kept.
      entered.resize(0)
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

  /** An item at the provider that this door did not issue may hold tool output that was never inspected. */
  function requireIssued({ references = [], spends = [] }: RequestReading, { owner }: KnownCaller): void {
    if ([...references, ...spends].every((id) => items.has(`${owner}\n${id}`))) return
    const message =
      'the request refers to an item that this gateway did not issue since its start, or that is already used; send the items themselves (with `store: false`), and request approvals again'
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
    const error = await errorIn(reply)
    if (status < 300)
      await recordUnreadable(
        context,
        () => '',
        () => Promise.reject(new Garbled(`its status is ${status}`)),
      ).catch(() => undefined)
    const fault = translated(upstreamFault(status, error, address.key), address, log)
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
      entered.resize(bytes.length)
      // The token may have been revoked while the body arrived.
      if (!entered.caller.known())
        throw new Refused(401, 'TOKEN_UNKNOWN', 'the token has been revoked; use another')
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
      // Stops the upstream.
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
