// `tollgate policy activate`: putting the policy file in force.

import { readConfig } from '../../config/config.ts'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, dataOf } from '../program/connect.ts'
import { allowsAnything } from './standing.ts'
import type { Terminal } from '../program/terminal.ts'
import { policyIn } from './policy-file.ts'

/** Puts a policy file in force. One with mistakes changes nothing. */
export async function runActivate(
  terminal: Terminal,
  options: GatewayOptions,
  file?: string,
): Promise<number> {
  const path = file ?? readConfig(dataOf(options)).policy
  const policy = policyIn(path, '; the policy in force stays')
  return withConnection(options, 'write', async (connection) => {
    const said = await ask<{ readonly receipt: string; readonly name: string; readonly hash: string }>(
      connection,
      '/v1/policy',
      { text: policy.text },
    )
    terminal.data(said, said.receipt)
    terminal.say(`\`${said.name}\` (${said.hash.slice(0, 8)}) is in force from now on`)
    if (!allowsAnything(policy)) terminal.warn('it lets nothing pass')
    return 0
  })
}
