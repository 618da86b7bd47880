// Every benchmark runs, as small as can be: a measurement that breaks is noticed here and not when somebody wants to measure.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../bench/measure.ts'
import { runBench } from './bench-run.ts'

/** How many rows each area has. An area without a line here, or a line without its area, fails. */
const ROWS = {
  evidence: 5,
  kernel: 8,
  gateway: 7,
  mcp: 9,
  ladder: 6,
  llm: 34,
  cli: 4,
  policy: 3,
  scanner: 7,
  abuse: 8,
}

// Dozens of processes one after the other: some seconds, and minutes where the machine has other work.
const A_WHILE = 600_000

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-test-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bench = (file: string, ...args: readonly string[]) => runBench(folder, file, ...args)

test(
  'every area of `npm run bench` runs, with a number in each row',
  async () => {
    const file = join(folder, 'rows.json')
    const { code, stderr } = await bench('bench/run.ts', '--json', file)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    // Sound: that is what it writes.
    const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
    const counted = new Map<string, number>()
    for (const { area } of rows) counted.set(area, (counted.get(area) ?? 0) + 1)
    expect(Object.fromEntries(counted)).toEqual(ROWS)
    // A value that is no number comes out of JSON as null.
    expect(rows.filter(({ value }) => typeof value !== 'number')).toEqual([])
  },
  A_WHILE,
)
