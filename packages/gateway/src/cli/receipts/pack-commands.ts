// Declares `tollgate pack`: reading a pack without a gateway.

import type { To } from '../commands.ts'
import { dated, filtered } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `pack`. */
export function addPack(program: Command, to: To): void {
  const pack = program
    .command('pack')
    .summary('read a pack, offline')
    .description(
      'Shows who did what and when, who approved it and why. Needs no gateway. Each command verifies the whole pack, prints the result first, and has the exit code of `verify`.',
    )
  dated(filtered(reading(pack, 'list')))
    .summary('list the receipts of a pack, oldest first')
    .examples(
      ['tollgate pack list all.pack --trust trust.json', ''],
      ['tollgate pack list all.pack --trust trust.json --verdict DENY --since 2026-01-05', ''],
    )
    .action(to(async () => (await import('./pack-list.ts')).runList))
  reading(pack, 'show')
    .summary('show one receipt, with its approval, effect and policy')
    .argument('<receipt>', 'its id, at least 8 digits of it, or its index in the ledger')
    .examples(['tollgate pack show all.pack 12 --trust trust.json', ''])
    .action(to(async () => (await import('./pack-show.ts')).runShow))
  dated(filtered(reading(pack, 'find').argument('<text>', 'the text; upper and lower case are the same')))
    .summary('list the receipts that contain a text')
    .examples(['tollgate pack find all.pack "incident 7" --trust trust.json', ''])
    .action(to(async () => (await import('./pack-list.ts')).runFind))
}

function reading(parent: Command, name: string): Command {
  return parent
    .command(name)
    .argument('<pack>', 'the pack')
    .option('--trust <file>', 'the trust file with the ledger key; get it separately from the pack')
    .option('--json', 'print JSON')
}
