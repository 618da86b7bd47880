// The API as a function from a request to an answer, whichever way requests come: over a socket, or from a command in the
// same process.

import { announced, createBudget } from '../budget.ts'
import type { Identity } from '../tokens.ts'
import { admit, identityOf, unknownToken } from './auth.ts'
import { answerFetch } from './fetch.ts'
import { createMetrics } from './metrics.ts'
import { Problem, problemBody, problemOf, PROBLEMS } from './problem.ts'
import { NO_BODY, readBody, readQuery } from './request.ts'
import type { ApiOptions, DoorRequest, ApiQuestion, Reply, ApiRoute } from './route.ts'
import { findRoute, type FoundRoute } from './routes.ts'
import { createTurns, viewInTurn, type InTurn } from './turns.ts'
import { createWaits } from './waits.ts'

/** The API, ready to be asked. */
export interface App {
  /** Answers a request. Never rejects. */
  fetch(request: Request): Promise<Response>
  /** The same for who has no `Request`. Never rejects. */
  answer(asked: DoorRequest): Promise<Reply>
  /** Ends streams and whatever else waits; requests after it are answered as before. */
  end(): void
}

/** On every answer: it is for the one who asked, and for no page to make anything of. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Makes the API. */
export function createApp(options: ApiOptions): App {
  const metrics = createMetrics()
  const waits = createWaits()
  const turns = createTurns()
  const { budget = createBudget() } = options

  async function answer(asked: DoorRequest): Promise<Reply> {
    let found: FoundRoute | undefined
    let identity: Identity | undefined
    let reply: Reply
    try {
      found = findRoute(asked.method, asked.path)
      identity = admit(found.route, asked, options)
      const question = await questionOf(found, asked, identity)
      // A body takes its time, and the token may be gone by now. From here to the ledger nothing waits any more.
      if (found.route.roles !== 'public' && !question.stillKnown()) throw unknownToken()
      reply = await found.route.answer(question)
    } catch (fault) {
      if (identity && found?.route.body && isUnreadable(fault)) fine(identity)
      reply = replyTo(fault, found?.route, options)
    }
    metrics.answered(found?.route.id ?? 'none', reply.status)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }

  async function questionOf(
    { route, params }: FoundRoute,
    asked: DoorRequest,
    identity: Identity,
  ): Promise<ApiQuestion> {
    const query = readQuery(route, asked.search)
    const { bytes, body } = await bodyOf(route, asked, identity)
    // Who was let in, or waits anyway, is not sent back in the middle.
    let patient = false
    const inTurn: InTurn = (work) => {
      const turn = turns.take(identity, patient, work)
      patient = true
      return turn
    }
    return {
      ...{ metrics, asked, identity, params, query, bytes, body, inTurn },
      options: readsInTurn(route, identity)
        ? { ...options, view: viewInTurn(options.view, inTurn) }
        : options,
      mayWait() {
        patient = true
        return waits.reserve(identity, asked)
      },
      onEnd: (listener) => waits.add(asked, listener),
      fine: () => fine(identity),
      stillKnown: () => isKnown(asked, identity, options),
    }
  }

  /** Reads the body within the caller's budget, which is asked before any of it is read. */
  async function bodyOf(route: ApiRoute, asked: DoorRequest, identity: Identity): Promise<typeof NO_BODY> {
    if (!route.body) return NO_BODY
    const { body: limit } = options.limits
    if (!isCharged(identity)) return readBody(route.body, asked, limit)
    const share = budget.take(identity, announced(asked.header('content-length'), limit))
    if (!share.ok) throw tooMuchSent(share.after)
    const read = await readBody(route.body, asked, limit)
    share.settle(read.bytes.length)
    return read
  }

  function fine(identity: Identity): void {
    if (isCharged(identity)) budget.fine(identity)
  }

  return {
    fetch: (request) => answerFetch(request, answer),
    answer,
    end: () => waits.end(),
  }
}

/** Whether the ledger is read in turn. Those who ask about the gateway's health are nobody, and do not share one. */
function readsInTurn({ roles, body }: ApiRoute, { role }: Identity): boolean {
  return roles !== 'public' && role === 'agent' && !body
}

/** Operators and admins are trusted with the gateway, and must reach it however busy it is. */
function isCharged({ role }: Identity): boolean {
  return role !== 'operator' && role !== 'admin'
}

function isUnreadable(fault: unknown): boolean {
  return fault instanceof Problem && fault.code === 'request-invalid'
}

function tooMuchSent(after: number): Problem {
  return new Problem('too-much-sent', undefined, { headers: { 'retry-after': String(after) } })
}

/** A problem as it is answered. */
export function problemReply(problem: Problem): Reply & { readonly body: string } {
  return {
    status: PROBLEMS[problem.code].status,
    headers: { 'content-type': 'application/problem+json', ...problem.options.headers },
    body: JSON.stringify(problemBody(problem)),
  }
}

/** What is answered to a fault. One that is ours is written to the log, without its message: that may hold anything. */
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
    // Revoked, ended, or nobody can say: all the same to a stream.
    return false
  }
}

export type { ApiOptions }
