// What a recorded decision and the one that was made again have in common, and what not.

import type { Browser, Decision, Verdict } from '@tollgate/evidence'

/** Whether it was denied only because too many requests waited, some of which are not known here. */
export function wasOneTooMany({ reason_code, rung }: Decision, verdict: Verdict): boolean {
  return reason_code === 'RATE_EXCEEDED' && rung !== 'temporal' && verdict === 'ESCALATE'
}

const WHAT_WAS_DECIDED = ['verdict', 'reason_code', 'rung', 'rule'] as const
// Salts are not kept, so that hashes under them cannot be made again.
const BY_SALT: ReadonlySet<string> = new Set(['args_hash', 'evidence'])

/** Fields that say what was decided, and are different. */
export function decidedOtherwise(recorded: Decision, made: Decision): readonly string[] {
  return WHAT_WAS_DECIDED.filter((field) => recorded[field] !== made[field])
}

/** Fields of the receipt that are different, but for those under a salt. */
export function differencesIn(recorded: Decision, made: Decision): readonly string[] {
  const salted = recorded.commit === 'salted'
  return fieldsThatDiffer(recorded, made).filter((field) => !salted || !BY_SALT.has(field))
}

function fieldsThatDiffer(recorded: Decision, made: Decision): readonly string[] {
  // Sound: both are plain data.
  const [was, is] = [recorded, asThen(recorded, made)] as unknown as readonly [ReceiptFields, ReceiptFields]
  const differing = Object.keys(was).filter((field) => !isSame(was[field], is[field]))
  const added = Object.keys(is).filter((field) => was[field] === undefined && is[field] !== undefined)
  return [...differing, ...added]
}

const SINCE: ReadonlySet<string> = new Set(['page_host', 'seen_hash', 'approved_hash'])

/** The decision without what version 0.1.0 did not write of a page, where the recorded one does not have it. */
function asThen(recorded: Decision, made: Decision): Decision {
  if (!recorded.browser || !made.browser || recorded.browser.seen_hash !== undefined) return made
  const known = Object.entries(made.browser).filter(([name]) => !SINCE.has(name))
  // Sound: what is left out may be left out of it.
  return { ...made, browser: Object.fromEntries(known) as unknown as Browser }
}

type ReceiptFields = Readonly<Record<string, unknown>>

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  // Sound: both are objects, or lists, whose members are their indexes.
  const [was, is] = [a, b] as unknown as readonly [ReceiptFields, ReceiptFields]
  const names = Object.keys(was)
  return names.length === Object.keys(is).length && names.every((name) => isSame(was[name], is[name]))
}
