// `tollgate policy draft`: a first policy for the tools that the gateway knows, to be read and changed.

import { writeFileSync } from 'node:fs'
import { definitionOf } from '@tollgate/kernel'
import { draftPolicy } from '../tools/draft.ts'
import type { Offer } from '../tools/offer.ts'
import type { GatewayOptions } from './commands.ts'
import { connect, type Connection } from './connect.ts'
import { definitionsOf, find, listingOf, warnOfMore } from './mcp-names.ts'
import { word } from './table.ts'
import { CommandError, type Terminal } from './terminal.ts'

interface DraftOptions extends GatewayOptions {
  readonly server?: readonly string[]
  readonly out?: string
}

/** Drafts a policy and prints it, or writes it to a file that is not there yet. */
export async function runDraft(terminal: Terminal, options: DraftOptions): Promise<number> {
  const connection = await connect(options, 'read')
  try {
    const offers = await offersOf(terminal, connection, options.server)
    if (offers.length === 0) {
      throw new CommandError(
        'no server has offered a tool yet, so there is nothing to draft from',
        'start the gateway and let a client connect, then try again',
      )
    }
    const text = draftPolicy(offers)
    if (options.out === undefined) terminal.data({ text }, text)
    else write(terminal, options.out, text)
    return 0
  } finally {
    await connection.close()
  }
}

function write(terminal: Terminal, file: string, text: string): void {
  writeFileSync(file, text, { flag: 'wx' })
  terminal.data({ file }, '')
  terminal.say(`\`${file}\` holds a draft: read every line, then \`tollgate policy activate ${word(file)}\``)
}

async function offersOf(
  terminal: Terminal,
  connection: Connection,
  wanted: readonly string[] | undefined,
): Promise<readonly Offer[]> {
  const listing = await listingOf(connection)
  const names = wanted ?? listing.servers.map(({ server }) => server)
  const chosen = await Promise.all(names.map((name) => find(connection, listing, name)))
  warnOfMore(terminal, chosen, 'the draft has no line for them')
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
