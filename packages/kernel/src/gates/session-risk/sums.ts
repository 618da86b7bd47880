// Detects split payments: checks the sum of the parts against the rules.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import { costOf } from '../../policy/cost.ts'
import { firstMatch } from '../../policy/evaluate.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { subjectOf } from '../../policy/subject.ts'

/** Whether a rule escalates or denies the call if its amount includes the earlier payments (`before`, in thousandths). */
export function wouldAskAbout(before: number, intent: Intent, snapshot: Snapshot): boolean {
  const path = snapshot.tool?.declared?.cost
  const cost = costOf(path, intent.args)
  if (typeof path !== 'string' || cost === undefined) return false
  const args = withAmount(intent.args, path.split('.'), (before + cost) / 1000)
  if (args === undefined) return false
  const ruling = firstMatch(snapshot.policy, subjectOf({ ...intent, args }, snapshot))
  return ruling !== undefined && ruling.rule.action !== 'allow'
}

/** The arguments with another amount at a path; undefined if the path leads through a list or a scalar. */
function withAmount(args: Json, [name, ...rest]: readonly string[], amount: number): Json | undefined {
  if (name === undefined) return amount
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
  // Sound: what is neither a list nor a scalar is an object.
  const object = args as JsonObject
  const below = withAmount(object[name] ?? null, rest, amount)
  return below === undefined ? undefined : { ...object, [name]: below }
}
