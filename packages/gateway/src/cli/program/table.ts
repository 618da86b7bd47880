// Tables and times for people.

import { stripVTControlCharacters } from 'node:util'

/** Columns of text, each as wide as its widest; the last one as it comes. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))))
  return all
    .map((row) =>
      row
        .map((cell, i) => pad(cell, widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values, one a line. */
export function pairs(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => widthOf(name)))
  return rows.map(([name, value]) => `${pad(name, width)}  ${value}`).join('\n')
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}

/** What somebody else wrote, as one line that cannot play with the terminal. */
export function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·')
}

/** A path as a shell takes it for one word. */
export function word(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** A moment, to the second, in the time zone of the reader’s choice: always UTC. */
export function moment(time: string): string {
  return time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** How long until a moment, in words. */
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
