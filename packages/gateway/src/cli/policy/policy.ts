// `tollgate policy activate`: puts a policy file in force.

import { readConfig } from '../../config/config.ts'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, dataOf } from '../program/connect.ts'
import { allowsAnything } from './policy-status.ts'
import type { Terminal } from '../program/terminal.ts'
import { policyIn } from './policy-file.ts'

/** Puts a policy file in force. A file with mistakes changes nothing. */
export async function runActivate(
  terminal: Terminal,
  options: GatewayOptions,
  file?: string,
): Promise<number> {
  const path = file ?? readConfig(dataOf(options)).policy
  const policy = policyIn(path, '; the policy in force is unchanged')
  return withConnection(options, 'write', async (connection) => {
    const answer = await ask<{ readonly receipt: string; readonly name: string; readonly hash: string }>(
      connection,
      '/v1/policy',
      { text: policy.text },
    )
    terminal.data(answer, answer.receipt)
    terminal.say(`\`${answer.name}\` (${answer.hash.slice(0, 8)}) is in force`)
    if (!allowsAnything(policy)) terminal.warn('the policy allows nothing')
    return 0
  })
}
