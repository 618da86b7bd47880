// Runs commands in a few processes that have the product loaded.

import { fork, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Ran } from './script.ts'

const CHILD = fileURLToPath(new URL('warm-child.mjs', import.meta.url))

interface Place {
  readonly work: string
  readonly env: Readonly<Record<string, string>>
}

const free: ChildProcess[] = []
const waiting: ((child: ChildProcess) => void)[] = []
let started = 0

/** Runs a command in a directory and an environment. */
export async function runWarm({ work, env }: Place, args: readonly string[]): Promise<Ran> {
  const child = await take()
  const ran = await ask(child, { work, env, args })
  const next = waiting.shift()
  if (next) next(child)
  else free.push(child)
  return ran
}

/** Ends the processes. */
export function endWarm(): void {
  for (const child of free.splice(0)) child.kill('SIGKILL')
  started = 0
}

async function take(): Promise<ChildProcess> {
  const child = free.pop()
  if (child) return child
  if (started < availableParallelism()) {
    started++
    // Detached, so that no command finds the terminal of the person who runs the tests.
    return fork(CHILD, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [], detached: true })
  }
  return new Promise((resolve) => waiting.push(resolve))
}

function ask(child: ChildProcess, question: object): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => reject(new Error(`the process ended with ${code}`))
    child.once('exit', gone)
    child.once('message', (ran: Ran) => {
      child.off('exit', gone)
      resolve(ran)
    })
    child.send(question)
  })
}
