// `tollgate freeze` and `unfreeze`: the stop button.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection } from '../program/connect.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface FreezeOptions extends GatewayOptions {
  readonly because?: string
}

const SCOPES = ['all', 'principal', 'tool', 'session']

/** Freezes. */
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
  refuseNonsense(wanted)
  return withConnection(options, 'write', async (connection) => {
    const { because } = options
    const body = {
      scope,
      frozen,
      ...(target !== undefined && { target }),
      ...(because !== undefined && { because }),
    }
    const { receipt } = await ask<{ readonly receipt: string }>(connection, '/v1/freeze', body)
    terminal.data({ ...body, receipt }, receipt)
    const what = target === undefined ? 'everything' : `${scope} \`${target}\``
    terminal.say(frozen ? `${what} is frozen from now on` : `${what} is no longer frozen`)
    return 0
  })
}

function refuseNonsense({ scope, target, frozen }: FreezeChange): void {
  const word = frozen ? 'freeze' : 'unfreeze'
  if (!SCOPES.includes(scope)) {
    throw new UsageError(
      `\`${scope.slice(0, 80)}\` cannot be frozen`,
      `write \`tollgate ${word} all\`, or \`principal\`, \`tool\` or \`session\` and its name`,
    )
  }
  if (scope === 'all' && target !== undefined)
    throw new UsageError('`all` takes no name', `write \`tollgate ${word} all\``)
  if (scope !== 'all' && target === undefined) {
    throw new UsageError(`which ${scope}?`, `write \`tollgate ${word} ${scope} NAME\``)
  }
}
