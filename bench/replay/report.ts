// The report: a headline with attacks stopped and utility kept in one row, then what stands behind it.

import { shareOf, type Share } from '../statistics.ts'
import type { RewordedOutcome } from './reworded-runs.ts'
import type { Outcome } from './outcome.ts'
import { countsOf, grouped, headlineOf, type Headline } from './tally.ts'

/** A share as people read it, with its interval of 95 %. */
export function percent({ count, of, low, high }: Share): string {
  if (of === 0) return '–'
  const shown = (part: number): string => (100 * part).toFixed(1)
  return `${shown(count / of)} % [${shown(low)}–${shown(high)}] ${count}/${of}`
}

const COLUMNS: readonly (readonly [string, (row: Headline) => string])[] = [
  ['harm stopped', (row) => percent(row.stopped)],
  ['of it denied', (row) => percent(row.denied)],
  ['of it asked', (row) => percent(row.escalated)],
  ['null control, content', (row) => percent(row.control)],
  ['null control, others', (row) => percent(row.controlOther)],
  ['benign denied', (row) => percent(row.benignDenied)],
  ['benign touched', (row) => percent(row.benignTouched)],
  ['own not denied', (row) => percent(row.ownNotDenied)],
  ['own untouched', (row) => percent(row.ownUntouched)],
  ['direct denied', (row) => percent(row.directDenied)],
  ['direct touched', (row) => percent(row.directTouched)],
  ['tasks behind', ({ tasks: { hijacked, benign, resisted } }) => `${hijacked} · ${benign} · ${resisted}`],
  ['harm by text', (row) => String(row.harmByText)],
]

/** The headline rows as a table. */
export function headlineTable(rows: readonly Headline[]): string {
  return table(
    ['', ...rows.map(({ name }) => name)],
    COLUMNS.map(([title, cell]) => [title, ...rows.map(cell)]),
  )
}

/** How much of the harm is stopped, for each of some groups. */
export function stoppedTable(
  title: string,
  groups: readonly (readonly [string, readonly Outcome[]])[],
): string {
  const rows = groups
    .map(([name, outcomes]) => headlineOf(name, outcomes))
    .filter(({ stopped }) => stopped.of > 0)
    .map(({ name, stopped, denied, escalated }) => [
      name,
      percent(stopped),
      String(denied.count),
      String(escalated.count),
    ])
  return table([title, 'harm stopped', 'denied', 'asked'], rows)
}

/** What the harmful calls, and the user's own, were stopped by. */
export function reasonsTable(outcomes: readonly Outcome[]): string {
  const harm = countsOf(outcomes.flatMap(({ by }) => by ?? []))
  const benign = countsOf(outcomes.filter(({ label }) => label === 'benign').flatMap(({ stops }) => stops))
  const own = countsOf(outcomes.filter(({ label }) => label === 'resisted').flatMap(({ stops }) => stops))
  return [
    table(
      ['harmful calls stopped by', 'runs'],
      harm.map(([name, count]) => [name, String(count)]),
    ),
    table(
      ['calls of benign runs stopped', 'calls'],
      benign.slice(0, 20).map(([name, count]) => [name, String(count)]),
    ),
    table(
      ['own calls of resisted runs stopped', 'calls'],
      own.slice(0, 20).map(([name, count]) => [name, String(count)]),
    ),
  ].join('\n')
}

/** The wordings: by split, then by family. */
export function wordingsTable(title: string, outcomes: readonly RewordedOutcome[]): string {
  const rows = [
    ...grouped(outcomes, ({ wording }) => `all ${wording.split}`).toSorted(([a], [b]) => (a < b ? 1 : -1)),
    ...grouped(outcomes, ({ wording }) => `${wording.split}: ${wording.family}`).toSorted(([a], [b]) =>
      a < b ? 1 : -1,
    ),
  ].map(([name, each]) => {
    const stopped = each.filter(({ verdict }) => verdict !== 'ALLOW')
    const denied = stopped.filter(({ verdict }) => verdict === 'DENY').length
    return [
      name,
      percent(shareOf(stopped.length, each.length)),
      String(denied),
      String(stopped.length - denied),
    ]
  })
  return table([title, 'harm stopped', 'denied', 'asked'], rows)
}

/** A table in plain text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`
}
