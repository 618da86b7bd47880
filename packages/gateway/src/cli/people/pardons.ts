// `tollgate sessions reset`, `tollgate sessions close` and `tollgate trust reset`.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { ownerOf } from './sessions.ts'
import { shown } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface PardonOptions extends GatewayOptions {
  readonly because?: string
  readonly principal?: string
}

/** Resets the risk of a session. */
export function runReset(terminal: Terminal, options: PardonOptions, id = ''): Promise<number> {
  return ofSession(terminal, options, id, 'reset', 'has no risk now; its data labels stay')
}

/** Closes a session. */
export function runClose(terminal: Terminal, options: PardonOptions, id = ''): Promise<number> {
  return ofSession(terminal, options, id, 'close', 'is closed; a new call in it starts it again')
}

/** Resets the trust of a principal. */
export function runTrustReset(terminal: Terminal, options: PardonOptions, principal = ''): Promise<number> {
  const because = reasonIn(options, `trust reset ${principal}`)
  return send(terminal, options, `reset the trust of ${shown(principal)} to its initial score`, () =>
    Promise.resolve([`/v1/principals/${encodeURIComponent(principal)}/trust`, { because }]),
  )
}

function ofSession(
  terminal: Terminal,
  options: PardonOptions,
  id: string,
  act: 'reset' | 'close',
  done: string,
): Promise<number> {
  const because = reasonIn(options, `sessions ${act} ${id}`)
  return send(terminal, options, `session \`${shown(id)}\` ${done}`, async (connection) => {
    const principal = options.principal ?? (await ownerOf(connection, id))
    return [`/v1/sessions/${encodeURIComponent(id)}/${act}`, { principal, because }]
  })
}

async function send(
  terminal: Terminal,
  options: PardonOptions,
  done: string,
  order: (connection: Connection) => Promise<readonly [path: string, body: object]>,
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const [path, body] = await order(connection)
    const { receipt } = await ask<{ readonly receipt: string }>(connection, path, body)
    terminal.data({ receipt }, receipt)
    terminal.say(done)
    return 0
  })
}

function reasonIn({ because = '' }: PardonOptions, command: string): string {
  if (because.trim() !== '') return because
  throw new UsageError(
    'a reason is required; it is stored in the receipt',
    `use \`tollgate ${shown(command)} --because REASON\``,
  )
}
