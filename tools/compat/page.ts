// The page `docs/compatibility.md`, made from `compat/rows.json`.

import { ALL_MARKS, MARKS, mergeRows, readRows, rowKey, type CompatRow } from './rows.ts'

/** A table in the style of the formatter. */
type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** The page. */
export function compatibilityPage(notice: string, table: Table): string {
  const dated = Object.values(readRows()).flatMap(({ date, rows }) => rows.map((row) => [row, date] as const))
  const rows = mergeRows(dated.map(([row]) => row))
  const lines = rows.map((row) => [...cellsOf(row), oldest(dated, row)])
  return [
    '# Compatibility',
    notice,
    `\`npm run test:compat\` runs real clients and servers of other makers, unmodified, with the gateway between them. Only a test that
passes writes a row here. The versions are those that were installed. This page has ${rows.length} rows.`,
    table(
      ['column', 'a mark means'],
      [
        ...ALL_MARKS.map((mark) => [mark, MARKS[mark]]),
        ['date', 'The day of the last run; the oldest one, if several tests wrote the row.'],
      ],
    ),
    'A row without a mark in a column means that no test tried it, not that it fails.',
    table(['client or server', 'version', 'door', ...ALL_MARKS, 'date'], lines),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

function cellsOf({ registry, name, use, version, door, saw }: CompatRow): readonly string[] {
  const client = `\`${name}\`${registry === 'PyPI' ? ' (Python)' : ''}${use === undefined ? '' : `, ${use}`}`
  return [client, version, door, ...ALL_MARKS.map((mark) => (saw.includes(mark) ? '✓' : ''))]
}

/** The page never says that a row is newer than all of its marks. */
function oldest(dated: readonly (readonly [CompatRow, string])[], row: CompatRow): string {
  const dates = dated.flatMap(([each, date]) => (rowKey(each) === rowKey(row) ? [date] : []))
  return dates.sort()[0] ?? ''
}
