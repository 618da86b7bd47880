// A client of one gateway, with one token.

import { textOf } from './answer.ts'
import { approvalsOf, type Approvals } from './approvals.ts'
import { delegationsOf, type Delegations } from './delegations.ts'
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

/** Where the gateway is, and how to talk to it. */
export interface ClientOptions {
  /** Address of the gateway, such as `http://127.0.0.1:4680`. */
  readonly url: string
  /** The token that the gateway issued. Sent to the gateway and shown nowhere. */
  readonly token: string
  /** The session of every call that names none. */
  readonly session?: string
  /** Longest time for one request and its answer, in milliseconds. Default 10,000. */
  readonly timeout?: number
  /** How often what may be repeated is sent again after a fault. Default 3. */
  readonly retries?: number
  /** In place of the host's own `fetch`. */
  readonly fetch?: Fetch
  /** In place of the host's own clock: milliseconds that never go back. */
  readonly now?: Host['now']
  /** In place of the host's own time of day: milliseconds since 1970. */
  readonly time?: Host['time']
  /** In place of the host's own timer. */
  readonly after?: Host['after']
}

/** A client of one gateway. */
export interface Client extends Operations {
  /**
   * Asks whether a call may run. Run the tool only on ALLOW, once, before `expires`, with the arguments as they were when
   * this was called, and report what it did. `guard` does all of that.
   *
   * @throws TollgateError if there is no answer that could be believed: then nothing may run.
   */
  evaluate(call: ToolCall, options?: { readonly signal?: AbortSignal }): Promise<Evaluation>
  /**
   * Reports what an allowed call did, by the id of the decision's receipt. The answer says what of the output may be handed
   * on: give the agent that, and nothing else.
   *
   * @throws TollgateError `effect-refused` if there is no such call of this principal, or it was reported before.
   */
  report(
    decision: string,
    effect: EffectReport,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Reported>
  /**
   * Wraps a tool: every call of the result asks the gateway, runs the tool only on ALLOW, reports what it did, and returns
   * what may be handed on of it: the result, or what is left of it once the gateway has cut something out.
   *
   * @throws (each call) ToolDenied, ApprovalRequired, ApprovalTimedOut or another TollgateError, and nothing was run;
   * EffectUnreported, Withheld or ToolFailed, and it was. What the tool throws never passes: `ToolFailed` has what is left of it.
   */
  guard<A, R>(
    name: string,
    tool: Tool<A, R>,
    options?: GuardOptions & { readonly onDenied?: 'throw' },
  ): Guarded<A, R>
  guard<A, R>(name: string, tool: Tool<A, R>, options: GuardOptions): Guarded<A, R | ToolDenied>
  /**
   * Opens a session with a scope: side effects outside of it are asked about. Needs a token of the role `host` of the session's
   * principal, or an operator's.
   *
   * @throws TollgateError `role-forbidden` with an agent's token, `scope-refused` if it would widen a scope or comes too late.
   */
  openSession(order: SessionOrder): Promise<OpenedSession>
  readonly receipts: Receipts
  readonly approvals: Approvals
  readonly delegations: Delegations
  /** The newest signed head of the ledger, as text. `openCheckpoint` of `@tollgate/evidence` checks it. */
  checkpoint(options?: { readonly signal?: AbortSignal }): Promise<string>
}

const TIMEOUT = 10_000
const RETRIES = 3

/**
 * Makes a client. Connects to nothing yet.
 *
 * @throws TypeError for options that cannot work.
 */
export function createClient(options: ClientOptions): Client {
  const connection = connectionOf(options)
  const { session } = options
  const approvals = approvalsOf(connection)
  const receipts = receiptsOf(connection)
  const gate: Gate = { connection, approvals, receipts, session, spent: new Spent() }
  // Not async: a tool that is no function, or a name that is none, is told at once.
  function guard<A, R>(name: string, tool: Tool<A, R>, guardOptions?: GuardOptions): Guarded<A, R> {
    demand(typeof name === 'string' && name !== '', 'the name of a tool is a text')
    demand(typeof tool === 'function', 'a tool is a function')
    demand((guardOptions?.skew ?? 0) >= 0, '`skew` is a number of milliseconds, at least 0')
    // Sound: a denial is returned only if the options say so, and then the second overload has it in its type.
    return createGuard(gate, name, tool, guardOptions) as Guarded<A, R>
  }
  return {
    ...operationsOf(connection),
    evaluate: async (call, { signal } = {}) =>
      (await ask(connection, captureCall(call, session), signal)).evaluation,
    report: (decision, effect, { signal } = {}) => reportEffect(connection, decision, effect, signal),
    guard,
    openSession: (order) => openSession(connection, order, session),
    receipts,
    approvals,
    delegations: delegationsOf(connection),
    checkpoint: async ({ signal } = {}) =>
      textOf(await exchange(connection, { method: 'GET', path: '/v1/checkpoint', signal })),
  }
}

function connectionOf(options: ClientOptions): Connection {
  const { url, token, timeout = TIMEOUT, retries = RETRIES } = options
  // Said without the value: what a header cannot hold, the host would put into its message.
  demand(
    typeof token === 'string' && /^[\x21-\x7e]+$/.test(token),
    'the token is not one that a header can hold',
  )
  demand(timeout > 0 && retries >= 0, '`timeout` is more than 0, `retries` at least 0')
  const { fetch = ownHost.fetch, now = ownHost.now, time = ownHost.time, after = ownHost.after } = options
  return { base: baseOf(url), token, timeout, retries, host: { fetch, now, time, after } }
}

function baseOf(url: string): string {
  demand(URL.canParse(url), '`url` is not an address')
  const { protocol, username, password, origin, hostname, pathname } = new URL(url)
  demand(protocol === 'http:' || protocol === 'https:', '`url` is not an http or https address')
  demand(
    username === '' && password === '',
    '`url` holds a user name or a password; the token is all that is needed',
  )
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\.[0-9.]+$/.test(hostname)
  demand(protocol === 'https:' || isHere, '`url` would carry the token in the clear; use an https address')
  return origin + pathname.replace(/\/+$/, '')
}

function demand(held: boolean, otherwise: string): void {
  if (!held) throw new TypeError(otherwise)
}
