// The API as a function from a request to a reply. It serves sockets and commands in the same process.

import { announced, createBudget, type Budget } from '../budget.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import type { Identity } from '../tokens.ts'
import { admit, identityOf, unknownToken } from './auth.ts'
import { answerFetch } from './fetch.ts'
import { Problem, problemBody, problemOf, PROBLEMS } from './problem.ts'
import { NO_BODY, readBody, readQuery } from './request.ts'
import type { ApiOptions, DoorRequest, ApiQuestion, Reply, ApiRoute } from './route.ts'
import { findRoute, type FoundRoute } from './routes.ts'
import { createTurns, viewInTurn, type InTurn } from './turns.ts'
import { createWaits } from './waits.ts'

/** Headers of every reply: browsers must not cache, embed or share it. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The API of a gateway. */
export class App {
  readonly #options: ApiOptions
  readonly #budget: Budget
  readonly #metrics: Metrics
  readonly #waits = createWaits()
  readonly #turns = createTurns()

  constructor(options: ApiOptions) {
    this.#options = options
    this.#budget = options.budget ?? createBudget()
    this.#metrics = options.metrics ?? createMetrics()
  }

  /** Ends streams and waiting requests. Later requests are answered as usual. */
  end(): void {
    this.#waits.end()
  }

  /** As `answer`, from and to the objects of the platform. Never rejects. */
  fetch(request: Request): Promise<Response> {
    return answerFetch(request, (asked) => this.answer(asked))
  }

  /** Answers a request. Never rejects. */
  async answer(asked: DoorRequest): Promise<Reply> {
    let found: FoundRoute | undefined
    let identity: Identity | undefined
    let reply: Reply
    try {
      found = findRoute(asked.method, asked.path)
      identity = admit(found.route, asked, this.#options)
      const question = await this.#questionOf(found, asked, identity)
      // The token may have been revoked while the body arrived. From here to the ledger there are no more waits.
      if (found.route.roles !== 'public' && !question.stillKnown()) throw unknownToken(asked)
      reply = await found.route.answer(question)
    } catch (fault) {
      if (identity && found?.route.body && isUnreadable(fault)) this.#fine(identity)
      reply = replyTo(fault, found?.route, this.#options)
    }
    this.#metrics.answered(found?.route.id ?? 'none', reply.status)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }

  async #questionOf(
    { route, params }: FoundRoute,
    asked: DoorRequest,
    identity: Identity,
  ): Promise<ApiQuestion> {
    const options = this.#options
    const query = readQuery(route, asked.search)
    const { bytes, body } = await this.#bodyOf(route, asked, identity)
    // A request that was admitted once, or waits anyway, is not refused halfway.
    let patient = false
    const inTurn: InTurn = (work) => {
      const turn = this.#turns.take(identity, patient, work)
      patient = true
      return turn
    }
    return {
      ...{ metrics: this.#metrics, asked, identity, params, query, bytes, body, inTurn },
      options: readsInTurn(route, identity)
        ? { ...options, view: viewInTurn(options.view, inTurn) }
        : options,
      mayWait: () => {
        patient = true
        return this.#waits.reserve(identity, asked)
      },
      onEnd: (listener) => this.#waits.add(asked, listener),
      fine: () => this.#fine(identity),
      stillKnown: () => isKnown(asked, identity, options),
    }
  }

  /** Reads the body within the caller's budget. The budget is checked before anything is read. */
  async #bodyOf(route: ApiRoute, asked: DoorRequest, identity: Identity): Promise<typeof NO_BODY> {
    if (!route.body) return NO_BODY
    const { body: limit } = this.#options.limits
    if (!isCharged(identity)) return readBody(route.body, asked, limit)
    const share = this.#budget.take(identity, announced(asked.header('content-length'), limit))
    if (!share.ok) throw tooMuchSent(share.after)
    const read = await readBody(route.body, asked, limit)
    share.settle(read.bytes.length)
    return read
  }

  #fine(identity: Identity): void {
    if (isCharged(identity)) this.#budget.fine(identity)
  }
}

/** Whether reads of the ledger take turns. Health checks have no identity and do not share one turn. */
function readsInTurn({ roles, body }: ApiRoute, { role }: Identity): boolean {
  return roles !== 'public' && role === 'agent' && !body
}

/** Operators and admins are not charged, because they must reach a busy gateway. */
function isCharged({ role }: Identity): boolean {
  return role !== 'operator' && role !== 'admin'
}

function isUnreadable(fault: unknown): boolean {
  return fault instanceof Problem && fault.code === 'request-invalid'
}

function tooMuchSent(after: number): Problem {
  return new Problem('too-much-sent', undefined, { headers: { 'retry-after': String(after) } })
}

/** The reply for a problem. */
export function problemReply(problem: Problem): Reply & { readonly body: string } {
  return {
    status: PROBLEMS[problem.code].status,
    headers: { 'content-type': 'application/problem+json', ...problem.options.headers },
    body: JSON.stringify(problemBody(problem)),
  }
}

/** The reply for an error. Internal errors are logged without their message, which could contain anything. */
export function replyTo(
  fault: unknown,
  route: ApiRoute | undefined,
  { log }: Pick<ApiOptions, 'log'>,
): Reply {
  const known = problemOf(fault)
  if (known) return problemReply(known)
  const { name, stack = '' } = fault instanceof Error ? fault : new Error()
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  log('error', 'a request could not be answered', { route: route?.id, fault: name, at: frames.slice(0, 8) })
  return problemReply(new Problem('internal-fault'))
}

function isKnown(asked: DoorRequest, before: Identity, options: ApiOptions): boolean {
  try {
    const { role, tenant, principal } = identityOf(asked, options)
    return role === before.role && tenant === before.tenant && principal === before.principal
  } catch {
    // Revoked, expired or unverifiable: the caller is not known.
    return false
  }
}

export type { ApiOptions }
