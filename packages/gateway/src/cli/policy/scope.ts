// `tollgate scope open` and `tollgate scope show`: open a session with a scope, and show it.

import type { Scope, Widening } from '@tollgate/kernel/detection'
import { parseJson } from '@tollgate/evidence'
import type { GatewayOptions } from '../commands.ts'
import { ask, queryOf } from '../program/ask.ts'
import { withConnection } from '../program/connect.ts'
import { readText } from './scope-propose.ts'
import { moment, pairs, shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface OpenOptions extends GatewayOptions {
  readonly session: string
  readonly principal?: string
  readonly effect?: readonly string[]
  readonly tool?: readonly string[]
  readonly sink?: readonly string[]
  readonly lookedUp?: boolean
  readonly until?: string
}

interface OpenedSession {
  readonly session: string
  readonly principal: string
  readonly scope_hash: string
  readonly receipt: string | null
}

/** Opens a session with a scope. */
export async function runOpen(terminal: Terminal, options: OpenOptions, file?: string): Promise<number> {
  const scope = scopeIn(options, file)
  return withConnection(options, 'write', async (connection) => {
    const { session, principal } = options
    const body = { session_id: session, scope, ...(principal !== undefined && { principal }) }
    const opened = await ask<OpenedSession>(connection, '/v1/sessions', body)
    terminal.data(opened, opened.scope_hash)
    const whose = `session \`${shown(opened.session)}\` of ${shown(opened.principal)}`
    terminal.say(
      opened.receipt === null
        ? `${whose} already has this scope`
        : `${whose} now has this scope: side effects outside of it need an approval`,
    )
    return 0
  })
}

function scopeIn({ effect, tool, sink, lookedUp, until }: OpenOptions, file: string | undefined): unknown {
  const given = {
    ...(effect && { effects: effect }),
    ...(tool && { tools: tool }),
    ...(sink && { sinks: sink }),
    ...(lookedUp && { looked_up: true }),
    ...(until !== undefined && { until }),
  }
  const none = Object.keys(given).length === 0
  if (file === undefined && none) {
    throw new UsageError(
      'no scope given',
      'use a file, or `--effect`, `--tool`, `--sink`, `--looked-up`, `--until`',
    )
  }
  if (file === undefined) return { ...given, by: 'user' }
  if (!none) throw new UsageError('a file and scope options cannot be combined', 'use one of them')
  try {
    return parseJson(readText(file))
  } catch (fault) {
    if (fault instanceof CommandError) throw fault
    throw new CommandError(`\`${file}\` is not JSON`)
  }
}

interface ShownScope {
  readonly session: string
  readonly principal: string
  readonly scope_hash: string | null
  readonly scope: (Scope & { readonly also: readonly Widening[] }) | null
}

/** Shows the scope of a session. */
export async function runShow(
  terminal: Terminal,
  options: GatewayOptions & { readonly principal?: string },
  session = '',
): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const { principal } = options
    const query = queryOf(principal === undefined ? {} : { principal }).toString()
    const path = `/v1/sessions/${encodeURIComponent(session)}/scope${query === '' ? '' : `?${query}`}`
    const found = await ask<ShownScope>(connection, path)
    terminal.data(found, () => format(found))
    if (!found.scope) terminal.say('the session has no scope: only the policy applies')
    return 0
  })
}

function format({ scope, scope_hash }: ShownScope): string {
  if (!scope) return ''
  const names = (list: readonly string[] | undefined): string =>
    list === undefined ? 'not limited' : list.map(shown).join(', ') || 'none'
  const added = scope.also.map(({ tool, sinks }) => `${shown(tool)} (${names(sinks)})`)
  return pairs([
    ['effects', names(scope.effects)],
    ['tools', names(scope.tools)],
    ['sinks', names(scope.sinks)],
    ['looked up', scope.sinks === undefined ? 'not limited' : scope.looked_up ? 'in scope' : 'not in scope'],
    ['until', scope.until === undefined ? 'not limited' : moment(scope.until)],
    ['by', scope.by],
    ['added by approvals', added.join(', ') || 'nothing'],
    ['hash', scope_hash ?? ''],
  ])
}
