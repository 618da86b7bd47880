// Compares a recorded decision with its replay.

import type { Browser, Decision, Verdict } from '@tollgate/evidence'

/** Returns whether it was denied only because too many requests waited, some of which are unknown to the replay. */
export function wasOneTooMany({ reason_code, rung }: Decision, verdict: Verdict): boolean {
  return reason_code === 'RATE_EXCEEDED' && rung !== 'temporal' && verdict === 'ESCALATE'
}

const DECISION_FIELDS = ['verdict', 'reason_code', 'rung', 'rule'] as const
// Salts are not kept, so salted hashes cannot be recomputed.
const BY_SALT: ReadonlySet<string> = new Set(['args_hash', 'evidence'])

/** Returns the fields of the decision itself that differ. */
export function decidedOtherwise(recorded: Decision, made: Decision): readonly string[] {
  return DECISION_FIELDS.filter((field) => recorded[field] !== made[field])
}

/** Returns the fields of the receipt that differ, except salted ones. */
export function differencesIn(recorded: Decision, made: Decision): readonly string[] {
  const salted = recorded.commit === 'salted'
  return fieldsThatDiffer(recorded, made).filter((field) => !salted || !BY_SALT.has(field))
}

function fieldsThatDiffer(recorded: Decision, made: Decision): readonly string[] {
  // Safe cast: both are plain data.
  const [was, is] = [recorded, asThen(recorded, made)] as unknown as readonly [ReceiptFields, ReceiptFields]
  const differing = Object.keys(was).filter((field) => !isSame(was[field], is[field]))
  const added = Object.keys(is).filter((field) => was[field] === undefined && is[field] !== undefined)
  return [...differing, ...added]
}

const SINCE: ReadonlySet<string> = new Set(['page_host', 'seen_hash', 'approved_hash'])

/** Returns the decision without the page members that version 0.1.0 did not write, if the recorded one lacks them. */
function asThen(recorded: Decision, made: Decision): Decision {
  if (!recorded.browser || !made.browser || recorded.browser.seen_hash !== undefined) return made
  const known = Object.entries(made.browser).filter(([name]) => !SINCE.has(name))
  // Safe cast: the removed members are optional.
  return { ...made, browser: Object.fromEntries(known) as unknown as Browser }
}

type ReceiptFields = Readonly<Record<string, unknown>>

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  // Safe cast: both are objects or lists, whose members are their indexes.
  const [was, is] = [a, b] as unknown as readonly [ReceiptFields, ReceiptFields]
  const names = Object.keys(was)
  return names.length === Object.keys(is).length && names.every((name) => isSame(was[name], is[name]))
}
