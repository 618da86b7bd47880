// A process of a server: started without a shell, with exactly the environment it is given, and ended with all it has started.

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { lineWriter } from '../lines.ts'
import type { ServerAddress } from './upstream.ts'

/** A process of a server. */
interface Child {
  /** Writes a line. False if it does not read: too much waits for it already. */
  write(line: string): boolean
  /** Asks it to end, and ends it if it does not: its input is closed, then it is told, then it is killed. */
  close(): Promise<void>
  /** Ends it at once, with all it has started. */
  kill(): void
}

/** What is done with what a process says. */
interface ChildOptions {
  readonly address: ServerAddress & { readonly transport: 'stdio' }
  /** Before each harder way of ending it, in milliseconds. */
  readonly grace: number
  /** Most bytes that may wait for it to read them. */
  readonly maxQueue: number
  readonly onOutput: (chunk: Uint8Array) => void
  /** Nothing more will come of it: it could not be started, has ended, or closed a pipe. Called once. */
  readonly onEnd: (because: string) => void
  readonly onStderr?: (text: string) => void
}

// After a process has ended, what it said last may still be on its way.
const LINGER = 500
const STDERR_PER_SECOND = 64 << 10
const IS_POSIX = process.platform !== 'win32'

/** Starts a process. That it cannot be started is told by `onEnd`. */
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

  child.on('error', () => end('it could not be started'))
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
  // Given a moment: at its end a process closes this before it is known to have ended.
  child.stdout.on('end', () => setImmediate(() => end('it closed its output')))
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
      // Whatever it has started and left behind.
      group.kill('SIGKILL')
      child.stdout.destroy()
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
    // A group of its own, so that what a wrapper starts can be ended with it.
    detached: IS_POSIX,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

interface ProcessGroup {
  /** The process itself has ended. */
  left(): void
  kill(signal: NodeJS.Signals): void
  isGone(within: number): Promise<boolean>
}

const STEP = 20

/** A process and all it has started. */
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

  // What has closed its output and outlived its wrapper is not waited for.
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

/** Reads what it says beside the protocol, so that it never has to wait; hands on a part of it. */
function drain(child: ChildProcessWithoutNullStreams, onStderr: ChildOptions['onStderr']): void {
  let second = 0
  let said = 0
  child.stderr.setEncoding('utf8')
  child.stderr.on('error', () => undefined)
  child.stderr.on('data', (text: string) => {
    const current = Math.floor(performance.now() / 1000)
    if (current !== second) said = 0
    second = current
    const part = text.slice(0, Math.max(0, STDERR_PER_SECOND - said))
    said += text.length
    if (part !== '') onStderr?.(part)
  })
}
