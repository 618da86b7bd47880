// Measures the ways: copies what was built, runs it, and reads what it wrote. Nothing is left behind.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyInstrumented } from './instrument.ts'
import { runWays, type WayName } from './run.ts'
import { agreedWay, readTrace, type Way } from './trace.ts'

/** Follows one call in each way through what was built under `root`. @throws Error if it is not built, or a call fails. */
export async function measureWays(root: string): Promise<ReadonlyMap<WayName, Way>> {
  // Inside of the project, so that the copy finds the same dependencies.
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/ways-'))
  try {
    copyInstrumented(root, folder)
    const spans = await runWays(folder)
    const trace = readTrace(join(folder, 'log'))
    return new Map([...spans].map(([name, rounds]) => [name, agreedWay(trace, rounds)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
