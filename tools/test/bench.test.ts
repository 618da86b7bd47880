// Benchmarks run, as small as can be. `bench.deep.ts` has every area of `npm run bench`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../bench/measure.ts'
import { runBench } from './bench-run.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-test-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bench = (file: string, ...args: readonly string[]) => runBench(folder, file, ...args)

test('an area of `npm run bench` runs, with a number in each row', async () => {
  const file = join(folder, 'rows.json')
  const { code, stderr } = await bench('bench/run.ts', '--only', 'kernel', '--json', file)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  // Sound: that is what it writes.
  const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
  expect(rows.length).toBeGreaterThan(0)
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
