// The table of coding agents: where each reads its hooks, in which form, and which versions were tried.

import { dirname, join } from 'node:path'
import { configHome } from '../../../config/place.ts'
import type { Surroundings } from '../clients/clients.ts'
import type { AddedMembers, Addition } from '../clients/json-merge.ts'
import { BLOCK } from './block.ts'
import { entryMark, hookCommand, LINE_MARK, SCRIPT_MARK, SECONDS } from './hook-script.ts'
import type { AgentId, SetupScope } from './names.ts'
import { pluginText } from './opencode-plugin.ts'

/** A file that makes an agent ask the gateway. */
export interface HookFile {
  readonly file: string
  /** `entries` are merged into JSON that may have others; a `block` is appended to TOML; a `whole` file is ours alone. */
  readonly form: 'entries' | 'block' | 'whole'
  /** The entries that the file must have, or its whole text. */
  readonly content: AddedMembers | string
  /** A text that only our entries contain. */
  readonly mark: string
}

/** A coding agent. */
export interface Agent {
  readonly id: AgentId
  /** Its name for people. */
  readonly name: string
  /** The program on the PATH that prints its version with `--version`. */
  readonly program: string
  /** The versions with which real hooks were tried, from the first to the last; undefined if none could be. */
  readonly tried: readonly [first: string, last: string] | undefined
  /** The first version that blocks a call whose hook fails by itself. */
  readonly needs?: string
  /** The name of the event before a call. */
  readonly call: string
  /** The events that ask the gateway. */
  readonly events: readonly string[]
  /** The file of a scope; undefined if the agent has no such scope. */
  readonly hookFile: (at: Surroundings, scope: SetupScope, script: string) => HookFile | undefined
}

const CLAUDE_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit']
const CODEX_EVENTS = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit']
const CURSOR_EVENTS = ['preToolUse', 'postToolUse', 'postToolUseFailure', 'beforeSubmitPrompt']
const COPILOT_EVENTS = ['preToolUse', 'postToolUse', 'userPromptSubmitted']

/** The entries of one form for each event. */
function entriesFor(events: readonly string[], entry: (event: string) => Addition): AddedMembers {
  return Object.fromEntries(events.map((event) => [event, [entry(event)]]))
}

const claudeCode: Agent = {
  id: 'claude-code',
  name: 'Claude Code',
  program: 'claude',
  tried: ['2.1.325', '2.1.325'],
  needs: '2.1.295',
  call: 'PreToolUse',
  events: CLAUDE_EVENTS,
  hookFile({ home, project, env, platform }, scope, script) {
    const mac = '/Library/Application Support/ClaudeCode'
    const file = {
      user: join(given(env['CLAUDE_CONFIG_DIR'], home, '.claude'), 'settings.json'),
      // The file of this user in the project: the script is this user's, too.
      project: join(project, '.claude', 'settings.local.json'),
      managed: join(platform === 'darwin' ? mac : '/etc/claude-code', 'managed-settings.json'),
    }[scope]
    const hooks = entriesFor(CLAUDE_EVENTS, (event) => {
      const command = hookCommand(script, event)
      return { hooks: [{ type: 'command', command, timeout: SECONDS.client, onFailure: 'block' }] }
    })
    return { file, form: 'entries', content: { hooks }, mark: entryMark(script) }
  },
}

const codex: Agent = {
  id: 'codex',
  name: 'Codex',
  program: 'codex',
  tried: ['0.166.0', '0.169.0'],
  call: 'PreToolUse',
  events: CODEX_EVENTS,
  hookFile({ home, project, env }, scope, script) {
    const mark = entryMark(script)
    if (scope === 'managed') {
      const content = codexBlock(script)
      return { file: '/etc/codex/requirements.toml', form: 'block', content, mark }
    }
    const folder = scope === 'user' ? given(env['CODEX_HOME'], home, '.codex') : join(project, '.codex')
    const hooks = entriesFor(CODEX_EVENTS, (event) => {
      return { hooks: [{ type: 'command', command: hookCommand(script, event), timeout: SECONDS.client }] }
    })
    return { file: join(folder, 'hooks.json'), form: 'entries', content: { hooks }, mark }
  },
}

/** The requirements that an administrator sets. Codex runs these hooks without the trust of its user. */
function codexBlock(script: string): string {
  const hooks = CODEX_EVENTS.flatMap((event) => [
    `[[hooks.${event}]]`,
    `[[hooks.${event}.hooks]]`,
    'type = "command"',
    `command = ${JSON.stringify(hookCommand(script, event))}`,
    `timeout = ${SECONDS.client}`,
    '',
  ])
  const head = [
    '[features]',
    'hooks = true',
    '',
    '[hooks]',
    `managed_dir = ${JSON.stringify(dirname(script))}`,
    '',
  ]
  return [BLOCK.begin, ...head, ...hooks, BLOCK.end, ''].join('\n')
}

const cursor: Agent = {
  id: 'cursor',
  name: 'Cursor',
  program: 'cursor',
  tried: undefined,
  call: 'preToolUse',
  events: CURSOR_EVENTS,
  hookFile({ home, project, platform }, scope, script) {
    const mac = '/Library/Application Support/Cursor'
    const folder = {
      user: join(home, '.cursor'),
      project: join(project, '.cursor'),
      managed: platform === 'darwin' ? mac : '/etc/cursor',
    }[scope]
    const hooks = entriesFor(CURSOR_EVENTS, (event) => {
      return { command: hookCommand(script, event), timeout: SECONDS.client, failClosed: true }
    })
    return {
      file: join(folder, 'hooks.json'),
      form: 'entries',
      content: { version: 1, hooks },
      mark: entryMark(script),
    }
  },
}

const copilot: Agent = {
  id: 'copilot',
  name: 'Copilot CLI',
  program: 'copilot',
  tried: ['1.0.102', '1.0.102'],
  call: 'preToolUse',
  events: COPILOT_EVENTS,
  hookFile({ home, project, env }, scope, script) {
    const folder = {
      user: join(given(env['COPILOT_HOME'], home, '.copilot'), 'hooks'),
      project: join(project, '.github', 'hooks'),
      managed: '/etc/github-copilot/policy.d',
    }[scope]
    const hooks = entriesFor(COPILOT_EVENTS, (event) => {
      return { type: 'command', bash: hookCommand(script, event), timeoutSec: SECONDS.client }
    })
    const content = `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`
    return { file: join(folder, 'tollgate.json'), form: 'whole', content, mark: LINE_MARK }
  },
}

const opencode: Agent = {
  id: 'opencode',
  name: 'OpenCode',
  program: 'opencode',
  tried: ['1.18.33', '1.18.33'],
  call: 'tool.execute.before',
  events: ['tool.execute.before', 'tool.execute.after', 'chat.message'],
  hookFile({ home, project, env }, scope, script) {
    if (scope === 'managed') return undefined
    const config = join(given(env['XDG_CONFIG_HOME'], home, '.config'), 'opencode')
    const folder = scope === 'user' ? config : join(project, '.opencode')
    const content = pluginText(script)
    return {
      file: join(folder, 'plugins', 'tollgate.js'),
      form: 'whole',
      content,
      mark: SCRIPT_MARK.slice(2),
    }
  },
}

const TABLE: readonly Agent[] = [claudeCode, codex, cursor, copilot, opencode]

/** The agent with a name. */
export function agentOf(id: AgentId): Agent {
  const found = TABLE.find((each) => each.id === id)
  if (!found) throw new Error(`no agent \`${id}\``)
  return found
}

/** The folder of the script and the token of an agent. The gate protects it: its policy facts know the folder. */
export function agentFolder(at: Surroundings, scope: SetupScope, id: AgentId): string {
  return join(scope === 'managed' ? '/etc/tollgate' : configHome(at.env), 'agents', id)
}

/** The folder that a variable names. An empty variable counts as not set. */
function given(value: string | undefined, ...otherwise: readonly string[]): string {
  return value === undefined || value === '' ? join(...otherwise) : value
}
