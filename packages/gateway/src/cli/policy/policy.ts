// `tollgate policy activate`: puts a policy file in force.

import type { Config } from '../../config/config.ts'
import type { Policy } from '@tollgate/kernel/policy'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { configHere, withConnection, type Connection } from '../program/connect.ts'
import { adopt, adoptionOf, type AdoptOptions } from './adopt.ts'
import { allowsAnything } from './policy-status.ts'
import { canAsk, confirm } from '../program/confirm.ts'
import { shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { policyIn } from './policy-file.ts'

interface ActivateOptions extends GatewayOptions, AdoptOptions {
  readonly yes?: boolean
}

/** Puts a policy file in force. A file with mistakes changes nothing. */
export async function runActivate(
  terminal: Terminal,
  options: ActivateOptions,
  file?: string,
): Promise<number> {
  const config = await configFor(options, file)
  const path = file ?? config?.policy ?? ''
  const policy = policyIn(path, '; the policy in force is unchanged')
  const how = config && (await adoptionOf(config, path, options))
  return withConnection(options, 'write', async (connection) => {
    await confirmStarter(connection, policy, path, options)
    const answer = await ask<{ readonly receipt: string; readonly name: string; readonly hash: string }>(
      connection,
      '/v1/policy',
      { text: policy.text },
    )
    terminal.data(answer, answer.receipt)
    terminal.say(`\`${answer.name}\` (${answer.hash.slice(0, 8)}) is in force`)
    if (!allowsAnything(policy)) terminal.warn('the policy allows nothing')
    if (config && how) adopt(terminal, config, path, how, policy.text)
    return 0
  })
}

/** Returns the configuration; undefined for a file that is sent to another machine. */
async function configFor(options: ActivateOptions, file: string | undefined): Promise<Config | undefined> {
  if (file === undefined || options.url === undefined)
    return configHere(options, 'the policy file', 'give the file')
  if (options.copy !== true && options.remember !== true) return undefined
  throw new UsageError(
    '`--copy` and `--remember` change the data directory, and `--url` names a gateway that can be elsewhere',
    'run the command on the machine of the gateway, without `--url` and TOLLGATE_URL',
  )
}

const STARTER = 'starter'

/** Asks before the starter policy replaces another one: its rules are examples. @throws if a person does not confirm. */
async function confirmStarter(
  connection: Connection,
  { name }: Policy,
  path: string,
  { yes }: ActivateOptions,
): Promise<void> {
  if (name !== STARTER || yes === true) return
  const inForce = await ask<{ readonly name: string; readonly text: string }>(connection, '/v1/policy')
  if (inForce.text === '' || inForce.name === STARTER) return
  const what = `\`${path}\` is the starter policy, and would replace \`${shown(inForce.name)}\``
  if (canAsk()) {
    if (await confirm(`${what}. Replace it?`)) return
    throw new CommandError('nothing has changed', `\`${shown(inForce.name)}\` stays in force`)
  }
  throw new UsageError(
    what,
    'activate the file of your policy: `tollgate policy activate FILE --copy`',
    'or add `--yes` to use the starter policy',
  )
}
