// The road from a client to a server: every call goes through the kernel, and what comes back is on the ledger before it is
// handed on.

import { sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import {
  authorize,
  enforce,
  inspectionIn,
  isFrozen,
  refuseFrozen,
  KernelError,
  type Decided,
  type Enforced,
  type Entrant,
  type Inspection,
  type Kernel,
  type ToolAnswer,
} from '@tollgate/kernel'
import { giveScope } from '../scoping.ts'
import { createRepeats, type Repeats } from './denial.ts'
import { OURS } from './protocol.ts'
import { CODE, RpcFault, textOf, type RpcError } from './message.ts'
import { UpstreamFault, type UpstreamAnswer } from './server/upstream.ts'

/** Who calls, as the door has made sure of it. */
export interface McpCaller {
  readonly tenant: string
  readonly principal: string
  /** It may say what its sessions are for. */
  readonly mayOpen?: boolean
  /** The session of what it asks without naming one, if its process has one; else that is its principal's. */
  readonly session?: string
}

/** Something that is asked for. */
export interface Order {
  readonly caller: McpCaller
  /** The name the policy knows it by. */
  readonly tool: string
  /** Hash of the definition that the server behind it offers; null if it offers none. */
  readonly offered: string | null
  readonly args: JsonObject
  /** The client's own word, inside its principal. */
  readonly session: unknown
  readonly approval: unknown
  readonly delegation: unknown
  /** What the session is for, if the client says so; only a host may. */
  readonly scope: unknown
  /** Who answers it. What a client answers to a server is its own word, and is not looked through. */
  readonly answeredBy: 'server' | 'client'
  /** The server that wrote the arguments, if the caller did not. */
  readonly author?: string
}

/** What came of it. */
export type OrderOutcome =
  | { readonly kind: 'denied'; readonly decided: Decided; readonly repeated: boolean }
  | { readonly kind: 'done'; readonly result: JsonObject; readonly text: string; readonly receipt: string }
  | { readonly kind: 'error'; readonly error: RpcError; readonly receipt: string }
  /** It ran, or may have; there is nothing to hand on. */
  | { readonly kind: 'withheld'; readonly why: string; readonly receipt: string }

/** Governs calls. */
export interface Govern {
  /** Judges an order and, if it may, runs it, once. @throws KernelError `EFFECT_UNRECORDED`. */
  run(order: Order, dispatch: (args: JsonObject) => Promise<UpstreamAnswer>): Promise<OrderOutcome>
  /** The refusal of a caller that is frozen, on the record; undefined if it may come in. */
  refuseFrozen(caller: McpCaller, session: unknown): Promise<Decided | undefined>
  /** Whether a caller is frozen, in the session that it names or else in its own. */
  isFrozen(caller: McpCaller, session?: unknown): boolean
  /** Puts something on record that could not even be read as a call. */
  refuse(caller: McpCaller, source: Uint8Array | string): Promise<Decided>
}

/** Governs through a kernel. */
export function createGovern(kernel: Kernel, now: () => number): Govern {
  const repeats = createRepeats()
  return {
    async run(order, dispatch) {
      // What the strict parser made and nothing changes since: its canonical text is what is hashed.
      const attempt = new ToolRun(dispatch, order.answeredBy === 'server')
      const { caller: who, tool, offered, args, approval, delegation } = order
      const session = sessionOf(who, order.session)
      if (order.scope !== undefined) await openFor(kernel, order)
      const caller = { tenant: who.tenant, principal: who.principal }
      const call = { caller, door: 'mcp', assurance: 'enforced', offered, tool, args } as const
      const given = {
        ...call,
        ...(session !== undefined && { session_id: session }),
        ...(approval !== undefined && { approval }),
        ...(delegation !== undefined && { delegation }),
        ...(order.author !== undefined && { author: `server:${order.author}` }),
      }
      const enforced = await enforce(kernel, given, ({ value }) => attempt.run(value))
      if (!enforced.effect) return denied(order, enforced.decided, repeats, now())
      return attempt.outcome(enforced.effect)
    },
    refuseFrozen: (caller, session) => refuseFrozen(kernel, 'mcp', entrantOf(caller, session)),
    isFrozen: (caller, session) => isFrozen(kernel, 'mcp', entrantOf(caller, session)),
    async refuse(caller, source) {
      const { tenant, principal, session } = caller
      const call = {
        caller: { tenant, principal },
        door: 'mcp',
        assurance: 'enforced',
        tool: undefined,
        raw: source,
        ...(session !== undefined && { session_id: session }),
      } as const
      const { decided } = await authorize(kernel, call)
      return decided
    },
  }
}

/** The session of what a caller asks: the one that the client names, else that of its process. */
function sessionOf({ session }: McpCaller, named: unknown): unknown {
  return named === undefined ? session : named
}

function entrantOf(caller: McpCaller, named?: unknown): Entrant {
  const { tenant, principal } = caller
  return { tenant, principal, session: sessionOf(caller, named) }
}

/** A scope that came with a call is in force before the call is judged, or there is no call. @throws RpcFault */
async function openFor(kernel: Kernel, { caller, session: named, scope }: Order): Promise<void> {
  const { tenant, principal, mayOpen = false } = caller
  const session = sessionOf(caller, named) ?? principal
  try {
    if (typeof session !== 'string' || session === '')
      throw new KernelError('REQUEST_INVALID', 'a session is a text')
    const who = { role: 'agent', tenant, principal, groups: [], mayOpen } as const
    await giveScope(kernel, who, { principal, session, scope })
  } catch (fault) {
    if (!(fault instanceof KernelError)) throw fault
    throw new RpcFault(CODE.invalidParams, `\`${OURS.scope}\`: ${fault.message}`)
  }
}

function denied(
  { caller, tool, args, session }: Order,
  decided: Decided,
  repeats: Repeats,
  now: number,
): OrderOutcome {
  const who = `${caller.tenant}\n${caller.principal}\n${typeof session === 'string' ? session : ''}`
  const key = sha256Hex(`${who}\n${tool}\n${decided.reason}\n${textOf(args)}`)
  return { kind: 'denied', decided, repeated: repeats.seen(key, now) }
}

/** One run of a tool: what it answered is kept until the ledger has it. */
class ToolRun {
  readonly #dispatch: (args: JsonObject) => Promise<UpstreamAnswer>
  readonly #isRead: boolean
  #answer: UpstreamAnswer | undefined
  #text = ''
  #why = 'the server did not answer in time; nobody knows what the call did'

  constructor(dispatch: (args: JsonObject) => Promise<UpstreamAnswer>, isRead: boolean) {
    this.#dispatch = dispatch
    this.#isRead = isRead
  }

  /** Runs the tool with what the kernel captured: what was hashed is what arrives. */
  async run(value: Json): Promise<ToolAnswer> {
    try {
      // Sound: only objects are ordered, and the kernel's copy of one is one.
      const answer = await this.#dispatch(value as JsonObject)
      this.#answer = answer
      this.#text = textOf(saidIn(answer))
      const failed = !answer.ok || answer.result['isError'] === true
      return {
        status: failed ? 'FAILED' : 'COMPLETED',
        output: new TextEncoder().encode(this.#text),
        ...(this.#isRead && { content: toBeRead(answer) }),
      }
    } catch (fault) {
      this.#why = whyOf(fault)
      if (!(fault instanceof UpstreamFault) || fault.code !== 'GARBLED' || !fault.bytes) throw fault
      this.#why = 'the server answered something that cannot be read strictly, so it is withheld'
      // It answered. What it said is committed to, and handed to nobody.
      return { status: 'COMPLETED', output: fault.bytes, delivery: 'withheld' }
    }
  }

  outcome({ receipt, outcome }: NonNullable<Enforced['effect']>): OrderOutcome {
    const answer = this.#answer
    if (!answer || outcome.status === 'UNKNOWN') return { kind: 'withheld', why: this.#why, receipt }
    const inspection = inspectionIn(outcome)
    if (!inspection || inspection.delivery === 'full') return this.#handOn(answer, this.#text, receipt)
    if (inspection.content === undefined) return { kind: 'withheld', why: withheldFor(inspection), receipt }
    // Sound: what was given to be read is an object, and so is what is left of it.
    const left = inspection.content as JsonObject
    if (answer.ok) return this.#handOn({ ok: true, result: left }, textOf(left), receipt)
    return this.#handOn({ ok: false, error: { ...answer.error, ...left } }, '', receipt)
  }

  #handOn(answer: UpstreamAnswer, text: string, receipt: string): OrderOutcome {
    if (answer.ok) return { kind: 'done', result: answer.result, text, receipt }
    return { kind: 'error', error: answer.error, receipt }
  }
}

/** What the server said, as it is committed to. */
function saidIn(answer: UpstreamAnswer): JsonObject {
  return answer.ok ? answer.result : { ...answer.error }
}

/** What an agent would read of it. The code of an error is the protocol's. */
function toBeRead(answer: UpstreamAnswer): JsonObject {
  if (answer.ok) return answer.result
  const { message, data } = answer.error
  return { message, ...(data !== undefined && { data }) }
}

/** Why an answer is held back: classes of data and codes of findings, never what it says. */
function withheldFor({ labels, findings }: Inspection): string {
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  return `the policy withholds what the server answered (${found}); the call itself was done`
}

const WHY: Readonly<Record<UpstreamFault['code'], string>> = {
  UNREACHABLE: 'the server cannot be started or reached; nothing was sent to it',
  LOST: 'the server went away while it worked; nobody knows what the call did',
  GARBLED: 'the server did not answer as the protocol has it; nobody knows what the call did',
  CANCELLED: 'the call was cancelled; nobody knows how far it got',
  SILENT: 'the server did not answer in time; nobody knows what the call did',
}

function whyOf(fault: unknown): string {
  return fault instanceof UpstreamFault ? WHY[fault.code] : 'the call broke off; nobody knows what it did'
}
