// A report for people: the answer first, then what was found, what was proved, and what was not.

import type { Finding, Level, Report } from '../src/index.ts'

/** Paints text for a terminal, or leaves it as it is. */
export type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold', text: string) => string

const CODES = { green: 32, red: 31, yellow: 33, bold: 1 }

/** For a terminal. */
export const coloured: Paint = (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m`
/** For files and pipes. */
export const plain: Paint = (_, text) => text

const COLOUR = {
  witnessed: 'green',
  verified: 'green',
  'integrity only': 'yellow',
  failed: 'red',
  malformed: 'red',
} as const satisfies Record<Level, string>

const ANSWER: Readonly<Record<Level, string>> = {
  witnessed: 'WITNESSED',
  verified: 'VERIFIED',
  'integrity only': 'INTEGRITY ONLY: consistent in itself, but nobody vouched for its key',
  failed: 'FAILED: this pack does not prove what it should',
  malformed: 'MALFORMED: this cannot be read as a pack',
}

/** The report as text, ending with a newline. */
export function formatReport(report: Report, paint: Paint = plain): string {
  const { level, findings, more_findings, proved, not_proved } = report
  const lines = [paint(COLOUR[level], ANSWER[level]), ...about(report).map((line) => `  ${line}`)]
  if (findings.length > 0)
    lines.push('', paint('bold', 'Found'), ...findings.map((finding) => `  ✗ ${describe(finding)}`))
  if (more_findings > 0) lines.push(`  … and ${more_findings} more`)
  if (proved.length > 0) lines.push('', paint('bold', 'Proved'), ...proved.map((line) => `  ✓ ${line}`))
  lines.push('', paint('bold', 'Not proved'), ...not_proved.map((line) => `  · ${line}`))
  return `${lines.join('\n')}\n`
}

function about({ ledger, tree_size, root, range, selected, summary }: Report): string[] {
  const lines: string[] = []
  if (ledger !== undefined) lines.push(`ledger ${ledger}, size ${String(tree_size)}, root ${String(root)}`)
  const parts = [
    ...(range ? [`entries ${range.start} to ${range.end - 1}`] : []),
    ...(selected > 0 ? [`${selected} single entries`] : []),
  ]
  if (parts.length > 0) lines.push(parts.join(', '))
  if (summary.first_time !== undefined)
    lines.push(`dated ${summary.first_time} to ${String(summary.last_time)}`)
  const { decision = 0, effect = 0 } = summary.kinds
  if (decision > 0) lines.push(`decisions: ${counts(summary.verdicts)}`)
  if (effect > 0) lines.push(`effects: ${counts(summary.effects)}`)
  return lines
}

function describe({ code, index, member, sentence }: Finding): string {
  const where = index !== undefined ? ` at entry ${index}` : member !== undefined ? ` in ${member}` : ''
  return `${code}${where}: ${sentence}`
}

function counts(all: Readonly<Record<string, number>>): string {
  return Object.entries(all)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
