// `tollgate policy draft`: drafts a policy for the known tools, to be reviewed and changed.

import { writeFileSync } from 'node:fs'
import type { Receipt } from '@tollgate/evidence'
import { keptName } from '@tollgate/kernel'
import { definitionOf } from '@tollgate/kernel/admin'
import { draftPolicy } from '../../tools/draft.ts'
import type { Offer } from '../../tools/offer.ts'
import { createSeenTools, type SeenTool, type SeenTools } from '../../tools/seen.ts'
import type { LedgerView } from '../../view.ts'
import type { GatewayOptions } from '../commands.ts'
import { configHere, withConnection, type Connection } from '../program/connect.ts'
import { definitionsOf, find, listingOf, warnOfMore } from '../mcp/names.ts'
import { word } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { withTrace } from './trace-source.ts'

interface DraftOptions extends GatewayOptions {
  readonly server?: readonly string[]
  readonly out?: string
  readonly observed?: boolean
  readonly trace?: string
  readonly unattended?: boolean
}

/** Drafts a policy and prints it, or writes it to a new file. */
export async function runDraft(terminal: Terminal, options: DraftOptions): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const offers = await offersOf(terminal, connection, options)
    const seen = await seenBy(terminal, options)
    if (offers.length === 0 && seen.length === 0) throw nothingToDraft(options)
    const text = draftPolicy(offers, 'draft', seen, options.unattended === true ? 'unattended' : 'attended')
    if (options.out === undefined) terminal.exact({ text }, text)
    else write(terminal, options.out, text)
    return 0
  })
}

function nothingToDraft({ observed }: DraftOptions): CommandError {
  if (observed === true) {
    return new CommandError(
      'nothing to draft from: no server has offered a tool, and no tool was called yet',
      'start the gateway and let an agent call its tools; denied calls count too',
    )
  }
  return new CommandError(
    'nothing to draft from: no server has offered a tool yet',
    'start the gateway and let a client connect, then try again',
    'add `--observed` to include called tools that no server describes',
  )
}

function write(terminal: Terminal, file: string, text: string): void {
  writeFileSync(file, text, { flag: 'wx' })
  terminal.data({ file }, '')
  terminal.say(
    `wrote a draft to \`${file}\`; review every line, then run \`tollgate policy activate ${word(file)}\``,
  )
}

async function seenBy(terminal: Terminal, options: DraftOptions): Promise<readonly SeenTool[]> {
  if (options.observed !== true) return []
  const tools = createSeenTools()
  if (options.trace === undefined) await takeNewest(tools, options)
  else {
    await withTrace(terminal, options, async ({ pages }) => {
      for await (const page of pages) page.forEach((entry) => tools.take(entry))
    })
  }
  const { server } = options
  const isWanted = ({ name }: SeenTool): boolean =>
    server?.some((each) => name.startsWith(`${each}/`) || name.startsWith(`${each}:`)) ?? true
  return tools.list().filter(isWanted)
}

const MAX_DECISIONS = 20_000
const PAGE = 1000
const utf8 = new TextDecoder()

/** Reads the newest decisions from the ledger file, because the API does not return kept calls. */
async function takeNewest(tools: SeenTools, options: DraftOptions): Promise<void> {
  const { openView } = await import('../../open.ts')
  const config = await configHere(options, 'the ledger of the calls', 'give a trace with `--trace`')
  const { view, close } = await openView(config)
  try {
    await takeFrom(tools, view)
  } finally {
    await close()
  }
}

async function takeFrom(tools: SeenTools, view: LedgerView): Promise<void> {
  let taken = 0
  let from: number | undefined
  do {
    const at: { from?: number } = from === undefined ? {} : { from }
    const page = await view.page({ filter: { kind: 'decision' }, direction: 'back', limit: PAGE, ...at })
    for (const { id, payload } of page.entries) {
      // Sound: a payload is a receipt, and each was checked when it was appended.
      const receipt = JSON.parse(utf8.decode(payload)) as Receipt
      const kept = await view.record(keptName({ id, clock: receipt.lamport_clock }))
      tools.take({ id, receipt, kept })
    }
    taken += page.entries.length
    from = page.next
  } while (from !== undefined && taken < MAX_DECISIONS)
}

async function offersOf(
  terminal: Terminal,
  connection: Connection,
  { server: wanted, observed }: DraftOptions,
): Promise<readonly Offer[]> {
  const listing = await listingOf(connection)
  const known = listing.servers.map(({ server }) => server)
  // A server that was only seen in calls has no entry here.
  const names = wanted?.filter((name) => observed !== true || known.includes(name)) ?? known
  const chosen = await Promise.all(names.map((name) => find(connection, listing, name)))
  warnOfMore(terminal, chosen, 'the draft does not contain them')
  const tools = new Map(chosen.flatMap((each) => each.tools.map((tool) => [tool.tool, tool])))
  const offers: Offer[] = []
  for (const { tool, offered, pinned } of tools.values()) {
    if (offered === null && pinned === null) continue
    const { offered_definition, pinned_definition } = await definitionsOf(connection, tool)
    const content = offered_definition ?? pinned_definition
    if (content) offers.push({ name: tool, definition: definitionOf(content) })
  }
  return offers
}
