// Governs a request to a model: reads it, records the tool results in it, judges the tools that the provider would run,
// forwards it and judges the reply.

import { sha256Hex } from '@tollgate/evidence'
import { policyOf, type Kernel } from '@tollgate/kernel'
import type { AnswerWait } from '../answer-wait.ts'
import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { KnownCaller } from '../tokens.ts'
import { Recent } from '../recent.ts'
import { KeptAnswers, type AnswerAttempt } from './answers.ts'
import { readBody } from './body.ts'
import { Garbled, notGoverned, Refused, type Dialect, type RequestReading } from './dialect.ts'
import { failureReply, forward, refusalReply, type Entered } from './entered.ts'
import { admitHosted, type Hosted, type RemovedBefore } from './hosted.ts'
import { createJudge } from './judge.ts'
import { claimsOf, receive } from './receive.ts'
import { answerStreamed, answerWhole, nothing, recordUnreadable } from './replies.ts'
import { takeTurns, type SeenTurns } from './results.ts'
import { takeScope } from './scope.ts'
import type { UpstreamReply } from './upstream.ts'
import { waitOf } from './waiting.ts'
import { createTally, summaryHeaders, type DecisionTally, type RequestContext } from './request-context.ts'

interface GovernOptions {
  readonly kernel: Kernel
  readonly log: Log
  /** Largest body in bytes. */
  readonly body: number
  /** The number of durable receipts in the ledger. */
  readonly size: () => number
  /** Milliseconds that a request waits for the approval of its calls. */
  readonly wait: number
  readonly watch: AnswerWait['watch']
  /** Milliseconds without text after which a stream gets a ping. */
  readonly quiet?: number
  /** Aborted when the gateway stops. */
  readonly ending: AbortSignal
}

/** Everything needed to forward the request. */
interface Prepared {
  readonly context: RequestContext
  readonly hosted: Hosted
  readonly stream: boolean
  readonly structured: boolean
  readonly forced: boolean
  readonly tools: RequestReading['tools']
  readonly unnamed: RequestReading['unnamed']
  readonly body: readonly Uint8Array[]
}

/** After these statuses nothing has run. After any other the outcome is unknown. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422, 429])
const MAX_REMEMBERED = 20_000
const MAX_ITEMS = 100_000

/** The governed requests of all agents, with what they share. */
export class GovernedRequests {
  readonly #options: GovernOptions
  readonly #answers: KeptAnswers
  readonly #seen: SeenTurns = { results: new Recent(MAX_REMEMBERED), words: new Recent(MAX_REMEMBERED) }
  readonly #removed: RemovedBefore = new Recent(MAX_REMEMBERED)
  /** Items that this door issued, by owner and id. */
  readonly #items = new Recent<true>(MAX_ITEMS)

  constructor(options: GovernOptions) {
    const { kernel } = options
    const { openings, freezes, catalogue } = kernel
    this.#options = options
    this.#answers = new KeptAnswers(() => kernel.host.now(), {
      now: () => `${policyOf(kernel, kernel.tenant).hash} ${freezes.changes} ${catalogue.changes}`,
      isOpen: (receipt) => (openings.get(receipt)?.expires ?? 0) > kernel.host.now(),
    })
  }

  /** Governs a request. Never rejects. Calls `over` when everything is sent. */
  async answer(entered: Entered, dialect: Dialect): Promise<Reply> {
    const { log, body: limit, size } = this.#options
    const tally = createTally()
    let attempt: AnswerAttempt | undefined
    try {
      const bytes = await receive(entered.asked, limit)
      entered.resize(bytes.length)
      // The token may have been revoked while the body arrived.
      if (!entered.caller.known())
        throw new Refused(401, 'TOKEN_UNKNOWN', 'the token has been revoked; use another')
      const begun = await this.#begin(entered, bytes)
      if (begun && 'status' in begun) {
        entered.over()
        return begun
      }
      attempt = begun
      return await this.#converse(entered, dialect, bytes, tally, attempt)
    } catch (fault) {
      attempt?.drop()
      return failureReply(entered, fault, log, summaryHeaders(tally, size()))
    }
  }

  /** The earlier answer to the same key, or a new attempt; undefined without a key. */
  async #begin(
    { asked, caller, route }: Entered,
    bytes: Uint8Array,
  ): Promise<Reply | AnswerAttempt | undefined> {
    const key = asked.header('idempotency-key')
    if (key === undefined) return undefined
    const owner = `${caller.owner}\n${route.path}\n${asked.header('tollgate-session') ?? ''}`
    return this.#answers.begin(owner, key, sha256Hex(bytes))
  }

  async #converse(
    entered: Entered,
    dialect: Dialect,
    bytes: Uint8Array,
    tally: DecisionTally,
    attempt: AnswerAttempt | undefined,
  ): Promise<Reply> {
    const { log, size, quiet } = this.#options
    const prepared = await this.#prepare(entered, dialect, bytes, tally, attempt?.rulings)
    const { context, hosted, stream } = prepared
    try {
      const send = (): Promise<UpstreamReply> => forward(entered, stream, prepared.body)
      const reply = await recordUnreadable(context, nothing, send)
      // It has been sent, and is not kept.
      entered.resize(0)
      if (reply.status !== 200) return await this.#answerFault(entered, reply, context, hosted, attempt)
      const judge = createJudge(context, prepared, hosted)
      const onItem = (id: string): void => void this.#items.set(`${context.caller.owner}\n${id}`, true)
      const judging = { entered, dialect, reply, context, judge, hosted, attempt, onItem, log, size, quiet }
      return stream ? await answerStreamed(judging) : await answerWhole(judging)
    } catch (fault) {
      await hosted.close('unknown')
      throw fault
    }
  }

  /** Reads a request, records the results in it, and judges the tools that the provider would run. */
  async #prepare(
    { asked, caller, address, signal, admit, requireNotFrozen }: Entered,
    dialect: Dialect,
    bytes: Uint8Array,
    tally: DecisionTally,
    rulings: RequestContext['rulings'],
  ): Promise<Prepared> {
    const { kernel, watch, ending, ...options } = this.#options
    const body = readBody(bytes, admit)
    const { claims, stripped } = claimsOf(asked, body.value)
    await requireNotFrozen(claims.session)
    const reading = dialect.readRequest(body.value, address.parameters, (text) => body.restoredText(text))
    this.#requireIssued(reading, caller)
    await takeScope(kernel, asked, caller, claims)
    const left = waitOf(asked.header('tollgate-wait'), options.wait, reading.stream)
    const wait = left > 0 ? { left, watch, signal: AbortSignal.any([signal, ending]) } : undefined
    const context = { kernel, caller, claims, tally, sources: [], onDecided: [], rulings, wait }
    const changed = await takeTurns(context, reading, body, this.#seen)
    const { hosted, removed } = await admitHosted(context, reading.hosted, body.value, this.#removed)
    for (const name of reading.spends ?? []) this.#items.delete(`${caller.owner}\n${name}`)
    const { stream, structured, forced, unnamed } = reading
    const gone = new Set(removed.map(({ declares }) => declares))
    const tools = new Map([...reading.tools].filter(([name]) => !gone.has(name)))
    const written = body.written(changed || stripped || reading.changed === true || removed.length > 0)
    return { context, hosted, stream, structured, forced, unnamed, tools, body: written }
  }

  /** An item at the provider that this door did not issue may hold tool output that was never inspected. */
  #requireIssued({ references = [], spends = [] }: RequestReading, { owner }: KnownCaller): void {
    if ([...references, ...spends].every((id) => this.#items.has(`${owner}\n${id}`))) return
    const message =
      'the request refers to an item that this gateway did not issue since its start, or that is already used; send the items themselves (with `store: false`), and request approvals again'
    throw notGoverned(message, 'input')
  }

  async #answerFault(
    entered: Entered,
    reply: UpstreamReply,
    context: RequestContext,
    hosted: Hosted,
    attempt: AnswerAttempt | undefined,
  ): Promise<Reply> {
    const { log, size } = this.#options
    const { status } = reply
    await hosted.close(REFUSED.has(status) ? 'unsent' : 'unknown')
    if (status < 300) {
      const garbled = (): Promise<never> => Promise.reject(new Garbled(`its status is ${status}`))
      await recordUnreadable(context, nothing, garbled).catch(() => undefined)
    }
    const answer = await refusalReply(entered, reply, log, () => summaryHeaders(context.tally, size()))
    attempt?.drop()
    return answer
  }
}
