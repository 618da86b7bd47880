// A server process: started without a shell and with exactly the given environment, ended with all processes it started.

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { lineWriter } from '../lines.ts'
import type { ServerAddress } from './upstream.ts'

export interface Child {
  /** Writes a line. False if the process does not read and the queue is full. */
  write(line: string): boolean
  /** Ends the process: closes its input, then sends SIGTERM, then SIGKILL. */
  close(): Promise<void>
  /** Kills the process and everything it started. */
  kill(): void
}

interface ChildOptions {
  readonly address: ServerAddress & { readonly transport: 'stdio' }
  /** Milliseconds before each stronger step to end the process. */
  readonly grace: number
  /** Most bytes that may wait until the process reads them. */
  readonly maxQueue: number
  readonly onOutput: (chunk: Uint8Array) => void
  /** The process could not be started, has ended, or closed a pipe. Called once. */
  readonly onEnd: (because: string) => void
  readonly onStderr?: (text: string) => void
}

// The last output of a process may arrive after its exit.
const LINGER = 500
const STDERR_PER_SECOND = 64 << 10
const IS_POSIX = process.platform !== 'win32'

/** Starts a process. `onEnd` reports a failure to start. */
export function startChild(options: ChildOptions): Child {
  const { address, grace, maxQueue, onOutput, onEnd } = options
  const child = spawnChild(address)
  const group = createGroup(child)
  let hasEnded = false

  function end(because: string): void {
    if (hasEnded) return
    hasEnded = true
    onEnd(because)
  }
  const endSoon = (because: string): void => {
    setTimeout(() => end(because), LINGER).unref()
  }

  child.on('error', ({ code }: NodeJS.ErrnoException) =>
    end(`it could not be started${code === undefined ? '' : ` (${code})`}`),
  )
  child.on('exit', (code, signal) => {
    group.left()
    const because = signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`
    if (child.stdout.readableEnded) end(because)
    child.stdout.once('end', () => end(because))
    endSoon(because)
  })
  child.stdin.on('error', () => endSoon('it closed its input'))
  child.stdin.on('close', () => endSoon('it closed its input'))
  child.stdout.on('data', onOutput)
  child.stdout.on('error', () => end('its output failed'))
  // An exiting process closes its output before its exit is known.
  child.stdout.on('end', () => endSoon('it closed its output'))
  drain(child, options.onStderr)

  const write = lineWriter(child.stdin)
  return {
    write(line) {
      if (hasEnded || !child.stdin.writable) return true
      if (child.stdin.writableLength + line.length > maxQueue) return false
      write(line)
      return true
    },
    async close() {
      hasEnded = true
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await group.isGone(grace)) break
        group.kill(signal)
      }
      await group.isGone(grace)
      // Kills processes that it left behind.
      group.kill('SIGKILL')
      child.stdout.destroy()
      // Its last lines may not have been read yet.
      await isEnded(child.stderr, LINGER)
      child.stderr.destroy()
    },
    kill: () => group.kill('SIGKILL'),
  }
}

function spawnChild({ command, args, env, cwd }: ChildOptions['address']): ChildProcessWithoutNullStreams {
  return spawn(command, args, {
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    shell: false,
    // Its own process group, so that processes started by a wrapper end with it.
    detached: IS_POSIX,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

interface ProcessGroup {
  /** The process has exited. */
  left(): void
  kill(signal: NodeJS.Signals): void
  isGone(within: number): Promise<boolean>
}

const STEP = 20

/** A process and everything it started. */
function createGroup(child: ChildProcess): ProcessGroup {
  let hasLeft = child.pid === undefined

  function signal(which: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false
    try {
      return IS_POSIX ? process.kill(-child.pid, which) : child.kill(which)
    } catch {
      return false
    }
  }

  // Does not wait for a process that closed its output and outlived its wrapper.
  const isGone = (): boolean => hasLeft && (child.stdout?.readableEnded !== false || !signal(0))

  return {
    left: () => (hasLeft = true),
    kill: (which) => void signal(which),
    async isGone(within) {
      for (let waited = 0; waited < within && !isGone(); waited += STEP) await sleep(STEP)
      return isGone()
    },
  }
}

/** Waits for the end of an output. A process that left the group can keep it open. */
async function isEnded(output: Readable, within: number): Promise<void> {
  if (output.closed || output.destroyed) return
  const waiting = new AbortController()
  const late = sleep(within, undefined, { ref: false, signal: waiting.signal }).catch(() => undefined)
  const closed = once(output, 'close', { signal: waiting.signal }).catch(() => undefined)
  await Promise.race([closed, late])
  waiting.abort()
}

/** Reads standard error, so that the process never blocks. Forwards a limited part. */
function drain(child: ChildProcessWithoutNullStreams, onStderr: ChildOptions['onStderr']): void {
  let second = 0
  let size = 0
  child.stderr.setEncoding('utf8')
  child.stderr.on('error', () => undefined)
  child.stderr.on('data', (text: string) => {
    const current = Math.floor(performance.now() / 1000)
    if (current !== second) size = 0
    second = current
    const part = text.slice(0, Math.max(0, STDERR_PER_SECOND - size))
    size += text.length
    if (part !== '') onStderr?.(part)
  })
}
