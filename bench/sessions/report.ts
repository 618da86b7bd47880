// The tables, as text and as an object.

import { ROWS, type Row } from './drive.ts'
import type { Evasion } from './evasions.ts'
import type { Evaded, Measured, Timing } from './measure.ts'
import type { Outcome } from './judge.ts'
import { FAMILIES } from './session.ts'
import { mcnemar, shareOf, type Paired, type Share } from '../statistics.ts'

/** How a set of attacks came out. */
export interface AttackRow {
  readonly name: string
  readonly caught: Share
  readonly prevented: Share
  readonly denied: number
  readonly escalated: number
  /** The median of calls from the first step to the stop. */
  readonly turns: number | undefined
  /** The median of calls that an evasion costs. */
  readonly extra?: number
}

/** How a set of benign sessions came out. */
export interface BenignRow {
  readonly name: string
  readonly denied: Share
  /** Denied, or held up by a question that nobody answers. */
  readonly troubled: Share
  /** Sessions in which the person of the story answered a question. */
  readonly answered: number
  /** Why sessions were stopped, by rung and reason. */
  readonly why: Readonly<Record<string, number>>
}

/** Everything that was measured. */
export interface Report {
  readonly split: string
  readonly families: Readonly<Record<Row, readonly AttackRow[]>>
  readonly benign: readonly BenignRow[]
  readonly paired: Readonly<Record<string, Paired>>
  readonly evasions: readonly AttackRow[]
  readonly timing: Timing
}

/** The report of a split. */
export function reportOf(
  split: string,
  measured: readonly Measured[],
  evasions: ReadonlyMap<Evasion, readonly Evaded[]>,
  timing: Timing,
): Report {
  const attacks = measured.filter(({ session }) => session.label === 'attack')
  const benign = measured.filter(({ session }) => session.label === 'benign')
  const outcomes = (row: Row, of: readonly Measured[]): readonly Outcome[] =>
    of.map((each) => each.outcomes[row])
  const rows = (row: Row): readonly AttackRow[] => [
    ...FAMILIES.map((family) =>
      attackRow(
        family,
        outcomes(
          row,
          attacks.filter(({ session }) => session.family === family),
        ),
      ),
    ).filter(({ caught }) => caught.of > 0),
    attackRow('all', outcomes(row, attacks)),
  ]
  const caught = (row: Row): boolean[] => outcomes(row, attacks).map(({ prevented }) => prevented)
  return {
    split,
    families: { stateless: rows('stateless'), 'session-risk': rows('session-risk'), both: rows('both') },
    benign: ROWS.map((row) => benignRow(row, outcomes(row, benign))),
    paired: {
      'stateless against both': mcnemar(caught('stateless'), caught('both')),
      'session-risk against both': mcnemar(caught('session-risk'), caught('both')),
      'stateless against session-risk': mcnemar(caught('stateless'), caught('session-risk')),
    },
    evasions: [...evasions].map(([name, evaded]) => ({
      ...attackRow(
        name,
        evaded.map(({ outcome }) => outcome),
      ),
      extra: middle(evaded.map(({ extra }) => extra)) ?? 0,
    })),
    timing,
  }
}

function attackRow(name: string, outcomes: readonly Outcome[]): AttackRow {
  const count = (holds: (outcome: Outcome) => boolean): number => outcomes.filter(holds).length
  return {
    name,
    caught: shareOf(
      count(({ stoppedAt }) => stoppedAt >= 0),
      outcomes.length,
    ),
    prevented: shareOf(
      count(({ prevented }) => prevented),
      outcomes.length,
    ),
    denied: count(({ stoppedBy }) => stoppedBy === 'DENY'),
    escalated: count(({ stoppedBy }) => stoppedBy === 'ESCALATE'),
    turns: middle(
      outcomes.flatMap(({ turnsToDetect }) => (turnsToDetect === undefined ? [] : [turnsToDetect])),
    ),
  }
}

function benignRow(name: string, outcomes: readonly Outcome[]): BenignRow {
  const why: Record<string, number> = {}
  for (const outcome of outcomes)
    if (outcome.why !== undefined) why[outcome.why] = (why[outcome.why] ?? 0) + 1
  return {
    name,
    denied: shareOf(outcomes.filter(({ denied }) => denied).length, outcomes.length),
    troubled: shareOf(outcomes.filter(({ stoppedAt }) => stoppedAt >= 0).length, outcomes.length),
    answered: outcomes.filter(({ answered }) => answered > 0).length,
    why,
  }
}

function middle(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

/** The report as Markdown. */
export function textOf(report: Report): string {
  const lines = [`# Sessions, ${report.split}`]
  if (report.benign.some(({ denied }) => denied.of > 0)) lines.push(...rowTables(report))
  if (report.evasions.length > 0) lines.push('', '## Evasions, both', '', ...attackTable(report.evasions))
  const { turns, p50, p99 } = report.timing
  lines.push(
    '',
    `Session risk per turn: p50 ${p50.toFixed(1)} µs, p99 ${p99.toFixed(1)} µs (${turns} turns).`,
  )
  return lines.join('\n')
}

function rowTables(report: Report): readonly string[] {
  const lines: string[] = []
  for (const row of ROWS) lines.push('', `## Attacks, ${row}`, '', ...attackTable(report.families[row]))
  lines.push(
    '',
    '## Benign sessions',
    '',
    '| row | denied | denied or escalated | answered by a person | why |',
    '| --- | --- | --- | --- | --- |',
  )
  for (const { name, denied, troubled, answered, why } of report.benign) {
    const reasons = Object.entries(why)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 6)
    lines.push(
      `| ${name} | ${shown(denied)} | ${shown(troubled)} | ${answered} | ${reasons.map(([text, count]) => `${text} ${count}`).join(', ')} |`,
    )
  }
  lines.push(
    '',
    '## Prevented by one row and not by the other (McNemar, exact)',
    '',
    '| rows | only the first | only the second | p |',
    '| --- | --- | --- | --- |',
  )
  for (const [name, { onlyFirst, onlySecond, p }] of Object.entries(report.paired)) {
    lines.push(`| ${name} | ${onlyFirst} | ${onlySecond} | ${p < 0.0001 ? '< 0.0001' : p.toFixed(4)} |`)
  }
  return lines
}

function attackTable(rows: readonly AttackRow[]): readonly string[] {
  const costs = rows.some(({ extra }) => extra !== undefined)
  return [
    `| | caught | prevented | DENY | ESCALATE | turns to detect |${costs ? ' extra turns |' : ''}`,
    `| --- | --- | --- | --- | --- | --- |${costs ? ' --- |' : ''}`,
    ...rows.map(
      ({ name, caught, prevented, denied, escalated, turns, extra }) =>
        `| ${name} | ${shown(caught)} | ${shown(prevented)} | ${denied} | ${escalated} | ${turns ?? '–'} |${costs ? ` ${extra ?? 0} |` : ''}`,
    ),
  ]
}

function shown({ count, of, low, high }: Share): string {
  const percent = (value: number): string => (value * 100).toFixed(1)
  return `${percent(of === 0 ? 0 : count / of)} % (${percent(low)}–${percent(high)}), ${count}/${of}`
}
