// Room: tools for policy authors: the review of a policy, the replay of history, the explanation of a call and the proposal of a
// scope. No live call passes through here, and the pipeline in `road/` does not import it.
//
// Reviews a policy: reports what is valid but probably not intended.

import type { Policy } from '../../policy/parse/parse.ts'
import { createJudge } from './conditions.ts'
import { crossingNotes } from './crossing.ts'
import { egressNotes } from './egress.ts'
import { createGrantReview } from './grants.ts'
import { coveredNotes, principalNotes, toolNotes, unusedNotes } from './names.ts'
import { Budget, Spent } from './patterns.ts'
import { prefixNotes } from './prefixes.ts'
import { createTracker } from './reach.ts'
import { placed, type RemarkNote, type Remark } from './remark.ts'
import { hostNotes, labelNotes } from './settings.ts'

/** Maximum comparisons of one part of a review: a fraction of a second. */
const MAX_COMPARISONS = 1_000_000

/**
 * Returns remarks on a policy in the order of its text. `known` are the names of tools that servers offer or people have pinned.
 *
 * It reports only certain facts: an unreachable rule never decides, and a condition that is never true never is. It may miss some.
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
    (budget) => egressNotes(policy, budget),
  ]
  return placed(parts.flatMap(collect), policy.text)
}

/** Returns the notes of one part; if it ran out of budget, those up to there with a note about it. */
function collect(part: (budget: Budget) => Iterable<RemarkNote>): readonly RemarkNote[] {
  const notes: RemarkNote[] = []
  try {
    for (const note of part(new Budget(MAX_COMPARISONS))) notes.push(note)
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
    const { status, notes } = judge(rule, place)
    yield* notes
    if (status === 'never') continue
    const unconditional = rule.when === undefined || status === 'always'
    // Before the rule itself counts.
    const granted = grants.look(rule, place, unconditional, (tool) => tracker.isDecided(tool))
    const reach = tracker.look(rule, place, unconditional)
    yield* reach.notes
    if (!reach.isDead) yield* granted
  }
}
