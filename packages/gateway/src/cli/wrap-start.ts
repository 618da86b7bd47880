// Starting a gateway for a wrapped client: in a process of its own, which stays when the client goes.

import { spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** A gateway that is being started. */
export interface Starting {
  /** What it said last, if it has ended. */
  failure(): string | undefined
}

/** A gateway was started and did not come up. */
export class StartFailed extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'StartFailed'
  }
}

const LONGEST_LOG = 8 << 20

/** Starts a gateway on this data directory. That another may run there is its own business: only one can have the ledger. */
export function startGateway(data: string): Starting {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const file = logFile(data)
  const log = openLog(file)
  const before = fstatSync(log).size
  let isOver = false
  const child = spawn(process.execPath, [COMMAND, 'up', '--background', '--data', data], {
    cwd: data,
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
    env: { ...process.env, TOLLGATE_TOKEN: '' },
  })
  closeSync(log)
  child.on('error', () => (isOver = true))
  child.on('exit', () => (isOver = true))
  child.unref()
  return { failure: () => (isOver ? lastWords(file, before) : undefined) }
}

const COMMAND = fileURLToPath(new URL('./main.js', import.meta.url))

/** Where a gateway that was started for a client writes what it has to say. */
export function logFile(data: string): string {
  return join(data, 'gateway.log')
}

function openLog(file: string): number {
  const log = openSync(file, 'a', 0o600)
  if (fstatSync(log).size < LONGEST_LOG) return log
  closeSync(log)
  renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}

/** What went wrong, as it was said. */
function lastWords(file: string, from: number): string {
  try {
    const said = readFileSync(file).subarray(from).toString('utf8')
    return /error: (.*)/.exec(said)?.[1]?.slice(0, 300) ?? 'it ended without a word'
  } catch {
    // The log may be gone; that it failed is known anyway.
    return 'it ended'
  }
}
