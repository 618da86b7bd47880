// Starts the real gateway with its command and a temporary data directory. Needs the build.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const COMMAND = fileURLToPath(new URL('../../gateway/bin/tollgate.mjs', import.meta.url))

export interface RealGateway {
  readonly url: string
  readonly agentToken: string
  readonly adminToken: string
  /** The text of its trust file. */
  readonly trust: string
  /** The path of its trust file. */
  readonly trustFile: string
  /** Issues a token. */
  issue(role: string, principal: string): Promise<string>
  /** Kills it. */
  kill(): Promise<void>
  /** Starts it again at the same address. The tokens of `up` are new. */
  restart(): Promise<{ readonly agentToken: string }>
  /** Stops it and removes its data. */
  stop(): Promise<void>
}

interface Started {
  readonly child: ChildProcess
  readonly url: string
  readonly agent_token: string
  readonly admin_token: string | null
}

export async function startGateway(): Promise<RealGateway> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
  // Isolated from the environment of the user: data, checkpoints and tokens.
  const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const data = join(home, 'data')
  let { child, url, agent_token: agentToken, admin_token: admin } = await up(data, env, '0')
  const {
    stdout: trust,
    stderr,
    status,
  } = spawnSync(process.execPath, [COMMAND, 'keys', 'trust', '--data', data], {
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error(`no trust file: ${stderr}`)
  const trustFile = join(home, 'trust.json')
  writeFileSync(trustFile, trust)

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  return {
    url,
    agentToken,
    adminToken: admin ?? '',
    trust,
    trustFile,
    async issue(role, principal) {
      const answer = await fetch(`${url}/v1/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin ?? ''}`, 'content-type': 'application/json' },
        body: JSON.stringify({ role, principal }),
      })
      // Sound: the answer of this route.
      return ((await answer.json()) as { token: string }).token
    },
    kill: () => end('SIGKILL'),
    async restart() {
      const started = await up(data, env, new URL(url).port)
      ;({ child, url, agent_token: agentToken, admin_token: admin } = started)
      return { agentToken }
    },
    async stop() {
      await end('SIGTERM')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function up(data: string, env: NodeJS.ProcessEnv, port: string): Promise<Started> {
  const child = spawn(process.execPath, [COMMAND, 'up', '--data', data, '--port', port, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done === true) throw new Error(`the gateway did not start: ${errors}`)
  // Sound: the first line of `up --json`.
  return { child, ...(JSON.parse(first.value) as Omit<Started, 'child'>) }
}
