// The adapter for our gateway: runs the command on a temporary data directory.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isFields, textAt } from './reading.ts'
import type { Adapter, Running, Setup } from './adapter.ts'

const COMMAND = fileURLToPath(new URL('../../packages/gateway/bin/tollgate.mjs', import.meta.url))

/** The adapter for the gateway that `program` starts. Default: the built gateway of this repository. */
export function tollgate(program: string = COMMAND): Adapter {
  return { name: 'tollgate', start: (setup) => start(program, setup) }
}

async function start(program: string, { servers }: Setup): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const data = join(folder, 'data')
  const env = { ...process.env, XDG_CONFIG_HOME: join(folder, 'config'), NODE_NO_WARNINGS: '1' }
  const run = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, '--data', data], {
      encoding: 'utf8',
      env,
    })
    if (status !== 0) throw new Error(`\`${args.join(' ')}\` failed: ${stderr}`)
    return stdout
  }
  const admin = textAt(JSON.parse(run('init', '--port', '0', '--json')), 'token')
  const listed = Object.entries(servers).map(([name, url]) => [name, { url }])
  appendFileSync(
    join(data, 'tollgate.yaml'),
    `\nmcp: ${JSON.stringify({ servers: Object.fromEntries(listed) as object })}\n`,
  )

  let printed = ''
  const keep = (chunk: Buffer): void => void (printed += chunk.toString())
  const serve = async (): Promise<{ child: ChildProcess; url: string }> => {
    const args = [program, 'serve', '--port', '0', '--json', '--data', data]
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    return { child, url: await urlOf(child, () => printed) }
  }
  let current = await serve()
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (current.child.exitCode !== null || current.child.signalCode !== null) return
    const ended = once(current.child, 'close')
    current.child.kill(signal)
    await ended
  }
  return {
    get url() {
      return current.url
    },
    admin,
    kill: () => end('SIGKILL'),
    async restart() {
      current = await serve()
    },
    trust: () => Promise.resolve(run('keys', 'trust')),
    printed: () => printed,
    kept: () => filesBelow(data),
    async stop() {
      await end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits for the line with the address. @throws Error if the program ends first. */
async function urlOf(child: ChildProcess, printed: () => string): Promise<string> {
  const { stdout } = child
  if (!stdout) throw new Error('the program has no standard output')
  for await (const line of createInterface({ input: stdout })) {
    const read: unknown = line.startsWith('{') ? JSON.parse(line) : undefined
    if (!isFields(read) || typeof read.url !== 'string') continue
    // The lines end here, but the program must be able to go on printing.
    stdout.resume()
    return read.url
  }
  throw new Error(`the gateway did not start: ${printed()}`)
}

function filesBelow(folder: string): readonly Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pem'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
}
