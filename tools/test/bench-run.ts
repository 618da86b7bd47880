// Runs a program of `bench` as small as can be.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The exit code and the output of a program of `bench` with `--tiny`, in a home of its own. */
export async function runBench(
  home: string,
  file: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const PATH = `${ROOT}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`
  const child = spawn(process.execPath, ['--import', 'tsx', file, '--tiny', ...args], {
    cwd: ROOT,
    env: { PATH, HOME: home, TOLLGATE_BENCH_DIR: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()))
  // Sound: that is what the event carries.
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
