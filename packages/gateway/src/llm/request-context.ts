// One request at the door: who sent it, for which session, and what the ledger has of it.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Decided, Kernel, Source, ToolCall } from '@tollgate/kernel'
import type { KnownCaller } from '../tokens.ts'
import type { Ruling } from './dialect.ts'

/** One request at the door. */
export interface RequestContext {
  readonly kernel: Kernel
  readonly caller: KnownCaller
  /** What the caller says its session, approval and delegation are. */
  readonly claims: Claims
  readonly tally: DecisionTally
  /** What was said to the model before, for the calls that it proposes. Filled while the request is read. */
  readonly sources: Source[]
  /** What is to be noted once a decision has taken in the sources. */
  readonly onDecided: (() => void)[]
  /** What was ruled for the same request, if it comes again; undefined if it has no key. */
  readonly rulings: Map<string, Ruling> | undefined
}

/** What a request says of itself, besides its words. */
export interface Claims {
  readonly session: string | undefined
  readonly approval: string | undefined
  readonly delegation: string | undefined
}

/** The decisions of one request. */
export interface DecisionTally {
  readonly receipts: string[]
  ALLOW: number
  DENY: number
  ESCALATE: number
}

/** Nothing was decided yet. */
export function createTally(): DecisionTally {
  return { receipts: [], ALLOW: 0, DENY: 0, ESCALATE: 0 }
}

/** Takes note of a decision. */
export function count({ tally, onDecided }: RequestContext, { verdict, reason, receipt }: Decided): void {
  tally[verdict]++
  if (receipt === undefined) return
  tally.receipts.push(receipt)
  // What could not be read has not taken anything in.
  if (reason !== 'AMBIGUOUS_INPUT') for (const note of onDecided.splice(0)) note()
}

/** Who calls, and in which session, as the kernel keeps it. */
export function ownerOf({ caller: { identity }, claims }: RequestContext): {
  readonly tenant: string
  readonly principal: string
  readonly session: string
} {
  const { tenant, principal } = identity
  return { tenant, principal, session: claims.session ?? principal }
}

/** The part of a call that is the same for all calls of a request. */
export function callOf(context: RequestContext, assurance: 'advised' | 'enforced'): Omit<ToolCall, 'tool'> {
  const { caller, claims, sources } = context
  const { tenant, principal } = caller.identity
  const { session, approval, delegation } = claims
  return {
    caller: { tenant, principal },
    door: 'llm',
    assurance,
    ...(session !== undefined && { session_id: session }),
    ...(approval !== undefined && { approval }),
    ...(delegation !== undefined && { delegation }),
    ...(sources.length > 0 && { sources }),
  }
}

/** The arguments of a call as the kernel takes them. */
export function argumentsOf(args: string | JsonObject): { raw: string } | { args: Json } {
  return typeof args === 'string' ? { raw: args } : { args }
}
