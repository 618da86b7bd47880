// Runs the real Codex in a folder of its own, with its provider at an address.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../gateway-rig.ts'

const BIN = fileURLToPath(
  new URL('../../../../compat/node_modules/@openai/codex/bin/codex.js', import.meta.url),
)

const PAGE = new URL('../../../../docs/llm.md', import.meta.url)

/** The provider block of docs/llm.md, for a gateway at this address. */
export function providerBlock(url: string): string {
  const [, block] = /```text\n(# ~\/\.codex\/config\.toml\n[^`]+)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  if (block === undefined) throw new Error('docs/llm.md has no provider block for Codex')
  return block.replace('http://127.0.0.1:7700', url)
}

export interface CodexRun {
  readonly code: number | null
  /** The events that \`codex exec --json\` printed. */
  readonly events: readonly Readonly<Record<string, unknown>>[]
  readonly stderr: string
  /** The working folder. */
  readonly work: string
}

/** Gives Codex one task, and waits until it ends. */
export async function runCodex(url: string, token: string, task: string): Promise<CodexRun> {
  const home = newFolder()
  const work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'note.txt'), 'milk, bread\n')
  writeFileSync(join(home, 'config.toml'), providerBlock(url))
  const args = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task]
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: home,
    CODEX_HOME: home,
    TOLLGATE_AGENT_TOKEN: token,
  }
  const child = spawn(process.execPath, [BIN, ...args], { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { code, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>), stderr, work }
}
