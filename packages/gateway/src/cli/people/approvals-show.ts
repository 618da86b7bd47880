// `tollgate approvals show`: shows one request, and its answer if there is one.

import { ANY_APPROVER, askText, idOf, pageLines, type WaitingApproval } from './approvals.ts'
import { ask } from '../program/ask.ts'
import type { GatewayOptions } from '../commands.ts'
import { withConnection } from '../program/connect.ts'
import { moment, pairs, shown } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'

interface ApprovalRequest extends Omit<WaitingApproval, 'until'> {
  readonly rung: string
  readonly delegation: string | null
  readonly args_hash: string
  readonly opened?: string
  readonly until: string | null
  readonly status: string
  readonly approver: string | null
  readonly because: string | null
}

/** Shows one request. */
export async function runShow(terminal: Terminal, options: GatewayOptions, which = ''): Promise<number> {
  return withConnection(options, 'memory', async (connection) => {
    const id = await idOf(connection, which)
    const request = await ask<ApprovalRequest>(connection, `/v1/approvals/${id}`)
    terminal.exact(request, () => format(request))
    return 0
  })
}

function format(request: ApprovalRequest): string {
  const { arguments: args } = request
  const whole =
    args === undefined ? '(not kept, or you are not allowed to see them)' : shown(JSON.stringify(args))
  return [pairs(rowsOf(request)), ...pageLines(request), 'Arguments:', whole].join('\n')
}

function rowsOf(request: ApprovalRequest): readonly (readonly [string, string])[] {
  const { rule, delegation, approver, because, opened, until, approvers, reason_required } = request
  const optional = (name: string, value: string | null | undefined): (readonly [string, string])[] =>
    value === null || value === undefined ? [] : [[name, shown(value)]]
  return [
    ['id', request.id],
    ['status', request.status.replace('_', ' ')],
    ['principal', shown(request.principal)],
    ...optional('delegation', delegation),
    ['session', shown(request.session)],
    ['tool', shown(request.tool)],
    ...optional('effect', request.effect_class),
    ['reason', `${request.reason_code} by ${request.rung}`],
    ...optional('rule', rule),
    ...request.asks.map((each) => ['overrides', askText(each)] as const),
    ['args_hash', request.args_hash],
    ...optional('opened', opened && moment(opened)),
    ...optional('until', until && moment(until)),
    ['approvers', approvers.map(shown).join(', ') || ANY_APPROVER],
    ...(reason_required === true ? [['because', 'required by the policy'] as const] : []),
    ...optional('answered by', approver),
    ...optional('because', because),
  ]
}
