// Runs the real Claude Code in a folder of its own, with only the two variables of docs/llm.md.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../gateway-rig.ts'

const BIN = fileURLToPath(
  new URL('../../../../compat/node_modules/@anthropic-ai/claude-code/bin/claude.exe', import.meta.url),
)
const PAGE = new URL('../../../../docs/llm.md', import.meta.url)

/** The variables of docs/llm.md, for a gateway at this address. */
function variables(url: string, token: string): Readonly<Record<string, string>> {
  const [, block = ''] = /### Claude Code\n[^`]+```sh\n([^`]+)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  const pairs = [...block.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value])
  if (pairs.length !== 2) throw new Error('docs/llm.md does not show two variables for Claude Code')
  return Object.fromEntries(
    pairs.map(([name, value = '']) => [
      name,
      value.startsWith('$(') ? token : value.replace('http://127.0.0.1:7700', url),
    ]),
  ) as Record<string, string> // Sound: each pair has a name and a value.
}

export interface ClaudeCodeRun {
  readonly code: number | null
  /** The events that `--output-format stream-json` printed. */
  readonly events: readonly Readonly<Record<string, unknown>>[]
  readonly stderr: string
  /** The working folder. */
  readonly work: string
}

/** Gives Claude Code one task, and waits until it ends. */
export async function runClaudeCode(url: string, token: string, task: string): Promise<ClaudeCodeRun> {
  const home = newFolder()
  const work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'note.txt'), 'milk, bread\n')
  const args = ['-p', task, '--output-format', 'stream-json', '--verbose', '--allowedTools', 'Bash,Read']
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: home,
    // Its own traffic to other hosts, which needs a network.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...variables(url, token),
  }
  const child = spawn(BIN, args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { code, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>), stderr, work }
}
