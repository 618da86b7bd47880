// The client of a gateway, with one token.

import { textOf } from './answer.ts'
import { approvalsOf, type Approvals } from './approvals.ts'
import { delegationsOf, type Delegations } from './delegations.ts'
import { postObservation, type PageObservation } from './browser-part.ts'
import type { ToolDenied } from './error.ts'
import { ask, captureCall, type Evaluation, type ToolCall } from './evaluate.ts'
import { exchange } from './exchange.ts'
import { createGuard, type Gate, type GuardOptions, type Guarded, type Tool } from './guard.ts'
import { ownHost, type Fetch, type Host } from './host.ts'
import { operationsOf, type Operations } from './operate.ts'
import { receiptsOf, type Receipts } from './receipts.ts'
import { reportEffect, type EffectReport, type Reported } from './report.ts'
import { openSession, type OpenedSession, type SessionOrder } from './sessions.ts'
import { Spent } from './spent.ts'
import type { Connection } from './transport.ts'

/** The options of `createClient`. */
export interface ClientOptions {
  /** Address of the gateway, such as `http://127.0.0.1:4680`. */
  readonly url: string
  /** The token that the gateway issued. It is never logged. */
  readonly token: string
  /** The session of every call that names none. */
  readonly session?: string
  /** Timeout of one request in milliseconds. Default 10,000. */
  readonly timeout?: number
  /** Number of retries for requests that are safe to repeat. Default 3. */
  readonly retries?: number
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Replaces the monotonic clock, in milliseconds. */
  readonly now?: Host['now']
  /** Replaces the time of day, in milliseconds since 1970. */
  readonly time?: Host['time']
  /** Replaces the timer. */
  readonly after?: Host['after']
}

/** A client of one gateway. */
export interface Client extends Operations {
  /**
   * Asks whether a call may run. Run the tool only on ALLOW, once, before `expires`, with exactly these arguments, and report its
   * effect. `guard` does all of that.
   *
   * @throws TollgateError without a valid answer. Do not run the tool then.
   */
  evaluate(call: ToolCall, options?: { readonly signal?: AbortSignal }): Promise<Evaluation>
  /**
   * Reports the effect of an allowed call, by the id of the decision's receipt. The answer says which part of the output may be
   * forwarded. Give the agent only that part.
   *
   * @throws TollgateError `effect-refused` if this principal has no such call, or its effect is already reported.
   */
  report(
    decision: string,
    effect: EffectReport,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Reported>
  /**
   * Wraps a tool. Every call of the returned function asks the gateway, runs the tool only on ALLOW, reports the effect, and
   * returns the result or its redacted form.
   *
   * @throws (each call) EffectUnreported, Withheld or ToolFailed if the tool ran; ToolDenied, ApprovalRequired, ApprovalTimedOut
   * or another TollgateError if it did not. The error of the tool is never passed on: `ToolFailed` has its inspected message.
   */
  guard<A, R>(
    name: string,
    tool: Tool<A, R>,
    options?: GuardOptions & { readonly onDenied?: 'throw' },
  ): Guarded<A, R>
  guard<A, R>(name: string, tool: Tool<A, R>, options: GuardOptions): Guarded<A, R | ToolDenied>
  /**
   * Opens a session with a scope. Side effects outside the scope are escalated. Needs a `host` token of the session's principal,
   * or the token of an operator.
   *
   * @throws TollgateError `role-forbidden` with an agent token, `scope-refused` if it widens a scope or comes too late.
   */
  openSession(order: SessionOrder): Promise<OpenedSession>
  /**
   * Posts what a Sentinel saw of a page, and returns the `observation_id` for one call within ten seconds. Needs a token of the role
   * `sentinel`.
   */
  postObservation(observation: PageObservation, options?: { readonly signal?: AbortSignal }): Promise<string>
  readonly receipts: Receipts
  readonly approvals: Approvals
  readonly delegations: Delegations
  /** The newest checkpoint of the ledger, as text. Check it with `openCheckpoint` of `@tollgate/evidence`. */
  checkpoint(options?: { readonly signal?: AbortSignal }): Promise<string>
}

const DEFAULT_TIMEOUT = 10_000
const DEFAULT_RETRIES = 3

/**
 * Makes a client. Does not connect yet.
 *
 * @throws TypeError for invalid options.
 */
export function createClient(options: ClientOptions): Client {
  const connection = connectionOf(options)
  const { session } = options
  const approvals = approvalsOf(connection)
  const receipts = receiptsOf(connection)
  const gate: Gate = { connection, approvals, receipts, session, spent: new Spent() }
  // Not async, so that an invalid tool or name throws at once.
  function guard<A, R>(name: string, tool: Tool<A, R>, guardOptions?: GuardOptions): Guarded<A, R> {
    demand(typeof name === 'string' && name !== '', 'the name of a tool must be a non-empty string')
    demand(typeof tool === 'function', 'a tool must be a function')
    demand((guardOptions?.skew ?? 0) >= 0, '`skew` must be a number of milliseconds, at least 0')
    // Sound: a denial is returned only with `onDenied: 'return'`, which the second overload covers.
    return createGuard(gate, name, tool, guardOptions) as Guarded<A, R>
  }
  return {
    ...operationsOf(connection),
    evaluate: async (call, { signal } = {}) =>
      (await ask(connection, captureCall(call, session), signal)).evaluation,
    report: (decision, effect, { signal } = {}) => reportEffect(connection, decision, effect, signal),
    guard,
    openSession: (order) => openSession(connection, order, session),
    postObservation: (observation, { signal } = {}) => postObservation(connection, observation, signal),
    receipts,
    approvals,
    delegations: delegationsOf(connection),
    checkpoint: async ({ signal } = {}) =>
      textOf(await exchange(connection, { method: 'GET', path: '/v1/checkpoint', signal })),
  }
}

function connectionOf(options: ClientOptions): Connection {
  const { url, token, timeout = DEFAULT_TIMEOUT, retries = DEFAULT_RETRIES } = options
  // Checked here because the error of the runtime would contain the token.
  demand(
    typeof token === 'string' && /^[\x21-\x7e]+$/.test(token),
    'the token contains characters that a header does not allow',
  )
  demand(timeout > 0 && retries >= 0, '`timeout` must be more than 0, and `retries` at least 0')
  const { fetch = ownHost.fetch, now = ownHost.now, time = ownHost.time, after = ownHost.after } = options
  return { base: baseOf(url), token, timeout, retries, host: { fetch, now, time, after } }
}

function baseOf(url: string): string {
  demand(URL.canParse(url), '`url` is not a URL')
  const { protocol, username, password, origin, hostname, pathname } = new URL(url)
  demand(protocol === 'http:' || protocol === 'https:', '`url` is not an http or https URL')
  demand(
    username === '' && password === '',
    '`url` contains a user name or a password; remove them, the token is enough',
  )
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127\.[0-9.]+$/.test(hostname)
  demand(protocol === 'https:' || isLocal, '`url` would send the token unencrypted; use an https URL')
  return origin + pathname.replace(/\/+$/, '')
}

function demand(holds: boolean, problem: string): void {
  if (!holds) throw new TypeError(problem)
}
