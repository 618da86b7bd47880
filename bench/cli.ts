// Measures how long commands about a policy take from start to end.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { besideNode, POLICY, run, serve, took, type Env } from './command.ts'
import type { Row } from './measure.ts'

const CALL = ['--tool', 'notes/read', '--principal', 'agent:notes', '--session', 's1']
const SOON = 200
const COLD = 500

interface Measured {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Env
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

async function* measured(commands: readonly Measured[]): AsyncGenerator<Row> {
  const works = commands.map(
    ({ args, env = {} }) =>
      () =>
        took(() => run(args, env)),
  )
  for (const [i, { value, floor }] of (await besideNode(works)).entries()) {
    const { name = '', target = NaN } = commands[i] ?? {}
    const ratio = value / floor
    yield {
      area: 'cli',
      name,
      value,
      unit: 'ms',
      floor,
      ratio,
      target: `under ${target} ms`,
      pass: value < target,
    }
  }
}
