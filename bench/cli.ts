// Measures how long commands take from start to end, compared with the start of Node.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, sized, type Row } from './measure.ts'

const COMMAND = fileURLToPath(new URL('../packages/gateway/bin/tollgate.mjs', import.meta.url))
const POLICY = fileURLToPath(new URL('../examples/policies/full.yaml', import.meta.url))
const CALL = ['--tool', 'notes/read', '--principal', 'agent:notes', '--session', 's1']
const RUNS = sized(15, 1)
const SOON = 200
const COLD = 500

interface Timed {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly target: number
}

/** Workbench commands: medians over runs that alternate with bare starts of Node. */
export async function* cliRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-cli-'))
  const data = join(folder, 'data')
  const token = run(['init', '--data', data], { HOME: folder }).stdout.trim()
  run(['policy', 'activate', POLICY, '--data', data], { HOME: folder })
  const { child, url } = await serve(data, folder)
  try {
    say('cli: starting commands …')
    yield* measured([
      { name: 'policy check FILE', args: ['policy', 'check', POLICY], target: SOON },
      {
        name: 'policy explain, asking the gateway',
        args: ['policy', 'explain', '--url', url, ...CALL],
        env: { TOLLGATE_TOKEN: token },
        target: SOON,
      },
      {
        name: 'policy explain --policy FILE',
        args: ['policy', 'explain', '--policy', POLICY, ...CALL],
        target: COLD,
      },
      {
        name: 'policy explain, beside the gateway',
        args: ['policy', 'explain', '--data', data, ...CALL],
        target: COLD,
      },
    ])
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

function* measured(commands: readonly Timed[]): Generator<Row> {
  const floors: number[] = []
  const times = commands.map((): number[] => [])
  for (let round = 0; round < RUNS; round++) {
    floors.push(took(() => spawnSync(process.execPath, ['-e', '0'])))
    commands.forEach(({ args, env = {} }, i) => times[i]?.push(took(() => run(args, env))))
  }
  const floor = median(floors)
  for (const [i, { name, target }] of commands.entries()) {
    const value = median(times[i] ?? [])
    yield {
      area: 'cli',
      name,
      value,
      unit: 'ms',
      floor,
      ratio: value / floor,
      target: `under ${target} ms`,
      pass: value < target,
    }
  }
}

function took(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

function run(args: readonly string[], env: Readonly<Record<string, string>>): { readonly stdout: string } {
  const done = spawnSync(process.execPath, [COMMAND, ...args], { env: envOf(env), encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`tollgate ${args.join(' ')}: ${done.stderr}`)
  return done
}

function envOf(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: tmpdir(), ...more }
}

async function serve(data: string, home: string): Promise<{ child: ChildProcess; url: string }> {
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
