// The rows of `compat/rows.json`: clients and servers, and the calls that a passing compat test has seen them through.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The doors of the page, in its order. */
export const DOORS = [
  'LLM, Chat Completions',
  'LLM, Responses',
  'LLM, Messages',
  'LLM, Azure OpenAI',
  'LLM, Gemini',
  'MCP, HTTP',
  'MCP, stdio',
  'MCP, guarded browser',
  'HTTP',
  'HTTP, browser calls',
  'hooks',
] as const

export type CompatDoor = (typeof DOORS)[number]

/** The marks of a row, in the order of the page, each with its meaning. */
export const MARKS = {
  allowed: 'An allowed call ran, and the agent got its result.',
  denied:
    'A denied call did not run, and the client handled the answer: it continued, or it ended with the reason.',
  escalated: 'A call that needs an approval did not run before a person approved it, and ran afterwards.',
  streamed: 'This also works with streamed answers.',
  structured: 'The client got its structured output, or a readable refusal instead of it.',
  parallel: 'One reply had several calls, and each was decided by itself.',
} as const

export type Mark = keyof typeof MARKS

/** A client or server as it is installed. */
export interface Installed {
  readonly registry: 'npm' | 'PyPI'
  readonly name: string
  readonly version: string
  /** The part of the package, or the way of using it. */
  readonly use?: string
}

/** A client or server behind a door. */
export interface CompatRow extends Installed {
  readonly door: CompatDoor
  readonly saw: readonly Mark[]
}

/** The rows of one test file, of its newest complete run. */
export interface FileRows {
  readonly date: string
  readonly rows: readonly CompatRow[]
  /** Why tests of the file have no row. */
  readonly reasons: readonly string[]
}

/** The rows of each test file, by its path. */
export type AllRows = Readonly<Record<string, FileRows>>

/** The path of the file with all rows. */
export const ROWS_FILE: string = fileURLToPath(new URL('../../compat/rows.json', import.meta.url))

/** Reads all rows. */
export function readRows(): AllRows {
  // Sound: only the recorder writes this file, and a test compares it with the test files and the lockfiles.
  return JSON.parse(readFileSync(ROWS_FILE, 'utf8')) as AllRows
}

/** Writes all rows, one in each line, so that changes of different test files merge. */
export function writeRows(all: AllRows): void {
  const files = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = files.map(([path, { date, rows, reasons }]) => {
    const members = [
      `"date": ${JSON.stringify(date)}`,
      `"rows": ${listText(rows)}`,
      `"reasons": ${listText(reasons)}`,
    ]
    return `  ${JSON.stringify(path)}: {\n    ${members.join(',\n    ')}\n  }`
  })
  writeFileSync(ROWS_FILE, `{\n${texts.join(',\n')}\n}\n`)
}

function listText(items: readonly unknown[]): string {
  const lines = items.map((item) => `\n      ${JSON.stringify(item)}`)
  return items.length === 0 ? '[]' : `[${lines.join(',')}\n    ]`
}

/** One row for each client, version, use and door, with all marks; sorted. */
export function mergeRows(rows: readonly CompatRow[]): readonly CompatRow[] {
  const merged = new Map<string, CompatRow>()
  for (const row of rows) {
    const key = rowKey(row)
    const marks = new Set([...(merged.get(key)?.saw ?? []), ...row.saw])
    merged.set(key, { ...row, saw: ALL_MARKS.filter((mark) => marks.has(mark)) })
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

// Sound: the keys of a constant.
export const ALL_MARKS = Object.keys(MARKS) as readonly Mark[]

/** Rows with the same key are one line of the page. */
export function rowKey({ door, name, use = '', registry, version }: CompatRow): string {
  const place = String(DOORS.indexOf(door)).padStart(2, '0')
  return [place, name.toLowerCase(), use, registry, version].join('\n')
}
