// Starts a gateway for a wrapped client, in a separate process that stays when the client ends.

import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { requireUsable } from '../../directory.ts'
import { PROGRAM } from '../program/launcher.ts'

interface Starting {
  /** The last error message, if it has ended. */
  failure(): string | undefined
}

/** A gateway was started and did not become ready. */
export class StartFailed extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'StartFailed'
  }
}

const MAX_LOG = 8 << 20
const MAX_FAILED_STARTS = 5

/** Starts gateways. Limits the number of failed starts in a row. */
export interface Starter {
  /** @throws StartFailed if the gateway cannot be started, or too many starts have failed in a row. */
  start(): Starting
  /** Counts a start that did not become ready. Returns the error to throw. */
  failed(why: string): StartFailed
  /** A gateway was joined: resets the count. */
  joined(): void
}

/** Creates a starter for a data directory. */
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
      if (failures >= MAX_FAILED_STARTS)
        throw new StartFailed(`gave up after ${failures} failed starts; last error: ${last}`)
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
 * Starts a gateway on this data directory. If another one runs there, the new one ends, because only one can open the ledger.
 *
 * @throws GatewayError `STORE_FAILED` if the directory cannot be created or written.
 */
function startGateway(data: string): Starting {
  requireUsable(data)
  const file = logFile(data)
  const log = openLog(file)
  const before = fstatSync(log).size
  let isOver = false
  const child = spawn(process.execPath, [PROGRAM, 'up', '--background', '--data', data], {
    cwd: data,
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
    env: { ...process.env, TOLLGATE_TOKEN: '', TOLLGATE_AGENT_TOKEN: '' },
  })
  closeSync(log)
  child.on('error', () => (isOver = true))
  child.on('exit', () => (isOver = true))
  child.unref()
  return { failure: () => (isOver ? lastError(file, before) : undefined) }
}

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

function lastError(file: string, from: number): string {
  try {
    const text = readFileSync(file).subarray(from).toString('utf8')
    return /error: (.*)/.exec(text)?.[1]?.slice(0, 300) ?? 'it ended without an error message'
  } catch {
    // The log is not readable. The failure is known anyway.
    return 'it ended'
  }
}
