// Runs calls under two policies: recorded calls with the state of their session, generated calls each alone.

import type { Json } from '@tollgate/evidence'
import type { Intent } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import {
  createReplay,
  tryCall,
  type JudgedAgain,
  type Replay,
  type TraceEntry,
} from '@tollgate/kernel/workbench'
import { createComparison, type Comparison, type Outcome, type RecordedExample } from './compare.ts'
import { generateCalls } from './generate/calls.ts'
import { callOf, caseOf, type Draft } from './generate/draft.ts'
import { objectorsOf } from './objectors.ts'
import { isObject } from './generate/shape.ts'
import { createWitness, type Witness } from './untried.ts'

/** Where results are collected. */
export interface Findings {
  readonly comparison: Comparison
  readonly witness: Pick<Witness, 'see'>
}

export function createFindings(a: Policy, b: Policy): { comparison: Comparison; witness: Witness } {
  return { comparison: createComparison(), witness: createWitness(a, b) }
}

/** Tries generated calls, one per iteration. Yields the number of tried calls. */
export function* compareGenerated(
  a: Policy,
  b: Policy,
  most: number,
  findings: Findings,
  seeds: readonly Draft[] = [],
): Iterable<number> {
  let tried = 0
  for (const draft of generateCalls(a, b, most, seeds)) {
    tryUnderBoth(a, b, draft, 'generated', findings)
    yield ++tried
  }
}

/** Tries the calls of case files, each alone. */
export function compareCases(a: Policy, b: Policy, drafts: readonly Draft[], findings: Findings): void {
  for (const draft of drafts) tryUnderBoth(a, b, draft, 'cases', findings)
}

function tryUnderBoth(
  a: Policy,
  b: Policy,
  draft: Draft,
  source: 'cases' | 'generated',
  { comparison, witness }: Findings,
): void {
  const call = callOf(draft)
  const observed = draft.posted === true ? 'sentinel' : 'agent'
  const [before, after] = [a, b].map((policy) => tryCall(policy, call, draft.time, observed))
  if (!before || !after) return
  const [from, to] = [before, after].map(({ judgement: { verdict, rung, reason, rule } }) => ({
    verdict,
    rung,
    reason,
    rule: rule?.id,
  }))
  if (!from || !to) return
  witness.see({ tool: draft.tool, from, to })
  comparison.add({
    from,
    to,
    source,
    objectors: () => objectorsOf(before),
    example: () => ({ call: caseOf(draft), at: new Date(draft.time).toISOString(), tenant: draft.tenant }),
  })
}

/** The recorded calls under both policies. */
interface Recorded {
  /** Adds the next ledger entry. */
  take(entry: TraceEntry): void
  /** The number of calls that were decided under both policies. */
  readonly calls: number
  /** Calls that could not be decided, by reason. */
  readonly skipped: ReadonlyMap<string, number>
}

interface RecordedOptions {
  readonly a: Policy
  readonly b: Policy
  readonly texts: ReadonlyMap<string, string>
  /** Whether examples contain argument values. */
  readonly values: boolean
}

/** Starts a comparison. The entries of a ledger must follow in order. */
export function compareRecorded(
  { a, b, texts, values }: RecordedOptions,
  { comparison, witness }: Findings,
): Recorded {
  const before = createReplay({ texts, policy: a })
  const after = createReplay({ texts, policy: b })
  const skipped = new Map<string, number>()
  let calls = 0
  return {
    get calls() {
      return calls
    },
    skipped,
    take(entry) {
      const now = after.take(entry)
      // Objections are computed on the state before the call.
      const objectors = now?.judged?.verdict === 'ALLOW' ? lookedAt(before, entry) : []
      const then = before.take(entry)
      if (!now || !then) return
      if (!now.judged || !then.judged || !now.intent) {
        const why = now.skipped ?? then.skipped ?? 'it could not be replayed'
        skipped.set(why, (skipped.get(why) ?? 0) + 1)
        return
      }
      calls++
      const { intent } = now
      const [from, to] = [outcomeOf(then.judged), outcomeOf(now.judged)]
      witness.see({ tool: intent.tool, from, to })
      comparison.add({
        from,
        to,
        source: 'recorded',
        objectors: () => objectors,
        example: () => exampleOf(now.id, now.decision.time, intent, values),
      })
    },
  }
}

function lookedAt(replay: Replay, entry: TraceEntry): ReturnType<typeof objectorsOf> {
  const looked = replay.look(entry)
  return looked && looked.judgement.verdict !== 'ALLOW' ? objectorsOf(looked) : []
}

function outcomeOf({ verdict, rung, reason, rule }: JudgedAgain): Outcome {
  return { verdict, rung, reason, rule }
}

function exampleOf(receipt: string, at: string, intent: Intent, values: boolean): RecordedExample {
  const { principal = '(nobody)', tool, args } = intent
  return { receipt, at, principal, tool, arguments: namesIn(args), ...(values && { args }) }
}

const MAX_NAMES = 20

function namesIn(args: Json): readonly string[] {
  return isObject(args) ? Object.keys(args).slice(0, MAX_NAMES) : []
}
