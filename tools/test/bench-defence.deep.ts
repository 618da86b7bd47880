// Every step of `npm run bench:defence` runs, on a few runs and sessions.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runBench } from './bench-run.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-test-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('no step of the defence fails, and each has a report', async () => {
  const { code, stdout } = await runBench(folder, 'bench/defence.ts', 'bench/replay/suites/office.jsonl.gz')
  const parts = stdout.split(/^# /m).slice(1)
  expect(parts.length).toBe(9)
  expect(parts.filter((part) => !/\d %/.test(part))).toEqual([])
  expect(code).toBe(0)
})

test('recorded runs that are not there are named', async () => {
  const { code, stderr } = await runBench(folder, 'bench/defence.ts')
  expect(stderr).toContain('recorded runs: NOT MEASURED')
  expect(code).toBe(0)
})
