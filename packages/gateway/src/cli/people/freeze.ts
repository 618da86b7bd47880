// `tollgate freeze` and `tollgate unfreeze`.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection } from '../program/connect.ts'
import { nearHint } from '../program/forms.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface FreezeOptions extends GatewayOptions {
  readonly because?: string
}

const SCOPES = ['all', 'principal', 'tool', 'session']

/** Freezes all calls, a principal, a tool or a session. */
export function runFreeze(
  terminal: Terminal,
  options: FreezeOptions,
  scope = '',
  target?: string,
): Promise<number> {
  return change(terminal, options, { scope, target, frozen: true })
}

/** Lifts a freeze. */
export function runUnfreeze(
  terminal: Terminal,
  options: FreezeOptions,
  scope = '',
  target?: string,
): Promise<number> {
  return change(terminal, options, { scope, target, frozen: false })
}

interface FreezeChange {
  readonly scope: string
  readonly target: string | undefined
  readonly frozen: boolean
}

async function change(terminal: Terminal, options: FreezeOptions, wanted: FreezeChange): Promise<number> {
  const { scope, target, frozen } = wanted
  refuseInvalid(wanted)
  return withConnection(options, frozen ? 'restrict' : 'write', async (connection) => {
    const { because } = options
    const body = {
      scope,
      frozen,
      ...(target !== undefined && { target }),
      ...(because !== undefined && { because }),
    }
    const { receipt } = await ask<{ readonly receipt: string }>(connection, '/v1/freeze', body)
    terminal.data({ ...body, receipt }, receipt)
    const what = target === undefined ? 'all calls' : `${scope} \`${target}\``
    terminal.say(frozen ? `froze ${what}` : `unfroze ${what}`)
    return 0
  })
}

function refuseInvalid({ scope, target, frozen }: FreezeChange): void {
  const word = frozen ? 'freeze' : 'unfreeze'
  if (!SCOPES.includes(scope)) {
    throw new UsageError(
      `\`${scope.slice(0, 80)}\` cannot be frozen`,
      ...nearHint(scope, SCOPES),
      `use \`tollgate ${word} all\`, or \`principal\`, \`tool\` or \`session\` with a name`,
    )
  }
  if (scope === 'all' && target !== undefined)
    throw new UsageError('`all` takes no name', `use \`tollgate ${word} all\``)
  if (scope !== 'all' && target === undefined) {
    throw new UsageError(`the name of the ${scope} is missing`, `use \`tollgate ${word} ${scope} NAME\``)
  }
}
