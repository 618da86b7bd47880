// Benchmarks run, as small as can be: a measurement that breaks is noticed here and not when somebody wants to measure. `npm test`
// runs one area of each kind, `npm run test:deep` all of them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../bench/measure.ts'
import { findBrowser } from '../browser.mjs'
import { runBench } from './bench-run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** How many rows each area has. An area without a line here, or a line without its area, fails. */
const ROWS = {
  evidence: 5,
  kernel: 8,
  gateway: 7,
  postgres: 3,
  mcp: 9,
  hook: 6,
  ladder: 6,
  llm: 34,
  start: 5,
  cli: 3,
  policy: 3,
  scanner: 7,
  abuse: 8,
  // Without a browser there is nothing to measure.
  ...(findBrowser() !== undefined && { browser: 4 }),
}

// In memory, on a ledger in a file, through a gateway in another process, and whole commands.
const SOME: readonly string[] = ['evidence', 'kernel', 'ladder', 'scanner', 'policy', 'mcp', 'cli']
const RUN = Object.entries(ROWS).filter(
  ([area]) => process.env.TOLLGATE_RUNS === 'all' || SOME.includes(area),
)

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-test-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bench = (file: string, ...args: readonly string[]) => runBench(folder, file, ...args)

test('every area of `npm run bench` has a number of rows', () => {
  const text = readFileSync(join(ROOT, 'bench/run.ts'), 'utf8')
  const areas = [...text.matchAll(/^ {2}(\w+): \1Rows,$/gm)].flatMap(([, area = '']) => area)
  expect(areas.filter((area) => area !== 'browser' || findBrowser() !== undefined)).toEqual(Object.keys(ROWS))
})

test('areas of `npm run bench` run, with a number in each row', async () => {
  const file = join(folder, 'rows.json')
  const { code, stderr } = await bench(
    'bench/run.ts',
    '--json',
    file,
    ...RUN.flatMap(([area]) => ['--only', area]),
  )
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  // Sound: that is what it writes.
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  const counted = new Map<string, number>()
  for (const { area } of rows) counted.set(area, (counted.get(area) ?? 0) + 1)
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(RUN))
  // A value that is no number comes out of JSON as null.
  expect(rows.filter(({ value }) => typeof value !== 'number')).toEqual([])
})

test('recorded runs are replayed to a report', async () => {
  const args = ['bench/replay/suites/office.jsonl.gz', '--quick', '--wordings', '1', '--scope', 'proposed']
  const { code, stdout, stderr } = await bench('bench/replay/run.ts', ...args)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^harm stopped .*\d+\/\d+/m)
  expect(stdout).toMatch(/^all held-out .*\d+\/\d+/m)
})

test('generated sessions are driven to a report', async () => {
  const effort = ['--sample', '1', '--searched', '1', '--queries', '1', '--family', 'slow-exfiltration']
  const { code, stdout, stderr } = await bench('bench/sessions/run.ts', ...effort)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\| search \| .*\d\/\d/m)
  expect(stdout).toMatch(/\(\d+ turns\)/)
})
