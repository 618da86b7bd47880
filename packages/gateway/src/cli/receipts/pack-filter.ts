// Selects receipts of a pack: by call, kind, time and text.

import type { Receipt } from '@tollgate/evidence'
import { parsePeriod, type Period } from '../program/when.ts'
import type { ShownEntry } from './describe.ts'
import type { DecisionEntry } from './pack-calls.ts'

/** The filter options of `tollgate pack`. */
export interface PackFilterOptions {
  readonly kind?: string
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: string
  readonly session?: string
  readonly decision?: string
  readonly since?: string
  readonly until?: string
}

/** Whether a receipt is selected. `call` is the decision that it belongs to. */
export type Selects = (entry: ShownEntry, call: DecisionEntry | undefined) => boolean

/** Returns the filter for the options and a text. All of them must match. @throws UsageError for a wrong time. */
export function packFilter(options: PackFilterOptions, text?: string): Selects {
  const period = parsePeriod(options.since, options.until)
  const wanted = text?.toLowerCase()
  return (entry, call) =>
    (options.kind === undefined || entry.receipt.kind === options.kind) &&
    isDuring(entry.receipt, period) &&
    isOfDecision(entry, options.decision) &&
    isOfCall(call?.receipt ?? entry.receipt, options) &&
    (wanted === undefined || mentions([entry.id, entry.receipt], wanted))
}

function isDuring({ time }: Receipt, { since, until }: Period): boolean {
  const at = Date.parse(time)
  return (since === undefined || at >= since) && (until === undefined || at < until)
}

function isOfDecision({ id, receipt }: ShownEntry, decision: string | undefined): boolean {
  if (decision === undefined) return true
  return id.startsWith(decision) || ('decision' in receipt && receipt.decision.startsWith(decision))
}

/** Effects and approvals have the principal, tool, session and verdict of their decision. */
function isOfCall(receipt: Receipt, { principal, tool, verdict, session }: PackFilterOptions): boolean {
  if (principal !== undefined && !('principal' in receipt && receipt.principal === principal)) return false
  if (tool !== undefined && !('tool' in receipt && receipt.tool === tool)) return false
  if (verdict !== undefined && !('verdict' in receipt && receipt.verdict === verdict)) return false
  return session === undefined || sessionOf(receipt) === session
}

function sessionOf(receipt: Receipt): string | undefined {
  if (!('session' in receipt)) return undefined
  return typeof receipt.session === 'string' ? receipt.session : receipt.session.id
}

/** Whether a value has the text in it, in lower case. Names of fields do not count, or most words would match everything. */
function mentions(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(text)
  if (typeof value === 'number') return String(value) === text
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((each) => mentions(each, text))
  )
}
