// `tollgate policy observe`: switches observe mode, and shows where it is on.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { moment, shown, table, until, word } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface ObserveOptions extends GatewayOptions {
  readonly door?: string
  readonly principal?: string
  readonly for?: string
  readonly off?: boolean
}

/** A door or principal with observe mode on. */
export interface ShownObserved {
  readonly scope: 'door' | 'principal'
  readonly target: string
  readonly until: string
}

/** Switches observe mode, or shows where it is on if no option is given. */
export async function runObserve(terminal: Terminal, options: ObserveOptions): Promise<number> {
  const wanted = wantedBy(options)
  return withConnection(options, wanted ? 'write' : 'read', async (connection) => {
    return wanted ? await change(terminal, connection, wanted) : await list(terminal, connection)
  })
}

interface ObserveRequest {
  readonly scope: ShownObserved['scope']
  readonly target: string
  /** Null switches it off. */
  readonly seconds: number | null
}

function wantedBy({ door, principal, for: duration, off }: ObserveOptions): ObserveRequest | undefined {
  const target = door ?? principal
  if (target === undefined) {
    if (duration === undefined && off !== true) return undefined
    throw new UsageError(
      'no door or principal given',
      'name a door with `--door NAME`, or a principal with `--principal NAME`',
    )
  }
  if (door !== undefined && principal !== undefined) {
    throw new UsageError('`--door` and `--principal` cannot be combined', 'run the command once for each')
  }
  if ((duration === undefined) === (off !== true)) {
    throw new UsageError('no duration given', 'add `--for 4h` (at most 24h) or `--off`')
  }
  return {
    scope: door === undefined ? 'principal' : 'door',
    target,
    seconds: duration === undefined ? null : secondsIn(duration),
  }
}

function secondsIn(text: string): number {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,4})(m|h)$/.exec(text) ?? []
  const seconds = Number(count) * (unit === 'h' ? 3600 : 60)
  if (unit !== '' && seconds <= 86_400) return seconds
  throw new UsageError('invalid duration for observe mode', 'for example `30m` or `4h`, at most `24h`')
}

async function change(terminal: Terminal, connection: Connection, wanted: ObserveRequest): Promise<number> {
  const { receipt } = await ask<{ readonly receipt: string }>(connection, '/v1/observe', wanted)
  terminal.data({ ...wanted, receipt }, receipt)
  const whose = `${wanted.scope} \`${shown(wanted.target)}\``
  if (wanted.seconds === null) {
    terminal.say(`observe mode is off for ${whose}`)
    return 0
  }
  const end = moment(new Date(Date.now() + wanted.seconds * 1000).toISOString())
  terminal.warn(
    `OBSERVE MODE is on for ${whose} until about ${end}: calls that no rule matches are allowed`,
    'rules, gates and `require` still apply; calls that delete, pay, administer or send to a new hostname are not allowed',
    'then propose rules for the allowed calls: `tollgate policy learn`',
  )
  return 0
}

async function list(terminal: Terminal, connection: Connection): Promise<number> {
  const { observed } = await ask<{ readonly observed: readonly ShownObserved[] }>(connection, '/v1/observe')
  const rows = observed.map((each) => [each.scope, shown(each.target), moment(each.until), left(each)])
  const text = rows.length === 0 ? '' : table(['SCOPE', 'TARGET', 'UNTIL', 'LEFT'], rows)
  terminal.data({ observed }, text)
  if (rows.length === 0) terminal.say('observe mode is off')
  return 0
}

function left(each: ShownObserved): string {
  return until(each.until, Date.now())
}

/** Returns the warning that every status output shows; undefined while observe mode is off. */
export function observeNotice(
  observed: readonly ShownObserved[],
): readonly [sentence: string, ...remedy: string[]] | undefined {
  if (observed.length === 0) return undefined
  const whose = observed.map((each) => `${each.scope} ${shown(each.target)} until ${moment(each.until)}`)
  const [{ scope, target } = { scope: 'principal', target: '' }] = observed
  return [
    `OBSERVE MODE is on: calls that no rule matches are allowed for ${whose.join('; ')}`,
    `end it with \`tollgate policy observe --${scope} ${word(shown(target))} --off\`; propose rules with \`tollgate policy learn\``,
  ]
}
