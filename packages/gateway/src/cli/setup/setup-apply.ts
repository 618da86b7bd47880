// Carries out what `tollgate setup mcp` proposed: creates a data directory if there is none, wraps, approves, activates.

import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { hasLedger } from '../../ledger-store.ts'
import type { Config } from '../../config/config.ts'
import { isAtLeast } from '../../tools/finding.ts'
import { serverOf, toolOf, type Offer } from '../../tools/offer.ts'
import { listingOf } from '../mcp/names.ts'
import { ask } from '../program/ask.ts'
import { dataOf, localUser, withConnection, type Connection } from '../program/connect.ts'
import { shown } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { applyChanges, type FileChange } from './changes/apply.ts'
import { draftsIn, hashOf, journalFolder, noteDraft } from './changes/journal.ts'
import { createData } from './create.ts'
import { introduce } from './introduce.ts'
import { newToken } from './offer-login.ts'
import type { SetupOptions } from './setup-mcp.ts'
import type { Proposal } from './setup-report.ts'
import { TARGET } from './setup-undo.ts'
import { STARTER_CASES, STARTER_POLICY } from './starter.ts'

/** The result. */
interface SetupOutcome {
  /** Whether everything was done. If not, the rest stays blocked. */
  readonly isComplete: boolean
  readonly backups: readonly string[]
  readonly approved: readonly string[]
  readonly policy: 'active' | 'written' | 'none'
  readonly token?: string
}

/** Carries out a proposal. The client files change only after the gateway can be used. */
export async function carryOut(
  terminal: Terminal,
  options: SetupOptions,
  proposal: Proposal,
): Promise<SetupOutcome> {
  const data = resolve(dataOf(options))
  const isNew = !hasLedger(data)
  const config = await createData(data, {}, ({ what, where }) =>
    terminal.say(`created ${what}: \`${where}\``),
  )
  return withConnection(options, 'write', async (connection) => {
    const token = isNew ? await firstTokenOf(terminal, config, connection) : undefined
    const mayReplace = await isReplaceable(connection, config)
    const changes = [
      ...proposal.plan.files.map(({ change }) => change),
      ...(mayReplace && proposal.policy.failed.length === 0 ? policyChanges(config, proposal) : []),
    ]
    const { files } = applyChanges(journalFolder(), TARGET, changes)
    for (const { file, backup } of files)
      terminal.say(`changed \`${shown(file)}\`; backup beside it: \`${shown(basename(backup))}\``)
    const approved = await approve(terminal, connection, data, proposal)
    const policy = await activate(terminal, connection, config, proposal, mayReplace)
    sayNext(terminal, proposal)
    const isComplete = approved.isComplete && policy !== 'none'
    const backups = files.map(({ backup }) => backup)
    return { isComplete, backups, approved: approved.tools, policy, ...(token !== undefined && { token }) }
  })
}

/** A new gateway needs a first admin token: it approves tools and calls later. Returns it if it was not stored. */
export async function firstTokenOf(
  terminal: Terminal,
  config: Config,
  connection: Connection,
): Promise<string | undefined> {
  const principal = `user:${localUser()}`
  const first = await newToken(terminal, config, async () => {
    const request = { role: 'admin', principal }
    return (await ask<{ readonly token: string }>(connection, '/v1/tokens', request)).token
  })
  if (first.kind !== 'shown') return undefined
  if (!terminal.json) {
    terminal.say(`admin token of \`${principal}\`, shown only once; store it with \`tollgate login\`:`)
    terminal.line(first.token)
  }
  return first.token
}

/** Whether the policy is still the starter, or an unchanged draft of an earlier setup. Rules of the user are never replaced. */
async function isReplaceable(connection: Connection, { policy: file }: Config): Promise<boolean> {
  const { text } = await ask<{ readonly text: string }>(connection, '/v1/policy')
  const inFile = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  return (text === '' || isOurs(text)) && inFile !== undefined && isOurs(inFile)
}

/** Whether a text was written by this program and not changed since. */
function isOurs(text: string): boolean {
  if (text === STARTER_POLICY || text === STARTER_CASES) return true
  return draftsIn(journalFolder()).includes(hashOf(Buffer.from(text)))
}

function policyChanges({ policy: file }: Config, { policy }: Proposal): readonly FileChange[] {
  const cases = file.replace(/\.yaml$/, '.test.yaml')
  const mayReplace = existsSync(cases) && isOurs(readFileSync(cases, 'utf8'))
  return [changeOf(file, policy.text), ...(mayReplace ? [changeOf(cases, policy.cases)] : [])]
}

/** A draft is remembered, also after it is undone: it may still be in force, and may be replaced by the next one. */
function changeOf(file: string, text: string): FileChange {
  const after = Buffer.from(text)
  noteDraft(journalFolder(), hashOf(after))
  return { file, before: readFileSync(file), after, places: [] }
}

interface Approved {
  readonly tools: readonly string[]
  readonly isComplete: boolean
}

/** Approves the tools with exactly the definitions that were shown. Tools with a high finding stay blocked. */
async function approve(
  terminal: Terminal,
  connection: Connection,
  data: string,
  proposal: Proposal,
): Promise<Approved> {
  const high = new Set(proposal.findings.filter((each) => isAtLeast(each, 'high')).map(({ tool }) => tool))
  const tools = proposal.offers.filter(({ name }) => toolOf(name) !== undefined)
  const wanted = tools.filter(({ name }) => !high.has(name))
  await makeKnown(terminal, connection, data, proposal)
  const pinned = await pinnedNow(connection)
  const done: string[] = []
  for (const { name, definition } of wanted) {
    const isPinned = pinned.get(name) === definition.hash
    if (isPinned || (await pin(terminal, connection, { name, definition }))) done.push(name)
  }
  terminal.say(
    `approved ${done.length} of ${tools.length} tools, with exactly the definitions that were shown`,
  )
  if (tools.length > wanted.length) {
    terminal.warn(
      `${tools.length - wanted.length} tools with high-severity findings stay blocked`,
      'review each with `tollgate mcp show TOOL`; `tollgate mcp approve TOOL --despite-findings` approves it',
    )
  }
  return { tools: done, isComplete: done.length === tools.length }
}

async function pinnedNow(connection: Connection): Promise<ReadonlyMap<string, string | null>> {
  const { servers } = await listingOf(connection)
  return new Map(servers.flatMap(({ tools }) => tools.map(({ tool, pinned }) => [tool, pinned] as const)))
}

/** Tells the gateway what the servers offer. A running gateway starts them itself. */
async function makeKnown(
  terminal: Terminal,
  { local }: Connection,
  data: string,
  { offers, plan }: Proposal,
): Promise<void> {
  if (local?.catalogue) {
    for (const { name, definition } of offers) local.catalogue.offer(name, definition)
    return
  }
  for (const name of new Set(offers.map((each) => serverOf(each.name)))) {
    const address = plan.servers.find((each) => each.name === name)?.address
    if (address?.transport !== 'stdio') continue
    try {
      await introduce(data, name, address)
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : 'unknown fault'
      terminal.warn(`the gateway could not start \`${name}\`: ${shown(why)}`)
    }
  }
}

async function pin(
  terminal: Terminal,
  connection: Connection,
  { name, definition }: Offer,
): Promise<boolean> {
  try {
    await ask(connection, '/v1/tools/pin', { tool: name, hash: definition.hash })
    return true
  } catch (fault) {
    if (!(fault instanceof CommandError)) throw fault
    terminal.warn(`\`${shown(name)}\` stays blocked: ${fault.message}`, ...fault.hints)
    return false
  }
}

async function activate(
  terminal: Terminal,
  connection: Connection,
  config: Config,
  { policy }: Proposal,
  mayReplace: boolean,
): Promise<SetupOutcome['policy']> {
  if (policy.failed.length > 0) {
    terminal.warn(
      'the drafted policy failed its test and was not activated',
      'run `tollgate policy draft` and correct it',
    )
    return 'none'
  }
  if (!mayReplace) {
    terminal.warn(
      'your own policy stays in force; it may not know the new tools',
      'run `tollgate policy draft`, and copy the parts that you want into your policy',
    )
    return 'written'
  }
  try {
    await ask(connection, '/v1/policy', { text: policy.text })
  } catch (fault) {
    if (!(fault instanceof CommandError)) throw fault
    terminal.warn(
      `the drafted policy is not in force: ${fault.message}`,
      'activate it with `tollgate policy activate`',
    )
    return 'none'
  }
  terminal.say(
    `the drafted policy is in force: \`${shown(config.policy)}\`; after you change it, run \`tollgate policy activate\``,
  )
  return 'active'
}

function sayNext(terminal: Terminal, { plan }: Proposal): void {
  const clients = [...new Set(plan.files.map(({ from }) => from.name))].join(', ')
  terminal.say(`restart ${clients}; then every tool call is decided and recorded`)
  terminal.say('a call that needs an approval waits for you in `tollgate approvals`')
  terminal.say(
    'not approved: prompts, resources, sampling, elicitation and roots; `tollgate mcp approve SERVER` explains them',
  )
  terminal.say('`tollgate setup mcp undo` restores the files, `tollgate setup mcp status` shows them')
}
