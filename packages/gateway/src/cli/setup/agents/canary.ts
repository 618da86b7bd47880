// Lets the entry in the configuration of an agent ask for a call that must be denied, as the agent would. The denial names its receipt.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import process from 'node:process'
import { clearTimeout, setTimeout } from 'node:timers'
import { CANARY } from '../../../hooks/tools.ts'
import { readJsonTree } from '../clients/json-tree.ts'
import { nodeAt, type Node } from '../clients/tree.ts'
import { BLOCK } from './block.ts'
import type { Agent, HookFile } from './agents.ts'
import { SECONDS } from './hook-script.ts'
import { readText } from './plan.ts'

/** The outcome of one question. Only `denied` with a receipt is a proof. */
interface CanaryAnswer {
  /** `open`: the hook would let the call run. `missing`: the configuration has no entry. */
  readonly is: 'denied' | 'open' | 'missing'
  /** The id of the receipt that the denial names. */
  readonly receipt: string | undefined
  /** The text that the agent would show. */
  readonly text: string
}

/** Asks by the entry of one configuration file. Never throws. */
export async function askCanary(agent: Agent, wanted: HookFile): Promise<CanaryAnswer> {
  try {
    const ran = await runEntry(agent, wanted)
    if (!ran) return { is: 'missing', receipt: undefined, text: '' }
    const text = `${ran.stdout}\n${ran.stderr}`
    const receipt = /Receipt: ([0-9a-f]{64})/.exec(text)?.[1]
    return { is: isDenial(ran) ? 'denied' : 'open', receipt, text: text.trim().slice(0, 500) }
  } catch (fault) {
    return { is: 'open', receipt: undefined, text: fault instanceof Error ? fault.message : 'unknown fault' }
  }
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The two forms in which every agent blocks a call. */
function isDenial({ code, stdout }: Ran): boolean {
  return code === 2 || /"(?:permissionDecision|permission)":"deny"/.test(stdout)
}

function runEntry(agent: Agent, { file, mark }: HookFile): Promise<Ran> | undefined {
  const text = readText(file)
  if (text === undefined) return undefined
  const session = `canary-${randomBytes(8).toString('hex')}`
  if (agent.id === 'opencode') {
    return run(process.execPath, ['--input-type=module', '-e', PLUGIN, pathToFileURL(file).href, session], '')
  }
  const line = file.endsWith('.toml')
    ? commandInBlock(text, agent.call)
    : commandIn(nodeAt(readJsonTree(text), ['hooks', agent.call]), mark)
  return line === undefined
    ? undefined
    : run('/bin/sh', ['-c', line], JSON.stringify(payloadOf(agent, session)))
}

/** The command line of an event in our block of TOML. */
function commandInBlock(text: string, event: string): string | undefined {
  const block = text.slice(text.indexOf(BLOCK.begin), text.indexOf(BLOCK.end))
  const [, quoted] =
    new RegExp(`\\[\\[hooks\\.${event}\\.hooks\\]\\][^\\[]*?\\ncommand = (".*")`).exec(block) ?? []
  const line: unknown = quoted === undefined ? undefined : JSON.parse(quoted)
  return typeof line === 'string' ? line : undefined
}

/** The first command line below a node that has the mark. */
function commandIn(node: Node | undefined, mark: string): string | undefined {
  if (node?.kind === 'text') return node.value.includes(mark) ? node.value : undefined
  const below =
    node?.kind === 'list' ? node.items : node?.kind === 'table' ? node.members.map(({ value }) => value) : []
  for (const each of below) {
    const found = commandIn(each, mark)
    if (found !== undefined) return found
  }
  return undefined
}

/** The payload of the agent for a call of the canary. */
function payloadOf({ id, call }: Agent, session: string): object {
  const cwd = process.cwd()
  if (id === 'copilot') return { sessionId: session, cwd, toolName: CANARY.name, toolArgs: {} }
  return {
    ...{
      session_id: session,
      conversation_id: session,
      cwd,
      hook_event_name: call,
      permission_mode: 'default',
    },
    ...{ tool_name: CANARY.name, tool_input: {}, tool_use_id: session },
  }
}

/** Loads the plugin as OpenCode does, and calls its hook. A denial is a throw, which ends with the exit code 2 here. */
const PLUGIN = `
const [, file, session] = process.argv
const { Tollgate } = await import(file)
const hooks = await Tollgate({ directory: process.cwd() })
try {
  await hooks['tool.execute.before']({ tool: ${JSON.stringify(CANARY.name)}, sessionID: session, callID: session }, { args: {} })
} catch (fault) {
  console.error(fault.message)
  process.exit(2)
}`

async function run(program: string, args: readonly string[], input: string): Promise<Ran> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS.client * 1000)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A hook that refuses early does not read it.
  child.stdin.on('error', () => undefined).end(input)
  try {
    // Sound: the event has the exit code, or null after a signal.
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, stderr }
  } finally {
    clearTimeout(timer)
  }
}
