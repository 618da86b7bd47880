// Finds the compliance rules that apply to a call by its labels, tool, effect class and destinations.

import type { Intent } from '../../road/capture.ts'
import type { Target } from '../../destinations/destination.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { targetsOf } from '../../destinations/targets.ts'
import type { ComplianceRule, ComplianceSettings } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'

type Seen = Pick<Snapshot, 'policy' | 'effect' | 'tool' | 'labels' | 'destinations'>

/** The ids of the rules that apply to a call, strictest first. */
export function appliedIds(intent: Pick<Intent, 'tool'>, snapshot: Seen): readonly string[] {
  return appliedRules(intent, snapshot).map(({ id }) => id)
}

/** The rules that apply to a call, strictest first. */
export function appliedRules({ tool }: Pick<Intent, 'tool'>, snapshot: Seen): readonly ComplianceRule[] {
  const { compliance } = snapshot.policy.gates
  if (!compliance) return []
  const applied = compliance.rules.filter((rule) => {
    if (rule.tools.length > 0 && !rule.tools.some((name) => name.matches(tool))) return false
    if (rule.effects.length > 0 && !rule.effects.includes(snapshot.effect)) return false
    return carriesOne(rule, snapshot) && goesThere(rule, compliance, snapshot)
  })
  return applied.toSorted((a, b) => STRENGTH[b.then] - STRENGTH[a.then])
}

const STRENGTH: Readonly<Record<ComplianceRule['then'], number>> = { allow: 0, ask: 1, deny: 2 }

function carriesOne({ labels }: ComplianceRule, snapshot: Seen): boolean {
  if (labels.length === 0) return true
  const carried = snapshot.labels()
  return labels.some((label) => carried.includes(label))
}

function goesThere(
  { inside, outside }: ComplianceRule,
  settings: ComplianceSettings,
  snapshot: Seen,
): boolean {
  if (inside.length === 0 && outside.length === 0) return true
  const targets = targetsOf(snapshot)
  const some = (places: readonly string[], isIn: boolean): boolean =>
    places.length === 0 || targets.some((target) => liesIn(places, target, settings) === isIn)
  return some(inside, true) && some(outside, false)
}

/** A hostname without a jurisdiction, or one that cannot be read, is in none of the places. */
function liesIn(places: readonly string[], target: Target, { jurisdictions }: ComplianceSettings): boolean {
  return jurisdictions.some(
    ({ name, hosts }) => places.includes(name) && hosts.some((pattern) => matchesHost(pattern, target)),
  )
}
