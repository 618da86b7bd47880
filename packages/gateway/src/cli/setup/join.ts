// `tollgate join`: adds this gateway to the ledger of others.

import { readConfig } from '../../config/config.ts'
import { joinLedger } from '../../join.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import type { Terminal } from '../program/terminal.ts'

/** Records the key of this gateway on the shared ledger. */
export async function runJoin(terminal: Terminal, options: DataOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  const key = await joinLedger(config)
  terminal.data({ writer: config.writer, key }, key)
  terminal.say(`\`${config.writer}\` writes to \`${config.ledger}\` with the key ${key.slice(0, 8)}`)
  terminal.say('next: `tollgate serve` starts this gateway')
  return 0
}
