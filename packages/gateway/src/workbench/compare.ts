// What changes between two policies, by the calls that show it: in groups, what becomes looser first.

import type { Json, JsonObject, ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Objector } from './objectors.ts'

/** What was decided about a call. */
export interface Outcome {
  readonly verdict: Verdict
  readonly rung: LadderStep
  readonly reason: ReasonCode
  readonly rule: string | undefined
}

/** A call that shows a change. */
export type Example = RecordedExample | GeneratedExample

/** A call of the ledger. */
export interface RecordedExample {
  readonly receipt: string
  readonly at: string
  readonly principal: string
  readonly tool: string
  /** Names of its arguments. */
  readonly arguments: readonly string[]
  /** The arguments themselves, if they were asked for. */
  readonly args?: Json
}

/** A call that was made up. */
interface GeneratedExample {
  /** As a file of cases has it. */
  readonly call: JsonObject
  readonly at: string
  readonly tenant: string
}

/** How a verdict changes: the looser the change, the earlier it stands. */
export const CHANGES = [
  'DENY→ALLOW',
  'ESCALATE→ALLOW',
  'DENY→ESCALATE',
  'ALLOW→DENY',
  'ALLOW→ESCALATE',
  'ESCALATE→DENY',
  'same verdict',
] as const

/** How a verdict changes. */
type Change = (typeof CHANGES)[number]

/** Changes that have to be accepted by name. */
export const LOOSENING: readonly Change[] = ['DENY→ALLOW', 'ESCALATE→ALLOW']

/** Calls that change in the same way. */
export interface ChangeGroup {
  readonly change: Change
  readonly from: Outcome
  readonly to: Outcome
  /** Names that have to be accepted, all of them; none where nothing has to be. */
  readonly needs: readonly string[]
  readonly accepted: boolean
  readonly recorded: number
  readonly cases: number
  readonly generated: number
  readonly examples: readonly Example[]
}

/** One call under both policies. */
export interface Pair {
  readonly from: Outcome
  readonly to: Outcome
  readonly source: 'recorded' | 'cases' | 'generated'
  /** Who objected under the first policy; asked only if the call now passes. */
  objectors(): readonly Objector[]
  example(): Example
}

/** Calls under both policies, being compared. */
export interface Comparison {
  add(pair: Pair): void
  /** All groups in their order, judged by the names that were accepted. */
  groups(accepted: ReadonlySet<string>): readonly ChangeGroup[]
}

const MAX_EXAMPLES = 3

interface OpenGroup {
  readonly pair: Pair
  readonly needs: readonly string[]
  recorded: number
  cases: number
  generated: number
  readonly recordedExamples: Example[]
  readonly caseExamples: Example[]
  readonly generatedExamples: Example[]
}

/** A comparison that has seen no call yet. */
export function createComparison(): Comparison {
  const open = new Map<string, OpenGroup>()
  return {
    add(pair) {
      if (isSame(pair.from, pair.to)) return
      const needs = needsOf(pair)
      const key = JSON.stringify([partsOf(pair.from), partsOf(pair.to), needs])
      const group = open.get(key) ?? {
        pair,
        needs,
        ...NEW_COUNTS,
        recordedExamples: [],
        caseExamples: [],
        generatedExamples: [],
      }
      open.set(key, group)
      group[pair.source]++
      const examples = pair.source === 'cases' ? group.caseExamples : group.recordedExamples
      if (pair.source === 'generated') keepShortest(group.generatedExamples, pair.example())
      else if (examples.length < MAX_EXAMPLES) examples.push(pair.example())
    },
    groups: (accepted) => [...open.values()].map((each) => closed(each, accepted)).sort(compareGroups),
  }
}

/** Of what is made up, the plainest says most. */
function keepShortest(examples: Example[], example: Example): void {
  examples.push(example)
  examples.sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
  examples.splice(MAX_EXAMPLES)
}

const NEW_COUNTS = { recorded: 0, cases: 0, generated: 0 }

function partsOf({ verdict, rung, reason, rule }: Outcome): readonly (string | null)[] {
  return [verdict, rung, reason, rule ?? null]
}

function isSame(a: Outcome, b: Outcome): boolean {
  return a.verdict === b.verdict && a.rung === b.rung && a.reason === b.reason && a.rule === b.rule
}

/** How a verdict changes from one to another. */
export function changeOf(from: Verdict, to: Verdict): Change {
  return CHANGES.find((each) => each === `${from}→${to}`) ?? 'same verdict'
}

/**
 * What has to be accepted before a call may pass that did not: the rule that now allows it, if rules did not before, the rule
 * that denied it or asked and no longer does, and each rung that no longer objects. To accept one of them is not to accept
 * another.
 */
function needsOf(pair: Pair): readonly string[] {
  const { from, to } = pair
  if (!LOOSENING.includes(changeOf(from.verdict, to.verdict))) return []
  const all: readonly Objector[] = [{ rung: from.rung, rule: from.rule }, ...pair.objectors()]
  const rungs = new Set(all.map(({ rung }) => rung))
  const gone = new Set(
    all.flatMap(({ rule }) => (rule === undefined || rule === to.rule ? [] : [`gone:${rule}`])),
  )
  const rule = to.rule ?? 'rung:policy'
  return [
    ...(rungs.delete('policy') ? [rule] : []),
    ...[...gone].sort(),
    ...[...rungs].sort().map((rung) => `rung:${rung}`),
  ]
}

function closed({ pair, needs, ...counts }: OpenGroup, accepted: ReadonlySet<string>): ChangeGroup {
  const { recorded, cases, generated, recordedExamples, caseExamples, generatedExamples } = counts
  return {
    change: changeOf(pair.from.verdict, pair.to.verdict),
    from: pair.from,
    to: pair.to,
    needs,
    accepted: needs.every((name) => accepted.has(name)),
    recorded,
    cases,
    generated,
    // What has happened tells more than what could.
    examples: [...recordedExamples, ...caseExamples, ...generatedExamples].slice(0, MAX_EXAMPLES),
  }
}

function compareGroups(a: ChangeGroup, b: ChangeGroup): number {
  return (
    CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change) ||
    b.recorded - a.recorded ||
    b.cases - a.cases ||
    b.generated - a.generated ||
    compareTexts(JSON.stringify([a.from, a.to, a.needs]), JSON.stringify([b.from, b.to, b.needs]))
  )
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

type Needing = Pick<ChangeGroup, 'needs'>

/** Names that still have to be accepted. */
export function missingIn(all: readonly Needing[], accepted: ReadonlySet<string>): readonly string[] {
  return [...new Set(all.flatMap(({ needs }) => needs.filter((name) => !accepted.has(name))))].sort()
}

/** Names that were accepted and that nothing needs. */
export function staleIn(all: readonly Needing[], accepted: ReadonlySet<string>): readonly string[] {
  const needed = new Set(all.flatMap(({ needs }) => needs))
  return [...accepted].filter((name) => !needed.has(name)).sort()
}

/** An outcome in words. */
export function outcomeText({ verdict, rung, reason, rule }: Outcome): string {
  if (reason === 'NO_RULE_MATCHED') return `${verdict}, no rule matched`
  if (rung === 'policy' && rule !== undefined) {
    return reason === 'POLICY_EVALUATION_ERROR'
      ? `${verdict}, the condition of rule ${rule} failed`
      : `${verdict} by rule ${rule}`
  }
  return `${verdict} at rung ${rung} (${reason})`
}
