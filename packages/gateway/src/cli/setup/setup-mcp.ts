// `tollgate setup mcp`: puts the MCP servers of the user's clients behind the gateway. Shows everything first, asks once.

import { resolve } from 'node:path'
import { createCatalogue } from '@tollgate/kernel/admin'
import { defaultData } from '../../config/place.ts'
import { hasLedger } from '../../ledger-store.ts'
import { silent } from '../../log.ts'
import { inspect } from '../../tools/inspect.ts'
import type { AdapterName } from '../../browser/servers/adapters.ts'
import type { WebDraft } from '../../tools/draft.ts'
import { isAtLeast } from '../../tools/finding.ts'
import { toolOf } from '../../tools/offer.ts'
import type { DataOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { canAsk, confirm } from '../program/confirm.ts'
import { dataOf, givenToken, withConnection } from '../program/connect.ts'
import { nearHint } from '../program/forms.ts'
import { startWords } from '../program/launcher.ts'
import { loginFor, placeOf } from '../program/logins.ts'
import { counted, shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { journalFolder } from './changes/journal.ts'
import { undoInterrupted } from './changes/undo.ts'
import { clientFiles, ownSurroundings, type ClientId } from './clients/clients.ts'
import { meetServers } from './clients/meet.ts'
import { isChosen, makePlan, type ServerChoice, type FoundServer, type Plan } from './clients/plan.ts'
import { carryOut } from './setup-apply.ts'
import { draftAndTest } from './setup-policy.ts'
import { diffText, reportOf, serversText, toolsText, warnUnusable, type Proposal } from './setup-report.ts'
import { takeOut, TARGET } from './setup-undo.ts'

/** Options of `tollgate setup mcp`. */
export interface SetupOptions extends DataOptions {
  readonly client?: readonly ClientId[]
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** The servers that one of the two commands sets up. */
interface SetupKind {
  /** Only browser servers, or only others. */
  readonly isBrowser: boolean
  /** The pages for browser agents in the draft. */
  readonly web: WebDraft | undefined
}

/** Sets up all servers except browser servers. */
export async function runSetupMcp(
  terminal: Terminal,
  options: SetupOptions,
  ...servers: readonly string[]
): Promise<number> {
  const { draftedWeb } = await import('./setup-browser.ts')
  return setUp(terminal, options, servers, { isBrowser: false, web: draftedWeb(options) })
}

/** Finds the servers, shows the change, and carries it out after a yes. */
export async function setUp(
  terminal: Terminal,
  options: SetupOptions,
  servers: readonly string[],
  { isBrowser, web }: SetupKind,
): Promise<number> {
  recover(terminal, options)
  const wrapper: ServerChoice['wrapper'] = (name, browser) => wrapperWords(dataOf(options), name, browser)
  const choice: ServerChoice = { servers, isBrowser, wrapper }
  const plan = planOf(options, choice)
  refuseUnknown(plan, choice)
  if (!terminal.json)
    terminal.exact(
      {},
      serversText(plan, (each) => isChosen(choice, each)),
    )
  for (const each of plan.unusable) warnUnusable(terminal, each, choice.wrapper('NAME', undefined))
  noteRemote(terminal, plan)
  noteBrowsers(terminal, plan, choice)
  if (plan.files.length === 0) return nothingToDo(terminal, plan, choice)
  await requireGateway(options)
  const proposal = await proposalOf(terminal, plan, choice, web)
  show(terminal, proposal)
  const isWanted = await isWantedBy(terminal, options, proposal)
  const outcome = isWanted ? await carryOut(terminal, options, proposal) : undefined
  if (terminal.json) terminal.data({ ...reportOf(proposal), applied: isWanted, ...outcome }, '')
  return outcome?.isComplete === false ? 1 : 0
}

/** Undoes what an interrupted run left, before anything is planned on it. */
function recover(terminal: Terminal, { dryRun }: SetupOptions): void {
  if (dryRun === true) return
  for (const { file, how } of undoInterrupted(journalFolder(), TARGET, takeOut)) {
    terminal.say(
      how === 'refused'
        ? `an earlier setup was interrupted; \`${shown(file)}\` could not be undone`
        : `an earlier setup was interrupted; \`${shown(file)}\` is as it was before`,
    )
  }
}

/** Fails before the question rather than after it, if the gateway that runs cannot be used. A stored token is unlocked after it. */
async function requireGateway(options: SetupOptions): Promise<void> {
  const isQuestion = options.dryRun !== true && (options.yes === true || canAsk())
  if (!isQuestion || !hasLedger(dataOf(options))) return
  if (givenToken(options) === undefined && loginFor(placeOf({ data: dataOf(options) }))) return
  await withConnection(options, 'write', (connection) => ask(connection, '/v1/policy'))
}

function planOf({ client }: SetupOptions, choice: ServerChoice): Plan {
  const at = ownSurroundings()
  const files = clientFiles(at).filter((each) => client === undefined || client.includes(each.client))
  return makePlan(files, choice, at)
}

/** The words before a server's own command. */
function wrapperWords(data: string, name: string, browser: AdapterName | undefined): readonly string[] {
  const place = resolve(data) === resolve(defaultData()) ? [] : ['--data', resolve(data)]
  const guarded = browser === undefined ? [] : ['--browser', browser]
  return [...startWords(), 'mcp', ...place, '--name', name, ...guarded, '--']
}

function refuseUnknown({ servers }: Plan, choice: ServerChoice): void {
  for (const wanted of choice.servers) {
    if (servers.some((each) => each.label === wanted || each.name === wanted)) continue
    throw new UsageError(
      `no client has a server \`${shown(wanted.slice(0, 80))}\``,
      ...nearHint(
        wanted,
        servers.map(({ label }) => label),
      ),
      'run `tollgate setup mcp --dry-run` to list all servers',
    )
  }
}

function noteRemote(terminal: Terminal, { servers }: Plan): void {
  const remote = servers.filter(({ is }) => is === 'remote').map(({ label }) => shown(label))
  if (remote.length === 0) return
  terminal.say(
    `remote servers are left alone (${[...new Set(remote)].join(', ')}); to put one behind the gateway, list it under \`mcp.servers\` in \`tollgate.yaml\``,
  )
}

/** Browser servers need pages that the browser may use, so they have a command of their own. */
function noteBrowsers(terminal: Terminal, { servers }: Plan, { isBrowser }: ServerChoice): void {
  for (const { label, refused } of isBrowser ? servers : []) {
    if (refused === undefined) continue
    terminal.warn(
      `\`${shown(label)}\` is left alone: its option \`${shown(refused)}\` leads to another browser`,
      'remove the option, then run this again',
    )
  }
  const others = servers.filter(({ is, browser }) => is === 'program' && browser !== undefined)
  if (isBrowser || others.length === 0) return
  const labels = [...new Set(others.map(({ label }) => shown(label)))].join(', ')
  terminal.warn(
    `browser servers are left alone (${labels})`,
    'put them behind the gateway with `tollgate setup browser --domain HOST`',
  )
}

function nothingToDo(terminal: Terminal, { servers, unusable }: Plan, { isBrowser }: ServerChoice): number {
  if (terminal.json) terminal.data({ servers: servers.length, files: [], applied: false }, '')
  if (servers.some(({ is, browser }) => is === 'wrapped' && isBrowser === (browser !== undefined))) {
    terminal.say('nothing to change: the chosen servers are behind the gateway already')
    return 0
  }
  if (unusable.length > 0) return 1
  throw new CommandError(
    isBrowser
      ? 'found no MCP client on this machine whose configuration starts a browser server'
      : 'found no MCP client on this machine whose configuration starts a server',
    'run this in the directory of your project, if the project has its own configuration',
    isBrowser
      ? 'or write `tollgate mcp --browser playwright --` before the command of `@playwright/mcp`'
      : 'or write `tollgate mcp --` before the command of a server',
  )
}

// A server that was only asked for its lists has nothing to finish.
const GRACE_MS = 300

/** Starts the servers to list their tools, drafts a policy and tests it. */
async function proposalOf(
  terminal: Terminal,
  plan: Plan,
  choice: ServerChoice,
  web: WebDraft | undefined,
): Promise<Proposal> {
  const { createConnect } = await import('../../mcp/server/connect.ts')
  const asked = askable(plan, choice)
  terminal.say(`starting ${counted(asked.length, 'server')} to list tools; no tool is called`)
  const catalogue = createCatalogue()
  const met = await meetServers(createConnect({ log: silent, times: { grace: GRACE_MS } }), catalogue, asked)
  const offers = catalogue.names().flatMap((name) => {
    const definition = catalogue.offered(name)
    return definition ? [{ name, definition }] : []
  })
  return { plan, met, offers, findings: inspect(offers), policy: await draftAndTest(offers, web) }
}

/** The servers to start, each name once. Wrapped ones count, too: the policy is for all of them. */
function askable(
  { servers }: Plan,
  choice: ServerChoice,
): readonly { name: string; address: AskedAddress }[] {
  const byName = new Map<string, AskedAddress>()
  for (const server of servers) {
    const { name, address, missing, is } = server
    if (name === undefined || !address || missing.length > 0) continue
    if (is === 'wrapped' || isChosen(choice, server)) byName.set(name, address)
  }
  return [...byName].map(([name, address]) => ({ name, address }))
}

type AskedAddress = NonNullable<FoundServer['address']>

function show(terminal: Terminal, proposal: Proposal): void {
  const { plan, met, policy } = proposal
  if (!terminal.json) {
    terminal.exact({}, `\n${diffText(plan, terminal)}\n\n${toolsText(proposal, terminal)}\n`)
  }
  for (const { name, why } of met) {
    if (why === undefined) continue
    terminal.warn(
      `\`${name}\` did not answer: ${shown(why)}`,
      `approve its tools later: \`tollgate mcp approve ${name}\``,
    )
  }
  for (const { label, missing } of plan.servers) {
    if (missing.length === 0) continue
    terminal.warn(
      `\`${shown(label)}\` was not started: only its client knows ${missing.map((each) => `\`${shown(each)}\``).join(', ')}`,
      'start it in its client, then run `tollgate mcp list` and `tollgate mcp approve SERVER`',
    )
  }
  const tested = `${policy.passed} of ${policy.passed + policy.failed.length} test cases pass`
  terminal.say(`drafted a policy: reading is allowed, everything else asks a person; ${tested}`)
  for (const each of policy.failed.slice(0, 5)) terminal.warn(`this case fails: ${shown(each)}`)
}

async function isWantedBy(terminal: Terminal, options: SetupOptions, proposal: Proposal): Promise<boolean> {
  if (options.dryRun === true) {
    terminal.say('this was a dry run; nothing was changed; without `--dry-run` the command makes the changes')
    return false
  }
  if (options.yes === true) return true
  if (!canAsk()) {
    terminal.say('nothing was changed, because this is not a terminal; add `--yes` to carry it out')
    return false
  }
  const isWanted = await confirm(questionOf(proposal))
  if (!isWanted) terminal.say('nothing was changed')
  return isWanted
}

function questionOf({ plan, offers, findings, policy }: Proposal): string {
  const entries = plan.files.reduce((sum, { change }) => sum + change.places.length, 0)
  const high = new Set(findings.filter((each) => isAtLeast(each, 'high')).map(({ tool }) => tool))
  const tools = offers.filter(({ name }) => toolOf(name) !== undefined && !high.has(name)).length
  const parts = [
    `wrap ${counted(entries, 'server')}`,
    `approve ${counted(tools, 'tool')}`,
    ...(policy.failed.length === 0 ? ['activate the drafted policy'] : []),
  ]
  return `${parts.join(', ')}?`
}
