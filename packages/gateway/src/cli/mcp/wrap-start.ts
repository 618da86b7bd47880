// Starting a gateway for a wrapped client: in a process of its own, which stays when the client goes.

import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { requireUsable } from '../../directory.ts'

/** A gateway that is being started. */
interface Starting {
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

const MAX_LOG = 8 << 20
const MOST_STARTS = 5

/** Starts gateways, a bounded number of times: each start that fails is counted until a gateway is joined. */
export interface Starter {
  /** @throws StartFailed if the gateway cannot be started, or too many starts have failed in a row. */
  start(): Starting
  /** A started gateway did not come up. Counts it; the fault to throw. */
  failed(why: string): StartFailed
  /** A gateway was joined: the count begins again. */
  joined(): void
}

/** A starter on a data directory. */
export function createStarter(data: string, start: (data: string) => Starting = startGateway): Starter {
  let failures = 0
  let last = ''
  const failed = (why: string): StartFailed => {
    failures++
    last = why
    return new StartFailed(why)
  }
  return {
    start() {
      if (failures >= MOST_STARTS)
        throw new StartFailed(`${failures} starts have failed, so none is tried any more; the last: ${last}`)
      try {
        return start(data)
      } catch (fault) {
        throw failed(fault instanceof Error ? fault.message : 'it cannot be started')
      }
    },
    failed,
    joined: () => void (failures = 0),
  }
}

/**
 * Starts a gateway on this data directory. Another may run there already: only one can have the ledger, and it says so.
 *
 * @throws GatewayError `STORE_FAILED` if the directory cannot be made or written to.
 */
function startGateway(data: string): Starting {
  requireUsable(data)
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

const COMMAND = fileURLToPath(new URL('../main.js', import.meta.url))

/** Where a gateway that was started for a client writes what it has to say. */
function logFile(data: string): string {
  return join(data, 'gateway.log')
}

function openLog(file: string): number {
  const log = openSync(file, 'a', 0o600)
  if (fstatSync(log).size < MAX_LOG) return log
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
