// `tollgate policy activate`: putting the policy file in force.

import { readFileSync } from 'node:fs'
import { parsePolicy } from '@tollgate/kernel'
import { readConfig } from '../config.ts'
import type { GatewayOptions } from './commands.ts'
import { ask } from './ask.ts'
import { connect, dataOf } from './connect.ts'
import { allowsAnything } from './standing.ts'
import { CommandError, type Terminal } from './terminal.ts'

/** Puts a policy file in force. One with mistakes changes nothing. */
export async function runActivate(
  terminal: Terminal,
  options: GatewayOptions,
  file?: string,
): Promise<number> {
  const path = file ?? readConfig(dataOf(options)).policy
  const text = readFileSync(path, 'utf8')
  const parsed = parsePolicy(text)
  if (!parsed.ok) {
    throw new CommandError(
      `\`${path}\` has mistakes; the policy in force stays`,
      ...parsed.mistakes.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    )
  }
  const connection = await connect(options, 'write')
  try {
    const said = await ask<{ readonly receipt: string; readonly name: string; readonly hash: string }>(
      connection,
      '/v1/policy',
      { text },
    )
    terminal.data(said, said.receipt)
    terminal.say(`\`${said.name}\` (${said.hash.slice(0, 8)}) is in force from now on`)
    if (!allowsAnything(parsed.policy)) terminal.warn('it lets nothing pass')
    return 0
  } finally {
    await connection.close()
  }
}
