// Lists the differences between two policies that may allow more but that no tried call shows. They must be accepted by name,
// because a missing example is no proof.

import type { LadderStep } from '@tollgate/evidence'
import type { Policy, Rule } from '@tollgate/kernel/policy'
import type { Outcome } from './compare.ts'
import { isNarrower, mayMeet, ruleText, rulesMeet } from './rule-changes.ts'
import { callSections, historySections, toolsThatDiffer, type Differing } from './settings.ts'

/** A difference that must be accepted because no call shows it. */
export interface Untried {
  /** The name to accept. */
  readonly name: string
  /** What is unknown. */
  readonly why: string
}

/** A call that was tried under both policies. */
interface Seen {
  readonly tool: string
  readonly from: Outcome
  readonly to: Outcome
}

/** Records the calls that are tried. */
export interface Witness {
  see(seen: Seen): void
  /** The differences that no call has shown, sorted by name. */
  untried(): readonly Untried[]
}

interface ShownParts {
  readonly rules: Set<string>
  /** `OLD NEW`: a call that moved from one rule to another. */
  readonly moves: Set<string>
  readonly rungs: Set<LadderStep>
  /** Tools with a call that changed although no rule about it has changed. */
  readonly tools: Set<string>
}

interface Suspect extends Untried {
  isShown(shown: ShownParts): boolean
}

const MAX_TOOLS = 100_000

export function createWitness(a: Policy, b: Policy): Witness {
  const shown: ShownParts = { rules: new Set(), moves: new Set(), rungs: new Set(), tools: new Set() }
  const changed = changedIds(a, b)
  const suspects = [
    ...ruleSuspects(a, b),
    ...moveSuspects(a, b),
    ...toolSuspects(a, b),
    ...callSections(a, b).map(sectionSuspect),
    ...historySections(a, b).map(settingSuspect),
  ]
  return {
    see({ tool, from, to }) {
      // Only calls that are now allowed, or no longer allowed, are informative.
      if ((from.verdict === 'ALLOW') === (to.verdict === 'ALLOW')) return
      for (const { rule, rung } of [from, to]) {
        if (rule !== undefined) shown.rules.add(rule)
        if (rung !== 'policy') shown.rungs.add(rung)
      }
      shown.moves.add(`${from.rule ?? ''} ${to.rule ?? ''}`)
      const isOfRules = [from.rule, to.rule].some((id) => id !== undefined && changed.has(id))
      if (isOfRules) return
      if (from.rung === 'policy' && to.rung === 'policy') shown.rungs.add('policy')
      if (shown.tools.size < MAX_TOOLS) shown.tools.add(tool)
    },
    untried: () => namedOnce(suspects.filter((suspect) => !suspect.isShown(shown))),
  }
}

function namedOnce(suspects: readonly Suspect[]): readonly Untried[] {
  const byName = new Map(suspects.toReversed().map(({ name, why }) => [name, { name, why }]))
  return [...byName.values()].sort((x, y) => (x.name < y.name ? -1 : 1))
}

function changedIds(a: Policy, b: Policy): ReadonlySet<string> {
  const [left, right] = [a, b].map(({ rules }) => new Map(rules.map((rule) => [rule.id, ruleText(rule)])))
  const ids = [...(left?.keys() ?? []), ...(right?.keys() ?? [])]
  return new Set(ids.filter((id) => left?.get(id) !== right?.get(id)))
}

/** Rules that are new, removed or changed, unless the change only restricts. */
function ruleSuspects(a: Policy, b: Policy): readonly Suspect[] {
  const [before, after] = [byId(a), byId(b)]
  const gone = a.rules.filter((rule) => !after.has(rule.id) && opensWhenGone(rule, b))
  const added = b.rules.filter(({ id, action }) => !before.has(id) && action === 'allow')
  const changed = b.rules.filter((rule) => {
    const old = before.get(rule.id)
    return old && ruleText(old) !== ruleText(rule) && !isNarrower(old, rule)
  })
  return [
    ...gone.map(({ id }) => ruleSuspect(id, `rule ${id} was removed, and no tried call shows the effect`)),
    ...added.map(({ id }) => ruleSuspect(id, `rule ${id} is new, and no tried call shows the effect`)),
    ...changed.map(({ id }) => ruleSuspect(id, `rule ${id} has changed, and no tried call shows the effect`)),
  ]
}

function byId({ rules }: Policy): ReadonlyMap<string, Rule> {
  return new Map(rules.map((rule) => [rule.id, rule]))
}

/** Without this rule, a later allow rule may be reached. */
function opensWhenGone(rule: Rule, { rules }: Policy): boolean {
  if (rule.action === 'allow' && !rule.when) return false
  return rules.some((other) => other.action === 'allow' && rulesMeet(rule, other))
}

function ruleSuspect(id: string, why: string): Suspect {
  return { name: `untried:${id}`, why, isShown: ({ rules }) => rules.has(id) }
}

// All pairs are compared up to this number. Beyond it, every moved rule is listed.
const MAX_PAIRS = 4_000_000

/** Allow rules that now precede a rule that may decide differently. */
function moveSuspects(a: Policy, b: Policy): readonly Suspect[] {
  const place = new Map(a.rules.map(({ id }, i) => [id, i]))
  const shared = b.rules.filter(({ id }) => place.has(id))
  const at = ({ id }: Rule): number => place.get(id) ?? 0
  if (shared.every((rule, i) => i === 0 || at(shared[i - 1] ?? rule) < at(rule))) return []
  const isTooMany = shared.length ** 2 > MAX_PAIRS
  return shared.flatMap((rule, i) => {
    if (rule.action !== 'allow') return []
    const behind = isTooMany
      ? shared.slice(i + 1, i + 2)
      : shared.slice(i + 1).filter((other) => at(other) < at(rule) && saysOtherwise(other, rule))
    return behind.map((other) => ({
      name: `untried:${rule.id}`,
      why: `rule ${rule.id} now comes before rule ${other.id}, and no tried call shows the effect`,
      isShown: ({ moves }: ShownParts) => moves.has(`${other.id} ${rule.id}`),
    }))
  })
}

function saysOtherwise(other: Rule, rule: Rule): boolean {
  return (other.action !== 'allow' || other.when !== undefined) && rulesMeet(other, rule)
}

function toolSuspects(a: Policy, b: Policy): readonly Suspect[] {
  const allowing = b.rules.filter(({ action }) => action === 'allow')
  return toolsThatDiffer(a, b)
    .filter((name) => allowing.some(({ tools }) => tools.some((each) => mayMeet(each, name))))
    .map((name) => ({
      name: 'untried:tools',
      why: `\`tools\` has changed for ${name.source}, and no tried call shows the effect`,
      isShown: ({ tools }) => [...tools].some((tool) => name.matches(tool)),
    }))
}

function sectionSuspect({ name, rungs }: Differing): Suspect {
  return {
    name: `untried:${name}`,
    why: `\`${name}\` has changed, and no tried call shows the effect`,
    isShown: (shown) => rungs.some((rung) => shown.rungs.has(rung)),
  }
}

function settingSuspect({ name }: Differing): Suspect {
  return {
    name: `settings:${name}`,
    why: `\`${name}\` has changed in a way that no single call can show`,
    isShown: () => false,
  }
}
