// `tollgate tokens`: lists, issues and revokes access tokens.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection } from '../program/connect.ts'
import { moment, shown, table } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface ShownToken {
  readonly hash: string
  readonly role: string
  readonly principal: string
  readonly groups: readonly string[]
  readonly issued: string
  readonly expires: string | null
  readonly run: boolean
}

/** Lists the valid tokens by hash. */
export async function runList(terminal: Terminal, options: GatewayOptions): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const { tokens } = await ask<{ readonly tokens: readonly ShownToken[] }>(connection, '/v1/tokens')
    terminal.data({ tokens }, () => format(tokens))
    if (tokens.length === 0)
      terminal.say('no tokens; create one with `tollgate tokens issue --role ROLE --principal NAME`')
    return 0
  })
}

function format(tokens: readonly ShownToken[]): string {
  const rows = tokens.map(({ hash, role, principal, groups, issued, expires, run }) => [
    hash.slice(0, 16),
    role,
    shown(principal),
    groups.map(shown).join(', '),
    moment(issued),
    run ? 'end of this run' : expires === null ? 'never' : moment(expires),
  ])
  return rows.length === 0 ? '' : table(['HASH', 'ROLE', 'PRINCIPAL', 'GROUPS', 'ISSUED', 'EXPIRES'], rows)
}

interface IssueOptions extends GatewayOptions {
  readonly role: string
  readonly principal: string
  readonly group?: readonly string[]
  readonly lasts?: string
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Issues a token and prints it once. */
export async function runIssue(terminal: Terminal, options: IssueOptions): Promise<number> {
  const seconds = options.lasts === undefined ? undefined : secondsOf(options.lasts)
  return withConnection(options, 'write', async (connection) => {
    const issued = await ask<ShownToken & { readonly token: string }>(connection, '/v1/tokens', {
      role: options.role,
      principal: options.principal,
      ...(options.group && { groups: options.group }),
      ...(seconds !== undefined && { lasts_seconds: seconds }),
    })
    terminal.data(issued, issued.token)
    const end = issued.expires === null ? 'until it is revoked' : `until ${moment(issued.expires)}`
    terminal.say(`${options.role} token for \`${shown(issued.principal)}\`, valid ${end}; shown only once`)
    return 0
  })
}

function secondsOf(text: string): number {
  const [, digits, unit = ''] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? []
  const seconds = Number(digits) * (UNITS[unit] ?? NaN)
  if (seconds > 0 && seconds <= 3650 * 86_400) return seconds
  throw new UsageError(
    `\`--lasts ${text.slice(0, 40)}\` is not a duration`,
    'for example `12h` or `30d`, at most ten years',
  )
}

/** Revokes a token. */
export async function runRevoke(terminal: Terminal, options: GatewayOptions, hash = ''): Promise<number> {
  if (!/^[0-9a-f]{8,64}$/.test(hash)) {
    // The argument is not repeated, because it could be the token.
    throw new UsageError(
      'this is not the hash of a token',
      'give at least 8 characters of a hash from `tollgate tokens list`',
    )
  }
  return withConnection(options, 'write', async (connection) => {
    const revoked = await ask<ShownToken>(connection, `/v1/tokens/${hash}`, undefined, 'DELETE')
    terminal.data(revoked, revoked.hash)
    terminal.say(`revoked the token of \`${shown(revoked.principal)}\``)
    return 0
  })
}
