// The rows of the page of compatibility: every compat test has them, they name installed versions, and only complete runs write them.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compatibilityPage } from '../compat/page.ts'
import { DOORS, mergeRows, readRows, type CompatRow } from '../compat/rows.ts'
import { ROOT } from './fresh-copy.ts'

const ALL = readRows()
const ROWS = Object.entries(ALL).flatMap(([path, { rows }]) => rows.map((row) => ({ path, ...row })))
const TABLE = (_: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.join(' | ')).join('\n')

/** The compat tests of all packages. */
function compatTests(): readonly string[] {
  return readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.compat.ts') && !path.includes('node_modules'))
    .map((path) => `packages/${path}`)
}

/** The versions that a lockfile installs, by name. */
function lockedIn(lockfile: string): ReadonlyMap<string, string> {
  // Sound: npm writes it so.
  const { packages } = JSON.parse(readFileSync(join(ROOT, lockfile), 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  return new Map(
    Object.entries(packages).flatMap(([place, { version }]) =>
      version === undefined ? [] : [[place.replace(/^node_modules\//, ''), version] as const],
    ),
  )
}

describe('the rows of the page', () => {
  it('are those of the compat tests that exist, each with a row or a reason', () => {
    expect(Object.keys(ALL)).toEqual([...compatTests()].sort())
    const empty = Object.entries(ALL).filter(([, { rows, reasons }]) => rows.length + reasons.length === 0)
    expect(empty.map(([path]) => path)).toEqual([])
  })

  it('have the versions that the lockfiles install', () => {
    const locked = [lockedIn('package-lock.json'), lockedIn('compat/package-lock.json')]
    const wrong = ROWS.filter(({ registry }) => registry === 'npm').filter(
      ({ name, version }) => !locked.some((versions) => versions.get(name) === version),
    )
    expect(wrong).toEqual([])
  })

  it('have a date', () => {
    for (const { date } of Object.values(ALL)) expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
  })
})

describe('rows of one client', () => {
  const row = (row: Partial<CompatRow>): CompatRow => ({
    registry: 'npm',
    name: 'openai',
    version: '1.0.0',
    door: 'LLM, Responses',
    saw: [],
    ...row,
  })

  it('become one row with all marks, in the order of the page', () => {
    expect(mergeRows([row({ saw: ['streamed'] }), row({ saw: ['allowed', 'streamed'] })])).toEqual([
      row({ saw: ['allowed', 'streamed'] }),
    ])
  })

  it('stay apart by version, use, door and registry', () => {
    const others = [{ version: '2.0.0' }, { use: 'parse' }, { door: DOORS[0] }, { registry: 'PyPI' }] as const
    expect(mergeRows([row({}), ...others.map(row)])).toHaveLength(5)
  })
})

it('the page has a line for each row, with the oldest date of its tests', () => {
  const lines = compatibilityPage('notice', TABLE).split('\n')
  const found = lines.filter((line) => DOORS.some((door) => line.includes(` | ${door} | `)))
  expect(found).toHaveLength(mergeRows(ROWS).length)
})
