// Runs the command `tollgate` for measurements, in a folder of its own.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { median, sized } from './measure.ts'

/** The script of the command. */
export const COMMAND: string = fileURLToPath(new URL('../packages/gateway/bin/tollgate.mjs', import.meta.url))
/** A policy that uses every section. */
export const POLICY: string = fileURLToPath(new URL('../examples/policies/full.yaml', import.meta.url))

/** How often each command is measured. */
const RUNS: number = sized(15, 1)

export type Env = Readonly<Record<string, string>>

/** Work, and the milliseconds that it took. */
export type Timed = () => number | Promise<number>

/** A median, and that of the starts of Node beside it. */
export interface Beside {
  readonly value: number
  readonly floor: number
}

/** Medians of several kinds of work, each with the median of bare starts of Node right before it. All of them alternate. */
export async function besideNode(works: readonly Timed[]): Promise<readonly Beside[]> {
  const times = works.map(() => ({ floors: [] as number[], values: [] as number[] }))
  for (let round = 0; round < RUNS; round++) {
    for (const [i, work] of works.entries()) {
      times[i]?.floors.push(took(() => spawnSync(process.execPath, ['-e', '0'], { env: envOf({}) })))
      times[i]?.values.push(await work())
    }
  }
  return times.map(({ floors, values }) => ({ floor: median(floors), value: median(values) }))
}

/** Milliseconds that `work` takes. */
export function took(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** Runs a command to its end. @throws if it fails. */
export function run(args: readonly string[], env: Env): { readonly stdout: string } {
  const done = spawnSync(process.execPath, [COMMAND, ...args], { env: envOf(env), encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`tollgate ${args.join(' ')}: ${done.stderr}`)
  return done
}

/** The environment of a command: nothing of the user's own. `NODE_EXTRA_CA_CERTS` alone would double the start of Node. */
export function envOf(more: Env): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: tmpdir(), ...more }
}

/** Starts a gateway. Resolves when it accepts calls. */
export async function serve(data: string, home: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--data', data, '--port', '0'], {
    env: envOf({ HOME: home }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const found = /"url":"(http:[^"]+)"/.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('exit', () => reject(new Error(`the gateway exited: ${said}`)))
  })
  return { child, url }
}
