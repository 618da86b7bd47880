// The path from a client to a server. Every call passes the kernel, and its effect is on the ledger before the result is
// forwarded.

import { isObject, sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import {
  authorize,
  enforce,
  inspectionIn,
  isFrozen,
  policyOf,
  refuseFrozen,
  KernelError,
  type Decided,
  type Enforced,
  type Entrant,
  type Inspection,
  type Kernel,
  type ToolAnswer,
  type ToolCall,
} from '@tollgate/kernel'
import { Recent } from '../recent.ts'
import { giveScope } from '../scoping.ts'
import type { UpstreamFaultKind } from '../telemetry/families.ts'
import { ApprovalWaits, type WaitingOptions } from './approval-wait.ts'
import { kernelCaller } from '../tokens.ts'
import { decisionMeta } from './denial.ts'
import { OURS } from './protocol.ts'
import { CODE, RpcFault, textOf, type RpcError } from './message.ts'
import type { Turn } from './proxy.ts'
import { UpstreamFault, type UpstreamAnswer } from './server/upstream.ts'

/** The authenticated caller. */
export interface McpCaller {
  readonly tenant: string
  readonly principal: string
  /** The person that the principal acts for, if one is known. */
  readonly person?: string
  /** Its groups; none if not given. */
  readonly groups?: readonly string[]
  /** Whether it may set the scope of its sessions. */
  readonly mayOpen?: boolean
  /** The session of requests that name none. Without it, they use the session of the principal. */
  readonly session?: string
  /** Whether its token is still valid, where nothing else ends its requests. */
  readonly known?: () => boolean
}

/** A request to use a tool or a faculty of a server. */
export interface Order {
  readonly caller: McpCaller
  /** The name in the policy. */
  readonly tool: string
  /** Hash of the definition that the server offers; null if it offers none. */
  readonly offered: string | null
  readonly args: JsonObject
  /** Chosen by the client, within its principal. */
  readonly session: unknown
  readonly approval: unknown
  readonly delegation: unknown
  /** The scope that the client wants for the session. Only a `host` token may set one. */
  readonly scope: unknown
  /** The side that answers. An answer of the client to a server is not inspected. */
  readonly answeredBy: 'server' | 'client'
  /** The server that wrote the arguments, if the caller did not. */
  readonly author?: string
  /** The page of a guarded browser, for a call of a browser server. */
  readonly browser?: unknown
  readonly guarded?: ToolCall['guarded']
  readonly demanded?: ToolCall['demanded']
  /** The parent span. */
  readonly traceparent?: string | undefined
}

/** An answer, and the page that is open after it if the gateway drives the browser. */
export type Dispatched = UpstreamAnswer & Pick<ToolAnswer, 'page'>

/** The outcome of an order. */
export type OrderOutcome =
  | { readonly kind: 'denied'; readonly decided: Decided; readonly repeated: boolean }
  | { readonly kind: 'done'; readonly result: JsonObject; readonly text: string; readonly receipt: string }
  | { readonly kind: 'error'; readonly error: RpcError; readonly receipt: string }
  /** The call ran, or may have run, but no result can be forwarded. `meta` is for a result that replaces it. */
  | { readonly kind: 'withheld'; readonly why: string; readonly receipt: string; readonly meta?: JsonObject }

const REPEAT_WINDOW_MS = 600_000
const MAX_REMEMBERED = 1000

/** Called after each request to a server, with the reason if there was no usable answer. */
type NoteServer = (server: string, took: number, fault: UpstreamFaultKind | undefined) => void

export class Govern {
  /** The calls that wait for an approval. */
  readonly waits: ApprovalWaits
  readonly #kernel: Kernel
  readonly #now: () => number
  /** The times of recent denials. A repeated call gets a shorter answer. */
  readonly #denials = new Recent<number>(MAX_REMEMBERED)

  /** Notes a request to a server with its duration in milliseconds. */
  readonly note: NoteServer

  constructor(kernel: Kernel, waiting: WaitingOptions, note: NoteServer = () => undefined) {
    this.#kernel = kernel
    this.#now = () => kernel.host.now()
    const isFrozen = ({ caller, meta }: Turn): boolean => this.isFrozen(caller, meta[OURS.session])
    this.waits = new ApprovalWaits({ kernel, ...waiting, isFrozen })
    this.note = note
  }

  /** Decides on an order and, if allowed, runs it once. @throws KernelError `EFFECT_UNRECORDED`. */
  async run(order: Order, dispatch: (args: JsonObject) => Promise<Dispatched>): Promise<OrderOutcome> {
    const attempt = new ToolRun(dispatch, order.answeredBy === 'server')
    const { caller, session, tool, offered, args, approval, delegation, author } = order
    const { browser, guarded, demanded, traceparent } = order
    if (order.scope !== undefined) await applyScope(this.#kernel, order)
    const call = {
      ...{ ...callOf(caller, session), offered, tool, args },
      ...(approval !== undefined && { approval }),
      ...(delegation !== undefined && { delegation }),
      ...(author !== undefined && { author: `server:${author}` }),
      ...(guarded && { browser, guarded }),
      ...(demanded && { demanded }),
      ...(traceparent !== undefined && { traceparent }),
    }
    const enforced = await enforce(this.#kernel, call, ({ value }) => attempt.run(value))
    if (!enforced.effect) return this.#denied(order, enforced.decided)
    const outcome = attempt.outcome(enforced.effect)
    const isObserved = enforced.decided.reason === 'OBSERVE_MODE_ALLOWED'
    // A server gets the answer of a client, and learns nothing about decisions.
    return isObserved && order.answeredBy === 'server' ? marked(outcome, enforced.decided) : outcome
  }

  #denied({ caller, tool, args, session }: Order, decided: Decided): OrderOutcome {
    const who = `${caller.tenant}\n${caller.principal}\n${typeof session === 'string' ? session : ''}`
    const key = sha256Hex(`${who}\n${tool}\n${decided.reason}\n${textOf(args)}`)
    const now = this.#now()
    const repeated = now - (this.#denials.get(key) ?? -Infinity) < REPEAT_WINDOW_MS
    this.#denials.set(key, now)
    return { kind: 'denied', decided, repeated }
  }

  /** The recorded denial of a frozen caller; undefined if it is not frozen. */
  refuseFrozen(caller: McpCaller, session: unknown): Promise<Decided | undefined> {
    return refuseFrozen(this.#kernel, 'mcp', entrantOf(caller, session))
  }

  /** Whether a caller is frozen, in the session that it names or in its own. */
  isFrozen(caller: McpCaller, session?: unknown): boolean {
    return isFrozen(this.#kernel, 'mcp', entrantOf(caller, session))
  }

  /** The tools that a name can mean for a caller. */
  meant({ tenant }: McpCaller, name: string): readonly string[] {
    return this.#kernel.catalogue.meant(name, policyOf(this.#kernel, tenant))
  }

  /** Whether a person has approved a request, and the approval is not used yet. */
  isGranted(request: string): boolean {
    return this.#kernel.approvals.find({ id: request })?.answer?.granted === true
  }

  /** Records the refusal of an input that cannot be read as a call. */
  async refuse(caller: McpCaller, raw: Uint8Array | string): Promise<Decided> {
    const { decided } = await authorize(this.#kernel, { ...callOf(caller), tool: undefined, raw })
    return decided
  }
}

/** The members that all calls share. */
function callOf(caller: McpCaller, named?: unknown): Omit<ToolCall, 'tool'> {
  const session = sessionOf(caller, named)
  return {
    caller: kernelCaller(caller),
    door: 'mcp',
    assurance: 'enforced',
    ...(session !== undefined && { session_id: session }),
  }
}

/** The session that the client names, or the session of its process. */
function sessionOf({ session }: McpCaller, named: unknown): unknown {
  return named === undefined ? session : named
}

function entrantOf(caller: McpCaller, named?: unknown): Entrant {
  const { tenant, principal } = caller
  return { tenant, principal, session: sessionOf(caller, named) }
}

/**
 * Sets the scope that came with a call, before the call is judged. @throws RpcFault if the scope is refused; then there is no
 * call.
 */
async function applyScope(kernel: Kernel, { caller, session: named, scope }: Order): Promise<void> {
  const { tenant, principal, mayOpen = false } = caller
  const session = sessionOf(caller, named) ?? principal
  try {
    if (typeof session !== 'string' || session === '')
      throw new KernelError('REQUEST_INVALID', 'a session must be a non-empty string')
    const who = { role: 'agent', tenant, principal, groups: [], mayOpen } as const
    await giveScope(kernel, who, { principal, session, scope })
  } catch (fault) {
    if (!(fault instanceof KernelError)) throw fault
    throw new RpcFault(CODE.invalidParams, `\`${OURS.scope}\`: ${fault.message}`)
  }
}

/** The outcome with the decision of observe mode, as a denial has it. */
function marked(outcome: OrderOutcome, decided: Decided): OrderOutcome {
  const meta = decisionMeta(decided)
  switch (outcome.kind) {
    case 'denied':
      return outcome
    case 'withheld':
      return { ...outcome, meta }
    case 'error': {
      const { data = {} } = outcome.error
      return isObject(data)
        ? { ...outcome, error: { ...outcome.error, data: { ...data, ...meta } } }
        : outcome
    }
    case 'done': {
      const { _meta: own } = outcome.result
      const result = { ...outcome.result, _meta: { ...(isObject(own) && own), ...meta } }
      return { ...outcome, result, text: textOf(result) }
    }
  }
}

/** One run of a tool. Keeps the answer until the effect is on the ledger. */
class ToolRun {
  readonly #dispatch: (args: JsonObject) => Promise<Dispatched>
  readonly #inspects: boolean
  #answer: UpstreamAnswer | undefined
  #text = ''
  #why = WHY.SILENT

  constructor(dispatch: (args: JsonObject) => Promise<Dispatched>, inspects: boolean) {
    this.#dispatch = dispatch
    this.#inspects = inspects
  }

  /** Runs the tool with the arguments that the kernel captured and hashed. */
  async run(value: Json): Promise<ToolAnswer> {
    try {
      // Sound: orders hold only objects, and the kernel keeps their type.
      const { page, ...answer } = await this.#dispatch(value as JsonObject)
      this.#answer = answer
      this.#text = textOf(payloadOf(answer))
      const failed = !answer.ok || answer.result['isError'] === true
      return {
        status: failed ? 'FAILED' : 'COMPLETED',
        output: new TextEncoder().encode(this.#text),
        ...(this.#inspects && { content: contentOf(answer) }),
        ...(page && { page }),
      }
    } catch (fault) {
      this.#why = whyOf(fault)
      if (!(fault instanceof UpstreamFault) || fault.code !== 'GARBLED' || !fault.bytes) throw fault
      this.#why = WITHHELD_UNREADABLE
      // The server answered. The hash is recorded and the content is withheld.
      return { status: 'COMPLETED', output: fault.bytes, delivery: 'withheld' }
    }
  }

  outcome({ receipt, outcome }: NonNullable<Enforced['effect']>): OrderOutcome {
    const answer = this.#answer
    if (!answer || outcome.status === 'UNKNOWN') return { kind: 'withheld', why: this.#why, receipt }
    const inspection = inspectionIn(outcome)
    if (!inspection || inspection.delivery === 'full') return this.#forward(answer, this.#text, receipt)
    if (inspection.content === undefined) return { kind: 'withheld', why: withheldFor(inspection), receipt }
    // Sound: the content given to inspection is an object, so its remainder is one too.
    const left = inspection.content as JsonObject
    if (answer.ok) return this.#forward({ ok: true, result: left }, textOf(left), receipt)
    return this.#forward({ ok: false, error: { ...answer.error, ...left } }, '', receipt)
  }

  #forward(answer: UpstreamAnswer, text: string, receipt: string): OrderOutcome {
    if (answer.ok) return { kind: 'done', result: answer.result, text, receipt }
    return { kind: 'error', error: answer.error, receipt }
  }
}

/** The part of an answer that is hashed. */
function payloadOf(answer: UpstreamAnswer): JsonObject {
  return answer.ok ? answer.result : { ...answer.error }
}

/** The part of an answer that an agent would read. The code of an error belongs to the protocol. */
function contentOf(answer: UpstreamAnswer): JsonObject {
  if (answer.ok) return answer.result
  const { message, data } = answer.error
  return { message, ...(data !== undefined && { data }) }
}

/** Why a result is withheld: labels and finding codes, never content. */
function withheldFor({ labels, findings }: Inspection): string {
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  return `the policy withholds the result (${found}). The call itself was done; do not repeat it`
}

const CHECK_FIRST = 'It is unknown whether the call took effect; check before you repeat it'
const WITHHELD_UNREADABLE =
  'the server sent a result that violates the protocol, so it is withheld. The call itself was done; do not repeat it'
const WHY: Readonly<Record<UpstreamFault['code'], string>> = {
  UNREACHABLE: 'the server cannot be started or reached. Nothing was sent; try again later',
  LOST: `the connection to the server was lost. ${CHECK_FIRST}`,
  GARBLED: `the answer of the server violates the protocol. ${CHECK_FIRST}`,
  CANCELLED: `the call was cancelled. ${CHECK_FIRST}`,
  SILENT: `the server did not answer in time. ${CHECK_FIRST}`,
}

function whyOf(fault: unknown): string {
  return fault instanceof UpstreamFault ? WHY[fault.code] : `the call failed. ${CHECK_FIRST}`
}
