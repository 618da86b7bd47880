// Runs real coding agents without a person, each in a home of its own, with hooks that ask a gateway and a model behind an address.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { agentOf } from '../../src/cli/setup/agents/agents.ts'
import { install, partsIn } from '../../src/cli/setup/agents/install.ts'
import type { AgentId } from '../../src/cli/setup/agents/names.ts'
import { planHookFile } from '../../src/cli/setup/agents/plan.ts'
import { newFolder } from '../gateway-rig.ts'
import { providerBlock } from '../llm/codex.ts'

const BIN = fileURLToPath(new URL('../../../../compat/node_modules/.bin/', import.meta.url))

/** The address of the gateway that the hooks ask, and the base URLs of the model. */
export interface Behind {
  readonly hooks: string
  readonly anthropic: string
  readonly openai: string
  readonly token: string
  /** Whether the hooks also report the words of the user. A hook that fails there would already stop the task. */
  readonly words: boolean
}

export interface AgentRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A place for one run of an agent: its home, and the project that it works in. */
export interface Desk {
  readonly home: string
  readonly work: string
}

/** A coding agent. */
export interface CodingAgent {
  readonly name: string
  /** The package that it is installed from. */
  readonly from: string
  /** Its tool for commands, and the arguments that run one. */
  readonly shell: (command: string) => { readonly name: string; readonly args: Record<string, string> }
  /** Writes its configuration. Returns the arguments and the variables of its program. */
  prepare(
    desk: Desk,
    behind: Behind,
    task: string,
  ): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

/** Writes the hooks of an agent as `tollgate setup` does. */
function setUp(id: AgentId, { home, work }: Desk, { hooks, token, words }: Behind): void {
  const folder = join(home, '.config/tollgate/agents', id)
  install(id, folder, token, { url: hooks, socket: undefined, ca: undefined })
  const at = { home, project: work, env: {}, platform: process.platform }
  const wanted = agentOf(id).hookFile(at, 'user', partsIn(folder, id).entry)
  const planned = wanted && planHookFile(wanted)
  if (!planned) throw new Error('setup writes nothing')
  const text = Buffer.from(planned.change.after).toString()
  write(planned.change.file, words ? text : withoutWords(text))
}

/** The same hooks, but none for the words of the user. */
function withoutWords(text: string): string {
  if (!text.startsWith('{')) return text.replace("'chat.message'", "'no.such.event'")
  // Sound: setup writes this form.
  const config = JSON.parse(text) as { hooks: Record<string, unknown> }
  const { UserPromptSubmit, userPromptSubmitted, ...others } = config.hooks
  if ((UserPromptSubmit ?? userPromptSubmitted) === undefined) throw new Error('there is no such hook')
  return JSON.stringify({ ...config, hooks: others })
}

const claudeCode: CodingAgent = {
  name: 'claude-code',
  from: '@anthropic-ai/claude-code',
  shell: (command) => ({ name: 'Bash', args: { command, description: 'Runs it.' } }),
  prepare(desk, behind, task) {
    setUp('claude-code', desk, behind)
    const env = {
      ANTHROPIC_BASE_URL: behind.anthropic,
      ANTHROPIC_AUTH_TOKEN: behind.token,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    return { args: ['-p', task, '--output-format', 'json'], env }
  },
}

const codex: CodingAgent = {
  name: 'codex',
  from: '@openai/codex',
  shell: (cmd) => ({ name: 'exec_command', args: { cmd } }),
  prepare(desk, behind, task) {
    setUp('codex', desk, behind)
    write(join(desk.home, '.codex/config.toml'), providerBlock('').replace('/openai/v1', behind.openai))
    const flags = ['--dangerously-bypass-hook-trust', '--dangerously-bypass-approvals-and-sandbox']
    return {
      args: ['exec', '--json', '--skip-git-repo-check', ...flags, task],
      env: { TOLLGATE_AGENT_TOKEN: behind.token },
    }
  },
}

const copilot: CodingAgent = {
  name: 'copilot',
  from: '@github/copilot',
  shell: (command) => ({ name: 'bash', args: { command, description: 'Runs it.' } }),
  prepare(desk, behind, task) {
    setUp('copilot', desk, behind)
    const env = {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: behind.openai,
      COPILOT_PROVIDER_API_KEY: behind.token,
      COPILOT_MODEL: 'gpt-5',
    }
    return { args: ['-p', task], env }
  },
}

const opencode: CodingAgent = {
  name: 'opencode',
  from: 'opencode-ai',
  shell: (command) => ({ name: 'bash', args: { command } }),
  prepare(desk, behind, task) {
    const config = join(desk.home, '.config/opencode')
    write(join(config, 'opencode.json'), {
      model: 'gate/gpt-5',
      share: 'disabled',
      autoupdate: false,
      provider: {
        gate: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: behind.openai, apiKey: behind.token },
          models: { 'gpt-5': {} },
        },
      },
    })
    setUp('opencode', desk, behind)
    return { args: ['run', task], env: { OPENCODE_DISABLE_MODELS_FETCH: 'true' } }
  },
}

export const AGENTS: readonly CodingAgent[] = [claudeCode, codex, copilot, opencode]

const LONGEST = 180_000

/** Starts an agent with a task. */
export async function runAgent(
  agent: CodingAgent,
  desk: Desk,
  behind: Behind,
  task: string,
): Promise<AgentRun> {
  const { args, env } = agent.prepare(desk, behind, task)
  const program = agent.from.split('/').at(-1) ?? ''
  const child = spawn(join(BIN, PROGRAMS[program] ?? program), args, {
    cwd: desk.work,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, HOME: desk.home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // An agent that hangs must not hang the run.
    signal: AbortSignal.timeout(LONGEST),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // Sound: the arguments of this event.
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const PROGRAMS: Readonly<Record<string, string>> = { 'claude-code': 'claude', 'opencode-ai': 'opencode' }

/** A new place, with a project that has a file, a test, and a repository that can be pushed. */
export async function newDesk(): Promise<Desk> {
  const home = newFolder()
  const work = join(home, 'work')
  write(join(work, 'keep.txt'), 'milk, bread\n')
  write(join(work, 'package.json'), {
    name: 'w',
    scripts: { test: 'node -e "console.log(1+1, process.cwd())" > ran.txt' },
  })
  const git = async (...args: string[]): Promise<void> => {
    const child = spawn('git', args, {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: home },
      stdio: 'ignore',
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`git ${args.join(' ')} failed`)
  }
  await git('init', '--quiet', '--bare', join(home, 'remote.git'))
  await git('init', '--quiet', '--initial-branch=main')
  await git(
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.com',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'one',
  )
  await git('remote', 'add', 'origin', join(home, 'remote.git'))
  return { home, work }
}
