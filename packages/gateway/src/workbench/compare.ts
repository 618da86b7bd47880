// Groups the calls that two policies decide differently, loosened calls first.

import type { Json, JsonObject, ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Objector } from './objectors.ts'

/** The decision on a call. */
export interface Outcome {
  readonly verdict: Verdict
  readonly rung: LadderStep
  readonly reason: ReasonCode
  readonly rule: string | undefined
}

/** A call that shows a change. */
export type Example = RecordedExample | GeneratedExample

/** A call from the ledger. */
export interface RecordedExample {
  readonly receipt: string
  readonly at: string
  readonly principal: string
  readonly tool: string
  /** Names of its arguments. */
  readonly arguments: readonly string[]
  /** The arguments, if requested. */
  readonly args?: Json
}

/** A generated call. */
interface GeneratedExample {
  /** In the form of a case file. */
  readonly call: JsonObject
  readonly at: string
  readonly tenant: string
}

/** The changes of a verdict, loosest first. */
export const CHANGES = [
  'DENY→ALLOW',
  'ESCALATE→ALLOW',
  'DENY→ESCALATE',
  'ALLOW→DENY',
  'ALLOW→ESCALATE',
  'ESCALATE→DENY',
  'same verdict',
] as const

type Change = (typeof CHANGES)[number]

/** Changes that must be accepted by name. */
export const LOOSENING: readonly Change[] = ['DENY→ALLOW', 'ESCALATE→ALLOW']

/** Calls that change in the same way. */
export interface ChangeGroup {
  readonly change: Change
  readonly from: Outcome
  readonly to: Outcome
  /** The names that must all be accepted; empty if nothing must be. */
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
  /** The objectors under the first policy. Called only if the call is now allowed. */
  objectors(): readonly Objector[]
  example(): Example
}

/** Collects calls under both policies. */
export interface Comparison {
  add(pair: Pair): void
  /** All groups in order, marked by the accepted names. */
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

/** Keeps the shortest generated examples, which are easiest to read. */
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

/** The change between two verdicts. */
export function changeOf(from: Verdict, to: Verdict): Change {
  return CHANGES.find((each) => each === `${from}→${to}`) ?? 'same verdict'
}

/**
 * The names to accept before a formerly blocked call may be allowed: the rule that now allows it, the rules that denied or
 * escalated it and no longer do, and each step that no longer objects. Each must be accepted separately.
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
    // Recorded calls first: they are more convincing than generated ones.
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

/** The names that still must be accepted. */
export function missingIn(all: readonly Needing[], accepted: ReadonlySet<string>): readonly string[] {
  return [...new Set(all.flatMap(({ needs }) => needs.filter((name) => !accepted.has(name))))].sort()
}

/** The accepted names that nothing needs. */
export function staleIn(all: readonly Needing[], accepted: ReadonlySet<string>): readonly string[] {
  const needed = new Set(all.flatMap(({ needs }) => needs))
  return [...accepted].filter((name) => !needed.has(name)).sort()
}

/** An outcome as text. */
export function outcomeText({ verdict, rung, reason, rule }: Outcome): string {
  if (reason === 'NO_RULE_MATCHED') return `${verdict}, no rule matched`
  if (reason === 'TOOL_NOT_DECLARED') return `${verdict}, the tool is not declared`
  if (rung === 'policy' && rule !== undefined) {
    return reason === 'POLICY_EVALUATION_ERROR'
      ? `${verdict}, the condition of rule ${rule} failed`
      : `${verdict} by rule ${rule}`
  }
  return `${verdict} at step ${rung} (${reason})`
}
