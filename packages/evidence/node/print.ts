// Formats a report for people: the result, the findings, what is proved and what is not.

import type { Finding, Level, Report } from '../src/index.ts'

/** Colours text for a terminal, or returns it unchanged. */
export type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold', text: string) => string

const CODES = { green: 32, red: 31, yellow: 33, bold: 1 }

/** Colours text with ANSI codes, for a terminal. */
export const coloured: Paint = (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m`
/** Returns text unchanged, for files and pipes. */
export const plain: Paint = (_, text) => text

const COLOUR = {
  witnessed: 'green',
  verified: 'green',
  'integrity only': 'yellow',
  failed: 'red',
  malformed: 'red',
} as const satisfies Record<Level, string>

/** The answer of a report, in one line. */
export const RESULT: Readonly<Record<Level, string>> = {
  witnessed: 'WITNESSED',
  verified: 'VERIFIED',
  'integrity only':
    'INTEGRITY ONLY: the pack is consistent, but its origin is not proved. Verify it with a trust file.',
  failed: 'FAILED: do not rely on this pack. Its contents below are unverified claims.',
  malformed: 'MALFORMED: this is not a readable pack. Get an undamaged copy.',
}

/** The report as text, ending with a newline. */
export function formatReport(report: Report, paint: Paint = plain): string {
  const { level, findings, more_findings, proved, not_proved } = report
  const lines = [paint(COLOUR[level], RESULT[level]), ...about(report).map((line) => `  ${line}`)]
  if (findings.length > 0)
    lines.push('', paint('bold', 'Findings'), ...findings.map((finding) => `  ✗ ${describe(finding)}`))
  if (more_findings > 0) lines.push(`  … and ${more_findings} more`)
  if (proved.length > 0) lines.push('', paint('bold', 'Proved'), ...proved.map((line) => `  ✓ ${line}`))
  lines.push('', paint('bold', 'Not proved'), ...not_proved.map((line) => `  · ${line}`))
  return `${lines.join('\n')}\n`
}

/** Returns the facts about a pack, one per line: its ledger, its entries, its dates and its counts. */
export function about({ ledger, tree_size, root, range, selected, summary }: Report): string[] {
  const lines: string[] = []
  if (ledger !== undefined) lines.push(`ledger ${ledger}, size ${String(tree_size)}, root ${String(root)}`)
  const parts = [
    ...(range ? [`entries ${range.start} to ${range.end - 1}`] : []),
    ...(selected > 0 ? [`${selected} selected`] : []),
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
