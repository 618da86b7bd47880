// Formats tables, times and text from untrusted sources.

import process from 'node:process'
import { fitted, widthOf } from './fit.ts'

/** Formats a table with aligned columns. On a terminal that is too narrow, the last column gets more lines. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))))
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  return all
    .map((row) => row.map((cell, i) => pad(cell, widths[i] ?? 0)).join('  '))
    .map((line) => fitted(line.trimEnd(), indent, process.stdout.columns))
    .join('\n')
}

/** Formats names and values, one pair per line. */
export function pairs(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => widthOf(name)))
  return rows
    .map(([name, value]) => fitted(`${pad(name, width)}  ${value}`, width + 2, process.stdout.columns))
    .join('\n')
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Returns untrusted text as one line without control characters. */
export function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·')
}

/** Formats a number with its noun: `1 rule`, `2 rules`. `many` is the plural, if it is not the noun with an `s`. */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  // `toLocaleString` takes 15 ms the first time.
  const digits = String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${digits} ${count === 1 ? noun : many}`
}

/** Quotes a path for a shell, if needed. */
export function word(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Formats a time to the second, in UTC. */
export function moment(time: string): string {
  return time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** Formats the time left until a moment. */
export function until(time: string, now: number): string {
  const left = Date.parse(time) - now
  if (left <= 0) return 'ended'
  const minutes = Math.floor(left / 60_000)
  if (minutes < 1) return `${Math.ceil(left / 1000)} s`
  return minutes < 120
    ? `${minutes} min`
    : minutes < 2880
      ? `${Math.floor(minutes / 60)} h`
      : `${Math.floor(minutes / 1440)} d`
}
