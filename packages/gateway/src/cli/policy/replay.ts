// `tollgate policy replay` decides recorded calls again. `tollgate policy trace` writes them to a file.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Policy } from '@tollgate/kernel/policy'
import { createReplay, type Replayed } from '@tollgate/kernel/workbench'
import { createComparison, outcomeText, type Comparison, type ChangeGroup } from '../../workbench/compare.ts'
import { traceLines, type Trace } from '../../workbench/trace.ts'
import type { DataOptions } from '../commands.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { moment, shown, table } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { policyIn } from './policy-file.ts'
import { HOW_TO_KEEP, withTrace } from './trace-source.ts'

interface ReplayOptions extends DataOptions {
  readonly trace?: string
  readonly policy?: string
}

interface ReplayTally {
  decided: number
  differing: number
  /** The first decision that differs. */
  first: Replayed | undefined
  /** Numbers of decisions that could not be replayed, by reason. */
  readonly skipped: Map<string, number>
}

/** Decides the recorded calls again. Returns 1 if a decision differs. */
export function runReplay(terminal: Terminal, options: ReplayOptions): Promise<number> {
  const policy = options.policy === undefined ? undefined : policyIn(options.policy)
  return withTrace(terminal, options, async (trace) => {
    const comparison = createComparison()
    const outcome = await replayAll(trace, policy, comparison)
    if (outcome.decided === 0) throw nothingKept(outcome)
    const groups = policy ? comparison.groups(new Set()) : []
    terminal.data(reportOf(outcome, groups), () => textOf(outcome, groups, policy))
    printSkipped(terminal, outcome)
    return outcome.differing === 0 ? 0 : 1
  })
}

async function replayAll(
  trace: Trace,
  policy: Policy | undefined,
  comparison: Comparison,
): Promise<ReplayTally> {
  const replay = createReplay({ texts: trace.texts, ...(policy && { policy }) })
  const outcome: ReplayTally = { decided: 0, differing: 0, first: undefined, skipped: new Map() }
  for await (const page of trace.pages) {
    for (const entry of page) {
      const replayed = replay.take(entry)
      if (replayed) count(outcome, replayed, comparison)
    }
  }
  return outcome
}

function count(outcome: ReplayTally, replayed: Replayed, comparison: Comparison): void {
  const { skipped, differs } = replayed
  if (skipped !== undefined) {
    outcome.skipped.set(skipped, (outcome.skipped.get(skipped) ?? 0) + 1)
    return
  }
  outcome.decided++
  if (differs.length === 0) return
  outcome.differing++
  outcome.first ??= replayed
  compare(replayed, comparison)
}

function compare({ id, decision, intent, judged }: Replayed, comparison: Comparison): void {
  if (!judged) return
  const { verdict, rung, reason_code: reason, rule, time: at, principal, tool } = decision
  comparison.add({
    from: { verdict, rung, reason, rule },
    to: judged,
    source: 'recorded',
    objectors: () => [],
    example: () => ({ receipt: id, at, principal, tool, arguments: namesIn(intent?.args) }),
  })
}

function namesIn(args: unknown): readonly string[] {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.keys(args) : []
}

function nothingKept({ skipped }: ReplayTally): CommandError {
  const why = [...skipped].map(([reason, times]) => `${times}: ${reason}`)
  return new CommandError('no recorded call can be replayed', ...why, ...HOW_TO_KEEP)
}

function reportOf(outcome: ReplayTally, groups: readonly ChangeGroup[]): object {
  const { decided, differing, first, skipped } = outcome
  return {
    decided,
    differing,
    skipped: Object.fromEntries(skipped),
    first: first ? { receipt: first.id, differs: first.differs, was: wasOf(first), is: first.judged } : null,
    groups: groups.map(({ from, to, recorded, examples }) => ({ from, to, calls: recorded, examples })),
  }
}

function wasOf({ decision: { verdict, reason_code, rung, rule } }: Replayed): object {
  return { verdict, reason: reason_code, rung, rule }
}

function textOf(
  { decided, differing, first }: ReplayTally,
  groups: readonly ChangeGroup[],
  policy?: Policy,
): string {
  if (!first) {
    const under = policy ? `the same under \`${policy.name}\`` : 'identical to the ledger'
    return `Replayed ${decided} decisions: all ${under}.`
  }
  if (!policy) return firstText(first, decided, differing)
  const rows = groups.map(({ from, to, recorded, examples }) => [
    String(recorded),
    outcomeText(from),
    outcomeText(to),
    examples.map((each) => ('receipt' in each ? each.receipt.slice(0, 8) : '')).join(' '),
  ])
  const head = `Replayed ${decided} decisions: ${differing} differ under \`${policy.name}\`.`
  return `${head}\n\n${table(['CALLS', 'WAS', 'IS', 'RECEIPTS'], rows)}`
}

function firstText({ id, decision, judged, differs }: Replayed, decided: number, differing: number): string {
  const { time, principal, tool, verdict, rung, reason_code: reason, rule } = decision
  return [
    `Replayed ${decided} decisions: ${differing} differ from the ledger. The first one:`,
    '',
    `  ${id}  ${moment(time)}  ${shown(principal)}  ${shown(tool)}`,
    `  was      ${outcomeText({ verdict, rung, reason, rule })}`,
    `  is       ${judged ? outcomeText(judged) : 'not decided'}`,
    `  differs  ${differs.join(', ')}`,
  ].join('\n')
}

function printSkipped(terminal: Terminal, { skipped }: ReplayTally): void {
  for (const [why, times] of skipped) terminal.say(`skipped ${times} decisions: ${why}`)
}

interface TraceCommandOptions extends DataOptions {
  readonly output?: string
}

/** Writes the recorded calls to a new file, or to standard output. */
export function runTrace(terminal: Terminal, options: TraceCommandOptions): Promise<number> {
  const { output } = options
  return withTrace(terminal, options, async (trace) => {
    let entries = 0
    const counted = { ...trace, pages: counting(trace, (more) => (entries += more)) }
    if (output === undefined) for await (const lines of traceLines(counted)) process.stdout.write(lines)
    else await writeNew(output, traceLines(counted))
    terminal.say(`wrote ${entries} entries; the file contains arguments of calls, so share it with care`)
    return 0
  })
}

async function* counting({ pages }: Trace, count: (more: number) => void): AsyncGenerator<TracePage> {
  for await (const page of pages) {
    count(page.length)
    yield page
  }
}

type TracePage = Trace['pages'] extends AsyncIterable<infer P> ? P : never

/** Writes a new file. Removes it again if writing fails. */
async function writeNew(file: string, lines: AsyncIterable<string>): Promise<void> {
  const descriptor = openSync(file, 'wx', 0o600)
  const undo = (): void => rmSync(file, { force: true })
  const forget = onInterrupt(undo)
  try {
    for await (const text of lines) writeSync(descriptor, text)
  } catch (fault) {
    undo()
    throw fault
  } finally {
    forget()
    closeSync(descriptor)
  }
}
