// The context of one request at the door: its sender, its session, and its decisions with their summary.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Decided, Kernel, Source, ToolCall } from '@tollgate/kernel'
import type { AnswerWait } from '../answer-wait.ts'
import { kernelCaller, type KnownCaller } from '../tokens.ts'
import type { Ruling } from './dialect.ts'

export interface RequestContext {
  readonly kernel: Kernel
  readonly caller: KnownCaller
  /** Session, approval and delegation, as the caller states them. */
  readonly claims: Claims
  readonly tally: DecisionTally
  /** Earlier text of the conversation, for the calls that the model proposes. Filled while the request is read. */
  readonly sources: Source[]
  /** Called after a decision that has taken the sources in. */
  readonly onDecided: (() => void)[]
  /** Earlier rulings on the same request; undefined if it has no idempotency key. */
  readonly rulings: Map<string, Ruling> | undefined
  /** Undefined if the request does not wait for approvals. */
  readonly wait?: AnswerWait | undefined
}

/** Statements of a request about itself. */
export interface Claims {
  readonly session: string | undefined
  readonly approval: string | undefined
  readonly delegation: string | undefined
  /** The parent span. */
  readonly traceparent?: string | undefined
}

export interface DecisionTally {
  readonly receipts: string[]
  ALLOW: number
  DENY: number
  ESCALATE: number
  /** How many of the allowed calls only observe mode allowed. */
  observed: number
  /** The names of tools that were removed from the request. */
  readonly removed: string[]
}

export function createTally(): DecisionTally {
  return { receipts: [], ALLOW: 0, DENY: 0, ESCALATE: 0, observed: 0, removed: [] }
}

/** Counts a decision. */
export function count({ tally, onDecided }: RequestContext, { verdict, reason, receipt }: Decided): void {
  tally[verdict]++
  if (reason === 'OBSERVE_MODE_ALLOWED') tally.observed++
  if (receipt === undefined) return
  tally.receipts.push(receipt)
  // An unreadable call has not taken the sources in.
  if (reason !== 'AMBIGUOUS_INPUT') for (const note of onDecided.splice(0)) note()
}

// Clients accept about 16 KB of headers. The comment at the end of a stream has all receipts.
const MAX_RECEIPTS = 100

/** The summary as headers. For a stream only the size is known when the headers are sent. */
export function summaryHeaders(tally: DecisionTally | undefined, size: number): Record<string, string> {
  return {
    ...(tally && {
      'tollgate-receipts': tally.receipts.slice(0, MAX_RECEIPTS).join(','),
      'tollgate-verdicts': verdictsOf(tally),
      ...(tally.observed > 0 && { 'tollgate-observed': String(tally.observed) }),
      ...removedHeader(tally),
    }),
    'tollgate-checkpoint-size': String(size),
  }
}

/** The tools that were removed from the request, as a header. They are known before the reply. */
export function removedHeader({ removed }: DecisionTally): Record<string, string> {
  return removed.length === 0 ? {} : { 'tollgate-removed': removed.join(',') }
}

/** The summary as a comment at the end of a stream. */
export function summaryComment(tally: DecisionTally, size: number): string {
  const receipts = tally.receipts.join(',')
  const observed = tally.observed > 0 ? ` observed=${tally.observed}` : ''
  const removed = tally.removed.length > 0 ? ` removed=${tally.removed.join(',')}` : ''
  return `: tollgate receipts=${receipts} ${verdictsOf(tally)} checkpoint-size=${size}${observed}${removed}\n\n`
}

function verdictsOf({ ALLOW, DENY, ESCALATE }: DecisionTally): string {
  return `allow=${ALLOW} deny=${DENY} escalate=${ESCALATE}`
}

/** The caller and its session, as the kernel stores them. */
export function ownerOf({ caller: { identity }, claims }: RequestContext): {
  readonly tenant: string
  readonly principal: string
  readonly session: string
} {
  const { tenant, principal } = identity
  return { tenant, principal, session: claims.session ?? principal }
}

/** The members that all calls of a request share. */
export function callOf(context: RequestContext, assurance: 'advised' | 'enforced'): Omit<ToolCall, 'tool'> {
  const { caller, claims, sources } = context
  const { session, approval, delegation, traceparent } = claims
  return {
    caller: kernelCaller(caller.identity),
    door: 'llm',
    assurance,
    ...(session !== undefined && { session_id: session }),
    ...(approval !== undefined && { approval }),
    ...(delegation !== undefined && { delegation }),
    ...(traceparent !== undefined && { traceparent }),
    ...(sources.length > 0 && { sources }),
  }
}

/** The arguments of a call, in the form that the kernel takes. */
export function argumentsOf(args: string | JsonObject): { raw: string } | { args: Json } {
  return typeof args === 'string' ? { raw: args } : { args }
}
