// Room: tools for those who write policies. It holds the review of a policy, the replay of history, the explanation of one call and the
// proposal of a scope. Nothing here is on the road of a live call, and nothing on the road imports it.
//
// The review of a policy: what is no mistake, and hardly what was meant.

import type { Policy } from '../../policy/parse/parse.ts'
import { createJudge } from './conditions.ts'
import { crossingNotes } from './crossing.ts'
import { createGrantReview } from './grants.ts'
import { coveredNotes, principalNotes, toolNotes, unusedNotes } from './names.ts'
import { Budget, Spent } from './patterns.ts'
import { prefixNotes } from './prefixes.ts'
import { createTracker } from './reach.ts'
import { placed, type RemarkNote, type Remark } from './remark.ts'
import { hostNotes, labelNotes } from './settings.ts'

/** Comparisons that one part of a review may make: a fraction of a second. */
const MOST_COMPARISONS = 1_000_000

/**
 * What is odd about a policy, in the order of its text. `known` are the names of tools that servers offer or people have
 * pinned.
 *
 * Only what is sure is said: a rule that is called unreachable never decides, a condition that is called never true never
 * is. What is not said may still be so.
 */
export function reviewPolicy(policy: Policy, known: readonly string[] = []): readonly Remark[] {
  const names = new Set([...policy.tools.flatMap(({ name }) => (name.exact ? [name.source] : [])), ...known])
  const parts: readonly ((budget: Budget) => Iterable<RemarkNote>)[] = [
    (budget) => ruleNotes(policy, budget),
    (budget) => crossingNotes(policy, [...names], budget),
    (budget) => toolNotes(policy, known, budget),
    (budget) => unusedNotes(policy, budget),
    (budget) => principalNotes(policy, budget),
    (budget) => coveredNotes(policy, budget),
    () => prefixNotes(policy),
    () => labelNotes(policy),
    () => hostNotes(policy),
  ]
  return placed(parts.flatMap(collect), policy.text)
}

/** The notes of one part; if it had to stop, those up to there, and that it stopped. */
function collect(part: (budget: Budget) => Iterable<RemarkNote>): readonly RemarkNote[] {
  const notes: RemarkNote[] = []
  try {
    for (const note of part(new Budget(MOST_COMPARISONS))) notes.push(note)
  } catch (fault) {
    if (!(fault instanceof Spent)) throw fault
    notes.push(CUT)
  }
  return notes
}

const CUT: RemarkNote = {
  path: [],
  code: 'REVIEW_CUT',
  message: 'the policy has too many patterns to compare all of them; some remarks may be missing',
  remedy: 'use fewer patterns with `*`, or split the policy',
}

function* ruleNotes(policy: Policy, budget: Budget): Generator<RemarkNote> {
  const judge = createJudge(policy, budget)
  const tracker = createTracker(budget)
  const grants = createGrantReview(policy, budget)
  for (const [place, rule] of policy.rules.entries()) {
    const { standing, notes } = judge(rule, place)
    yield* notes
    if (standing === 'never') continue
    const unconditional = rule.when === undefined || standing === 'always'
    // Asked before the rule itself counts.
    const granted = grants.look(rule, place, unconditional, (tool) => tracker.isDecided(tool))
    const reach = tracker.look(rule, place, unconditional)
    yield* reach.notes
    if (!reach.isDead) yield* granted
  }
}
