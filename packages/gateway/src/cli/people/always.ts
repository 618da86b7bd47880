// `tollgate approvals always`: proposes a narrow rule that allows a pending call from now on, shows it with its test, and activates it
// if the person may do that. Otherwise the changed policy becomes a file that an admin can activate.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Decision, Json } from '@tollgate/evidence'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { escalatedCall, proposeAlways, type AlwaysEdit } from '../../workbench/always.ts'
import { readConfig } from '../../config/config.ts'
import type { GatewayOptions } from '../commands.ts'
import { replacePolicyFile } from '../policy/adopt.ts'
import { ask } from '../program/ask.ts'
import { canAsk, confirm } from '../program/confirm.ts'
import { dataOf, withConnection, type Connection } from '../program/connect.ts'
import { counted, shown, word } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { unifiedDiff } from '../program/unified-diff.ts'
import { idOf, type WaitingApproval } from './approvals.ts'

interface AlwaysOptions extends GatewayOptions {
  readonly because?: string
  readonly out?: string
}

/** Proposes to allow a pending call always. Returns 1 if nothing was activated. */
export function runAlways(terminal: Terminal, options: AlwaysOptions, which = ''): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    return allowAlways(terminal, options, connection, await idOf(connection, which))
  })
}

/** The same over an open connection. */
export async function allowAlways(
  terminal: Terminal,
  options: AlwaysOptions,
  connection: Connection,
  id: string,
): Promise<number> {
  const { policy, proposal } = await proposalFor(connection, id)
  print(terminal, id, policy, proposal)
  if (options.out !== undefined) return write(terminal, options.out, proposal)
  const { role } = await ask<{ readonly role: string }>(connection, '/v1/status')
  if (role !== 'admin') {
    terminal.say(`your role \`${role}\` may not activate a policy, so the change becomes a proposal`)
    return write(terminal, `policy-always-${id.slice(0, 8)}.yaml`, proposal)
  }
  if (!canAsk()) {
    throw new CommandError(
      'nothing has changed: a person has to confirm',
      'add `--out FILE` to write the changed policy',
    )
  }
  if (!(await confirm('Put this policy in force, and approve the call?'))) {
    terminal.say('nothing has changed')
    return 1
  }
  await activate(terminal, options, connection, { id, policy, proposal })
  return 0
}

interface EscalatedRequest extends Omit<WaitingApproval, 'arguments'> {
  readonly arguments?: Json
  readonly status: string
}

async function proposalFor(
  connection: Connection,
  id: string,
): Promise<{ readonly policy: Policy; readonly proposal: AlwaysEdit }> {
  const request = await ask<EscalatedRequest>(connection, `/v1/approvals/${id}`)
  if (request.status !== 'waiting') throw new CommandError('this request does not wait any more')
  const { arguments: args } = request
  if (args === undefined)
    throw new CommandError('the arguments are lost or erased; the request can only be denied')
  const [{ receipt }, { text }] = await Promise.all([
    ask<{ readonly receipt: Decision }>(connection, `/v1/receipts/${id}`),
    ask<{ readonly text: string }>(connection, '/v1/policy'),
  ])
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new CommandError('the policy in force cannot be read by this version of tollgate')
  const proposal = proposeAlways(
    parsed.policy,
    escalatedCall(id, receipt, request.asks, args),
    Date.parse(receipt.time),
  )
  if (!proposal.ok) throw new CommandError(`no rule is proposed: ${proposal.why}`, proposal.remedy)
  return { policy: parsed.policy, proposal }
}

function print(terminal: Terminal, id: string, { name, text: before }: Policy, proposal: AlwaysEdit): void {
  const { rule, hosts, tried, loosened, text } = proposal
  const edits = proposal.insertions.map((each) => ({ start: each.at, end: each.at, text: each.text }))
  terminal.data({ request: id, policy: name, rule: rule ?? null, hosts, tried, loosened, text }, () =>
    [
      unifiedDiff(`policy ${name}`, before, edits, [], terminal.paint),
      '',
      ...hosts.map(
        (host) => `${host} then needs no approval as a destination, for any call that a rule allows.`,
      ),
      `Tested with ${counted(tried, 'generated call')} and this call. Calls that become allowed:`,
      ...loosened.map(
        ({ from, to, generated, cases }) =>
          `  ${counted(generated + cases, 'call')}: ${from.verdict} by ${shown(from.rule ?? from.rung)} becomes ALLOW by ${shown(to.rule ?? to.rung)}`,
      ),
    ].join('\n'),
  )
}

function write(terminal: Terminal, file: string, { text }: AlwaysEdit): number {
  if (existsSync(file))
    throw new CommandError(`\`${file}\` exists; nothing was written`, 'name another file with `--out FILE`')
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  terminal.say(`wrote the changed policy to \`${file}\``)
  terminal.say(
    `an admin reviews it with \`tollgate policy diff ${word(file)}\` and activates it with \`tollgate policy activate ${word(file)}\``,
  )
  return 1
}

async function activate(
  terminal: Terminal,
  options: AlwaysOptions,
  connection: Connection,
  { id, policy, proposal }: { readonly id: string; readonly policy: Policy; readonly proposal: AlwaysEdit },
): Promise<void> {
  const { text } = proposal
  const answer = await ask<{ readonly name: string; readonly hash: string }>(connection, '/v1/policy', {
    text,
    replaces: policy.hash,
  })
  terminal.say(`\`${shown(answer.name)}\` (${answer.hash.slice(0, 8)}) is in force`)
  keepFile(terminal, options, policy.text, text)
  const because = options.because ?? 'always allowed from now on, by a rule'
  await ask(connection, `/v1/approvals/${id}/approve`, { because })
  terminal.say(`approved ${id.slice(0, 8)}`)
}

/** Changes the policy file too, if it is on this machine and had the policy that was in force. */
function keepFile(terminal: Terminal, options: AlwaysOptions, before: string, after: string): void {
  if (options.url !== undefined) return
  const { policy: file } = readConfig(dataOf(options))
  if (existsSync(file) && readFileSync(file, 'utf8') === before) replacePolicyFile(terminal, file, after)
  else
    terminal.warn(`\`${file}\` differs from the policy in force`, 'compare them with `tollgate policy diff`')
}
