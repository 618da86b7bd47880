// Explains a past decision from its receipt and the policy of that time.

import { adviceOf, reasonOf, type Decision } from '@tollgate/evidence'
import { parsePolicy, type Rule } from '@tollgate/kernel/policy'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import type { GatewayOptions } from '../commands.ts'
import { painted, type ShownEntry } from '../receipts/describe.ts'
import { explainKept } from './explain-kept.ts'
import { explanationText } from './explain-text.ts'
import { receiptNamed } from '../receipts/receipts.ts'
import { HOW_TO_KEEP } from './trace-source.ts'
import { moment, pairs, shown } from '../program/table.ts'
import { UsageError, type Colors, type Terminal } from '../program/terminal.ts'

interface WrittenRule {
  readonly id: string
  readonly line: number
  readonly text: string
}

/** Explains a decision. @throws UsageError if `which` does not name exactly one receipt. */
export async function explainReceipt(
  terminal: Terminal,
  options: GatewayOptions,
  which: string,
): Promise<number> {
  refuseMalformed(which)
  return withConnection(options, 'read', async (connection) => {
    const entry = await receiptNamed(connection, which)
    const receipt = decisionIn(entry)
    const policy = await policyText(connection, receipt.policy_hash)
    const rule = receipt.rule === undefined ? undefined : writtenRule(policy, receipt.rule)
    const { local } = connection
    const found = local ? await explainKept(local.view, { ...entry, receipt }) : 'not here'
    const kept = typeof found === 'string' || 'unreadable' in found ? undefined : found
    const reason = reasonOf(receipt.reason_code)
    const [message, remedy] = reason ? [reason.sentence, adviceOf(reason)] : ['', '']
    terminal.data({ ...entry, message, remedy, rule: rule ?? null, explanation: kept ?? null }, () => {
      const facts = { id: entry.id, receipt, message, remedy, rule, known: policy !== undefined }
      const { tool, principal } = receipt
      const text = decisionText(facts, terminal.paint)
      return kept ? `${text}\n\n${explanationText(kept, { tool, principal }, terminal.paint)}` : text
    })
    if (typeof found === 'string') printNotKept(terminal, found)
    else if ('unreadable' in found) terminal.say(`only the receipt can be explained; ${found.unreadable}`)
    else if (found.verdict !== receipt.verdict)
      terminal.say('a person answered this call, so the receipt differs from the ladder')
    return 0
  })
}

function printNotKept(terminal: Terminal, why: 'not kept' | 'not the same' | 'not here'): void {
  switch (why) {
    case 'not kept':
      terminal.say('only the receipt can be explained: the call or its session state was not kept')
      HOW_TO_KEEP.forEach((line) => terminal.say(line))
      return
    case 'not the same':
      terminal.warn(
        'the replay differs from the receipt, so the decision cannot be explained',
        'show the differences with `tollgate policy replay`',
      )
      return
    case 'not here':
      terminal.say(
        'for a full explanation, run this command on the data directory: calls are only kept there',
      )
  }
}

function refuseMalformed(which: string): void {
  if (/^[0-9a-f]{8,64}$/.test(which)) return
  throw new UsageError(
    `\`${which.slice(0, 80)}\` is not the id of a receipt`,
    'give its id, or at least the first 8 digits, as shown by `tollgate receipts list`',
  )
}

function decisionIn({ receipt, id }: ShownEntry): Decision {
  if (receipt.kind === 'decision') return receipt
  const about = receipt.kind === 'effect' || receipt.kind === 'approval' ? receipt.decision : undefined
  throw new UsageError(
    `\`${id.slice(0, 8)}\` is a receipt of kind ${receipt.kind}; only decisions can be explained`,
    about === undefined
      ? `show it with \`tollgate receipts show ${id.slice(0, 8)}\``
      : `for its decision, run \`tollgate policy explain ${about.slice(0, 8)}\``,
  )
}

/** Returns the text of the policy of that time. Over HTTP, only the current policy is available. */
async function policyText({ local, ...rest }: Connection, hash: string): Promise<string | undefined> {
  if (local) return local.view.record(`text\n${hash}`)
  const now = await ask<{ readonly hash: string | null; readonly text: string | null }>(
    { local, ...rest },
    '/v1/policy',
  )
  return now.hash === hash && now.text !== null ? now.text : undefined
}

function writtenRule(policy: string | undefined, id: string): WrittenRule | undefined {
  const parsed = policy === undefined ? undefined : parsePolicy(policy)
  if (policy === undefined || parsed?.ok !== true) return undefined
  const rule = parsed.policy.rules.find((each) => each.id === id)
  return rule && { id, line: rule.line, text: textOf(rule, parsed.policy.rules, policy) }
}

const MAX_LINES = 30

function textOf({ line }: Rule, rules: readonly Rule[], policy: string): string {
  const lines = policy.split('\n')
  const next = rules.find((each) => each.line > line)?.line ?? lines.length + 1
  const [first = '', ...more] = lines.slice(line - 1, Math.max(line, next - 1))
  const depth = indentOf(first)
  const end = more.findIndex((each) => each.trim() !== '' && indentOf(each) <= depth)
  const own = [first, ...(end < 0 ? more : more.slice(0, end))].slice(0, MAX_LINES)
  return own
    .map((each) => each.slice(Math.min(depth, indentOf(each))))
    .join('\n')
    .trimEnd()
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

interface ShownDecision {
  readonly id: string
  readonly receipt: Decision
  readonly message: string
  readonly remedy: string
  readonly rule: WrittenRule | undefined
  /** Whether the text of the policy is known. */
  readonly known: boolean
}

function decisionText({ id, receipt, message, remedy, rule, known }: ShownDecision, paint: Colors): string {
  const { verdict, tool, principal, reason_code, rung, time, session, door, policy_hash } = receipt
  const named = receipt.rule === undefined ? '' : `, rule ${shown(receipt.rule)}`
  const where = known ? '' : ', no longer in force; its text is in the data directory'
  return [
    `${painted(verdict, paint)} ${shown(tool)} for ${shown(principal)}: ${reason_code} by ${rung}${named}`,
    message,
    ...(verdict === 'ALLOW' ? [] : [remedy]),
    '',
    pairs([
      ['receipt', id],
      ['when', moment(time)],
      ['session', shown(session.id)],
      ['door', door],
      ['policy', `${policy_hash.slice(0, 8)}${where}`],
      ...(receipt.asks ?? []).map((each, i): [string, string] => [
        i === 0 ? 'escalated for' : '',
        shown(each),
      ]),
    ]),
    ...(rule ? ['', paint.bold(`rule ${shown(rule.id)}, line ${rule.line}`), lines(rule.text)] : []),
  ].join('\n')
}

function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${shown(line)}`)
    .join('\n')
}
