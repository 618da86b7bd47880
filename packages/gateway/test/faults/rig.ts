// Gateways in separate processes, for tests that kill them or take away their disk.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { openKeyring } from '../../src/keyring.ts'
import { readJournal, type Line } from './audit.ts'
import { newFolder, siteOf, type Site } from '../gateway-rig.ts'

const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url))
const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
const THREADS = new URL('../../dist/src/store/sqlite/thread.js', import.meta.url)

let made: string | undefined

/** The program in one file, because a start would read some hundred files. */
function bundledLoad(): string {
  if (made !== undefined && existsSync(made)) return made
  const folder = newFolder()
  // For other users as well.
  chmodSync(folder, 0o755)
  symlinkSync(MODULES, join(folder, 'node_modules'))
  const outfile = join(folder, 'load.mjs')
  buildSync({
    entryPoints: [LOAD],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['@photostructure/sqlite', 'undici'],
    // Only the threads of the ledger have files next to their code.
    define: { 'import.meta.url': JSON.stringify(THREADS.href) },
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${THREADS.href}')`,
    },
    logLevel: 'error',
  })
  return (made = outfile)
}

/** What a gateway process does. */
export interface LoadOptions {
  /** `storm`: many concurrent callers without end; `steps`: `count` calls, one after the other. */
  readonly mode: 'storm' | 'steps'
  readonly count?: number
  /** Milliseconds between two steps. */
  readonly pause?: number
  /** Waits for a line on standard input before it opens the gateway. */
  readonly held?: boolean
  /** A command that runs it, such as `strace`. */
  readonly under?: readonly string[]
  /** The user that it runs as. */
  readonly user?: number
  /** The folder of its journal. Default: a new folder. */
  readonly journal?: string
}

/** A process and its journal. */
export interface Load {
  readonly child: ChildProcess
  readonly journal: string
  /** Waits until it prints a word on standard output. */
  said(word: string): Promise<void>
  /** Its exit code or signal, and its standard error. */
  readonly ended: Promise<{ readonly code: number | string; readonly stderr: string }>
}

/** Starts a gateway on a site. */
export function startLoad({ config }: Site, options: LoadOptions): Load {
  const { under = [], user, journal = join(newFolder(), 'journal'), ...rest } = options
  const args = [process.execPath, bundledLoad(), JSON.stringify({ config, journal, ...rest })]
  const [command = process.execPath, ...more] = [...under, ...args]
  const child = spawn(command, more, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  let stderr = ''
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  const said = async (word: string): Promise<void> => {
    while (!stdout.includes(word)) await once(child.stdout, 'data')
  }
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<{ code: number | string; stderr: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'unknown', stderr }))
  })
  return { child, journal, said, ended }
}

/** Runs a gateway to its end. Returns its journal and how it ended. */
export async function runLoad(
  site: Site,
  options: LoadOptions,
): Promise<{ readonly lines: readonly Line[]; readonly code: number | string; readonly stderr: string }> {
  const { journal, ended } = startLoad(site, options)
  const { code, stderr } = await ended
  return { lines: existsSync(journal) ? readJournal(journal) : [], code, stderr }
}

/** A copy of a stopped site, in a new folder or in `folder`, including its head guard. */
export async function copySite({ config }: Site, folder: string = newFolder()): Promise<Site> {
  const data = join(folder, 'data')
  cpSync(config.data, data, { recursive: true })
  const headGuard = config.headGuard === undefined ? undefined : join(folder, 'heads')
  if (config.headGuard !== undefined && headGuard !== undefined && existsSync(config.headGuard))
    cpSync(config.headGuard, headGuard, { recursive: true })
  const moved = { ...config, data, headGuard }
  const keyring = await openKeyring(moved)
  return siteOf(moved, keyring)
}

/** Removes a copy. */
export function removeSite({ config }: Site): void {
  for (const folder of [config.data, config.headGuard ?? config.data]) {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why a command is not usable here; undefined if it is. */
export function unable(command: string, ...args: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) return `\`${command}\` cannot be run here: ${error.message}`
  return status === 0 ? undefined : `\`${command} ${args.join(' ')}\` fails here: ${stderr.trim()}`
}

/** Random numbers below 1 from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Prints a summary of the battery for the person who runs the tests. */
export function tell(battery: string, counts: Readonly<Record<string, unknown>>): void {
  const said = Object.entries(counts).map(([what, count]) => `${String(count)} ${what}`)
  process.stdout.write(`${battery}: ${said.join(', ')}\n`)
}
