import { fork, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boundFlips, subject } from './flips-pack.ts'
import type { Share } from './flips-worker.ts'

const given = await subject()
const totals = {
  flip: 8 * given.pack.length,
  'bound flip': boundFlips(given).length,
  cut: given.pack.length,
} as const

// Slices, so that each stays below the time limit on slow machines.
const SLICES = 16
const began = performance.now()
const workers: ChildProcess[] = []

beforeAll(() => {
  const count = Math.max(1, availableParallelism())
  for (let i = 0; i < count; i++) workers.push(startWorker())
})

afterAll(() => {
  for (const worker of workers) worker.kill()
})

function startWorker(): ChildProcess {
  const script = fileURLToPath(new URL('./flips-worker.ts', import.meta.url))
  return fork(script, { execArgv: ['--import', 'tsx'] })
}

/** Tests a slice of the damages of a kind in all workers. Returns those that passed. */
async function acceptedIn(kind: Share['kind'], slice: number): Promise<string[]> {
  const total = totals[kind]
  const first = Math.floor((slice * total) / SLICES)
  const length = Math.floor(((slice + 1) * total) / SLICES) - first
  const edge = (i: number): number => first + Math.floor((i * length) / workers.length)
  const passed = await Promise.all(
    workers.map((worker, i) => ask(worker, { kind, start: edge(i), end: edge(i + 1) })),
  )
  const seconds = Math.round((performance.now() - began) / 1000)
  process.stderr.write(`${kind}s: ${first + length} of ${total} done after ${seconds} s\n`)
  return passed.flat()
}

function ask(worker: ChildProcess, share: Share): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`a worker ended with code ${code ?? 'none'}`))
    worker.once('exit', ended)
    worker.once('message', (passed) => {
      worker.off('exit', ended)
      resolve(passed as string[])
    })
    worker.send(share)
  })
}

describe.each([
  ['flip', 'any one bit flipped'],
  ['bound flip', 'any one bit flipped and a matching manifest'],
  ['cut', 'any number of bytes cut off'],
] as const)('%s', (kind, damage) => {
  it.each(Array.from({ length: SLICES }, (_, slice) => slice))(
    `a pack is rejected with ${damage}, slice %i`,
    async (slice) => {
      expect(await acceptedIn(kind, slice)).toEqual([])
    },
  )
})
