// `tollgate setup claude-code` and its like: makes a coding agent ask the gateway about each call. Shows everything first, asks once.

import { chmodSync, chownSync, existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { Config } from '../../../config/config.ts'
import { hooksPath, HAS_PIPES } from '../../../mcp/client/local-path.ts'
import type { GatewayOptions } from '../../commands.ts'
import { ask } from '../../program/ask.ts'
import { canAsk, confirm } from '../../program/confirm.ts'
import { dataOf, givenToken, withConnection, type Connection } from '../../program/connect.ts'
import { loginFor, placeOf } from '../../program/logins.ts'
import { shown } from '../../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../../program/terminal.ts'
import { unifiedDiff } from '../../program/unified-diff.ts'
import { applyChanges } from '../changes/apply.ts'
import { journalFolder } from '../changes/journal.ts'
import { undoInterrupted } from '../changes/undo.ts'
import { clientFiles, ownSurroundings, type Surroundings } from '../clients/clients.ts'
import { makePlan } from '../clients/plan.ts'
import { createData } from '../create.ts'
import { firstTokenOf } from '../setup-apply.ts'
import { agentFolder, agentOf, type Agent } from './agents.ts'
import { BY_HAND, codexHome, planFor, type AgentPlan } from './agent-plan.ts'
import { listHooks } from './codex-trust.ts'
import { DEVELOPER_POLICY } from './developer-policy.ts'
import { entryMark } from './hook-script.ts'
import { findCurl, install, installedToken, isInstalled, partsIn, type HookGateway } from './install.ts'
import { limitsOf } from './limits.ts'
import type { AgentId, SetupScope } from './names.ts'
import { takeOutHooks } from './take-out.ts'
import { versionNote, versionOf } from './version.ts'

/** Options of `tollgate setup AGENT`. */
export interface AgentOptions extends GatewayOptions {
  readonly scope?: SetupScope
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** Everything about one run. */
interface AgentRun {
  readonly terminal: Terminal
  readonly options: AgentOptions
  readonly agent: Agent
  readonly scope: SetupScope
  readonly at: Surroundings
  readonly folder: string
}

/** Returns the command for an agent. \`repair\` is the same: it adds what is missing, and corrects what differs. */
export function setupOf(id: AgentId): (terminal: Terminal, options: AgentOptions) => Promise<number> {
  return (terminal, options) => runSetup(terminal, options, agentOf(id))
}

async function runSetup(terminal: Terminal, options: AgentOptions, agent: Agent): Promise<number> {
  if (HAS_PIPES)
    throw new CommandError('hooks need a POSIX shell', 'on Windows, run the agent and Tollgate in WSL')
  const { scope = 'user' } = options
  const at = ownSurroundings()
  const folder = agentFolder(at, scope, agent.id)
  const run: AgentRun = { terminal, options, agent, scope, at, folder }
  recover(run)
  if (agent.id !== 'opencode') findCurl()
  const plan = await planFor(agent, scope, at, partsIn(folder, agent.id).entry)
  if (!plan) throw new UsageError(`${agent.name} has no scope \`${scope}\``, 'use `--scope user`')
  const installed = versionOf(agent)
  if (plan.files.length === 0 && isReady(run)) return nothingToDo(run, plan)
  show(run, plan, installed)
  await requireGateway(options)
  const isWanted = await isWantedBy(run, plan)
  const outcome = isWanted ? await carryOut(run, plan) : undefined
  if (terminal.json) {
    const files = plan.files.map(({ change }) => change.file)
    terminal.data(
      { agent: agent.id, scope, version: installed ?? null, files, applied: isWanted, ...outcome },
      '',
    )
  }
  return 0
}

/** Undoes what an interrupted run left, before anything is planned on it. */
function recover({ terminal, options, agent }: AgentRun): void {
  if (options.dryRun === true) return
  for (const { file, how } of undoInterrupted(journalFolder(), agent.id, takeOutHooks)) {
    const state = how === 'refused' ? 'could not be undone' : 'is as it was before'
    terminal.say(`an earlier setup was interrupted; \`${shown(file)}\` ${state}`)
  }
}

/** The gateway as the hook reaches it. */
function gatewayOf({ options }: AgentRun): HookGateway {
  const { url, ca } = options
  const own = ca === undefined ? undefined : resolve(ca)
  if (url !== undefined) return { url: url.replace(/\/+$/, ''), socket: undefined, ca: own }
  return { url: 'http://localhost', socket: hooksPath(dataOf(options)), ca: undefined }
}

function isReady(run: AgentRun): boolean {
  const { agent, folder } = run
  const token = installedToken(agent.id, folder)
  return token !== undefined && isInstalled(agent.id, folder, token, gatewayOf(run))
}

function nothingToDo({ terminal, agent, scope }: AgentRun, plan: AgentPlan): number {
  if (terminal.json) terminal.data({ agent: agent.id, scope, files: [], applied: false }, '')
  terminal.say(`nothing to change: ${agent.name} asks the gateway already (\`${shown(plan.file)}\`)`)
  terminal.say('`tollgate doctor` proves it with a call that must be denied')
  return 0
}

function show({ terminal, agent, scope }: AgentRun, plan: AgentPlan, installed: string | undefined): void {
  const { paint } = terminal
  if (!terminal.json) {
    const diffs = plan.files.map(({ change, text, edits, masks }) =>
      unifiedDiff(change.file, text, edits, masks, paint),
    )
    terminal.exact({}, `${diffs.join('\n')}\n`)
  }
  const note = versionNote(agent, installed)
  if (note) terminal.warn(...note)
  for (const each of plan.notes) terminal.warn(...each)
  const limits = limitsOf(agent.id, installed).filter(
    ({ instead }) => scope !== 'managed' || !instead.includes('--scope managed'),
  )
  if (limits.length > 0) {
    terminal.say(`${agent.name} cannot enforce everything:`)
    for (const { limit } of limits) terminal.say(`- ${limit}`)
  }
}

/** Fails before the question rather than after it, if the gateway that runs cannot be used. */
async function requireGateway(options: AgentOptions): Promise<void> {
  const isQuestion = options.dryRun !== true && (options.yes === true || canAsk())
  if (!isQuestion) return
  const isNew = options.url === undefined && !existsSync(join(dataOf(options), 'ledger.sqlite'))
  if (isNew || (givenToken(options) === undefined && loginFor(placeFor(options)))) return
  await withConnection(options, 'write', (connection) => ask(connection, '/v1/policy'))
}

function placeFor(options: AgentOptions): string {
  return placeOf({ url: options.url, data: dataOf(options) })
}

async function isWantedBy({ terminal, options, agent }: AgentRun, plan: AgentPlan): Promise<boolean> {
  if (options.dryRun === true) {
    terminal.say('this was a dry run; nothing was changed; without `--dry-run` the command makes the changes')
    return false
  }
  if (options.yes === true) return true
  if (!canAsk()) {
    terminal.say('nothing was changed, because this is not a terminal; add `--yes` to carry it out')
    return false
  }
  const files = plan.files.map(({ change }) => `\`${shown(change.file)}\``).join(' and ')
  const isWanted = await confirm(
    `${files === '' ? 'renew the hook' : `change ${files}`}, with a token for \`agent:${agent.id}\`?`,
  )
  if (!isWanted) terminal.say('nothing was changed')
  return isWanted
}

interface AgentOutcome {
  readonly backups: readonly string[]
  /** The first admin token, if there was none and it was not stored. */
  readonly token?: string
}

/** Carries out a plan. The configuration changes last: until then the agent works as before. */
async function carryOut(run: AgentRun, plan: AgentPlan): Promise<AgentOutcome> {
  const { terminal, options, agent, folder } = run
  const isNew = options.url === undefined && !existsSync(join(resolve(dataOf(options)), 'ledger.sqlite'))
  const config = options.url === undefined ? await dataFor(terminal, options) : undefined
  return withConnection(options, 'write', async (connection) => {
    const first = isNew && config ? await firstTokenOf(terminal, config, connection) : undefined
    install(agent.id, folder, await tokenFor(run, connection), gatewayOf(run))
    const { files } = applyChanges(
      journalFolder(),
      agent.id,
      plan.files.map(({ change }) => change),
    )
    for (const { file, backup } of files) {
      const copy = backup === '' ? 'new' : `backup: \`${shown(backup)}\``
      terminal.say(`wrote \`${shown(file)}\` (${copy})`)
    }
    terminal.say(`the token of \`agent:${agent.id}\` is in \`${shown(folder)}\`, which only you can read`)
    if (agent.id === 'codex') await confirmTrust(run, plan)
    await sayNext(run, plan, connection)
    const backups = files.flatMap(({ backup }) => (backup === '' ? [] : [backup]))
    return { backups, ...(first !== undefined && { token: first }) }
  })
}

function dataFor(terminal: Terminal, options: AgentOptions): Promise<Config> {
  return createData(resolve(dataOf(options)), {}, ({ what, where }) =>
    terminal.say(`created ${what}: \`${where}\``),
  )
}

interface ListedToken {
  readonly hash: string
  readonly principal: string
  readonly role: string
}

/** The token that is installed, if the gateway knows it. Otherwise a new one. */
async function tokenFor({ agent, folder }: AgentRun, connection: Connection): Promise<string> {
  const installed = installedToken(agent.id, folder)
  const principal = `agent:${agent.id}`
  if (installed !== undefined) {
    const { sha256Hex } = await import('@tollgate/evidence')
    const hash = sha256Hex(installed)
    const { tokens } = await ask<{ readonly tokens: readonly ListedToken[] }>(connection, '/v1/tokens')
    if (tokens.some((each) => each.hash === hash && each.principal === principal)) return installed
  }
  return (await ask<{ readonly token: string }>(connection, '/v1/tokens', { role: 'agent', principal })).token
}

/** Asks Codex itself whether it now runs the hooks. */
async function confirmTrust({ terminal, at, scope }: AgentRun, plan: AgentPlan): Promise<void> {
  if (scope === 'managed' || plan.todo.length > 0) return
  const listed = await listHooks(codexHome(at), at.project)
  const ours = listed?.filter(({ command }) => command.includes(entryMark(plan.entry))) ?? []
  const trusted = ours.filter(({ isTrusted }) => isTrusted)
  if (trusted.length > 0 && trusted.length === ours.length) {
    terminal.say(`Codex says that it trusts these ${trusted.length} hooks`)
  } else terminal.warn(...BY_HAND)
}

async function sayNext(
  { terminal, agent, scope, options, at }: AgentRun,
  plan: AgentPlan,
  connection: Connection,
): Promise<void> {
  const { id } = agent
  for (const each of plan.todo) terminal.warn(...each)
  if (scope === 'managed') giveToUser(terminal, agent, plan)
  const { text } = await ask<{ readonly text: string }>(connection, '/v1/policy')
  if (!text.includes('builtin/')) {
    terminal.warn(
      `your policy has no rules for the tools of ${agent.name}, so every call is denied`,
      `begin with the policy for developers: \`tollgate policy activate ${shown(DEVELOPER_POLICY)} --copy\``,
      'or add rules for `builtin/shell`, `builtin/read`, `builtin/edit` and so on: see docs/coding-agents.md',
      `or look first: \`tollgate policy observe --principal agent:${agent.id} --for 4h\``,
    )
  }
  const servers = unwrappedServers(id, at)
  if (servers.length > 0) {
    terminal.warn(
      `${agent.name} still starts MCP servers itself: ${servers.map((each) => shown(each)).join(', ')}`,
      `put them behind the gateway, too: \`tollgate setup mcp --client ${id}\``,
    )
  }
  if (options.url === undefined)
    terminal.say('while no gateway runs, every call is denied; start it with `tollgate up`')
  terminal.say(`restart ${agent.name}, then run \`tollgate doctor\`: it proves that the hook denies`)
  terminal.say(`\`tollgate setup ${id} undo\` restores the files, \`tollgate setup ${id} status\` shows them`)
}

/** The MCP servers of an agent that do not start behind the gateway. */
function unwrappedServers(id: AgentId, at: Surroundings): readonly string[] {
  const files = clientFiles(at).filter(({ client }) => client === id)
  const { servers } = makePlan(files, { servers: [], isBrowser: false, wrapper: () => [] }, at)
  return [...new Set(servers.filter(({ is }) => is === 'program').map(({ label }) => label))]
}

/** Root has written the token. The user who called `sudo` must be able to read it, and not to change it. */
function giveToUser(terminal: Terminal, { id, name }: Agent, { entry }: AgentPlan): void {
  const group = Number(process.env['SUDO_GID'] ?? NaN)
  const folder = dirname(entry)
  const { connection } = partsIn(folder, id)
  for (const each of [dirname(dirname(folder)), dirname(folder), folder]) chmodSync(each, 0o755)
  chmodSync(entry, 0o755)
  if (!Number.isInteger(group)) {
    terminal.warn(
      'only root can read the token now, so every call of other users is denied',
      `give it to the group of the user who runs ${name}: \`chgrp GROUP ${shown(connection)}; chmod 640 ${shown(connection)}\``,
    )
    return
  }
  chownSync(connection, 0, group)
  chmodSync(connection, 0o640)
}
