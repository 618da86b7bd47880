// Formats a receipt as one line.

import process from 'node:process'
import type { Blocked, Delegation, Receipt, SessionChange } from '@tollgate/evidence'
import { fitted } from '../program/fit.ts'
import { moment, shown } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

/** A receipt as the API returns it. */
export interface ShownEntry {
  readonly index: number
  readonly id: string
  readonly receipt: Receipt
}

/** Formats a receipt for a list: index, time, kind, description with an optional addition, start of its id. */
export function describe(entry: ShownEntry, paint: Colors, addition = ''): string {
  const start = ' '.repeat(Math.max(0, 6 - String(entry.index).length))
  return fitted(start + sentence(entry, paint, addition), 8, process.stdout.columns)
}

/** Formats the same as one line of any length. */
export function sentence({ index, id, receipt }: ShownEntry, paint: Colors, addition = ''): string {
  const kind = receipt.kind.padEnd(10)
  return `${index}  ${moment(receipt.time)}  ${kind}  ${about(receipt, paint)}${addition}  ${paint.dim(id.slice(0, 8))}`
}

/** Colours a verdict, a status or an answer. */
export function painted(word: string, paint: Colors): string {
  if (word === 'ALLOW' || word === 'COMPLETED' || word === 'GRANTED') return paint.green(word)
  return word === 'ESCALATE' || word === 'UNKNOWN' ? paint.yellow(word) : paint.red(word)
}

function about(receipt: Receipt, paint: Colors): string {
  switch (receipt.kind) {
    case 'genesis':
      return `created ledger ${shown(receipt.ledger)}`
    case 'decision': {
      const { verdict, tool, principal, reason_code, rung, rule } = receipt
      // A gate can deny a call that a rule allows.
      const part =
        rung === 'policy' ? `, rule ${shown(rule ?? '')}` : ` (matching rule: ${shown(rule ?? '')})`
      const named = rule === undefined ? '' : part
      return `${painted(verdict, paint)} ${shown(tool)} for ${shown(principal)}: ${reason_code} by ${rung}${named}`
    }
    case 'effect': {
      const { status, decision, reported_by, delivery } = receipt
      const delivered = delivery === 'full' ? '' : `, ${delivery}`
      return `outcome ${painted(status, paint)} of decision ${decision.slice(0, 8)}, reported by the ${reported_by}${delivered}`
    }
    case 'approval':
      return `${painted(receipt.answer, paint)} for ${receipt.decision.slice(0, 8)} by ${shown(receipt.approver)}${why(receipt.because)}`
    case 'freeze': {
      const { scope, target, frozen, by, because } = receipt
      const what = scope === 'all' ? 'everything' : `${scope} ${shown(target ?? '')}`
      return `${frozen ? 'froze' : 'unfroze'} ${what} by ${shown(by)}${why(because)}`
    }
    case 'policy':
      return `${shown(receipt.name)} (${receipt.policy_hash.slice(0, 8)}) activated by ${shown(receipt.by)}`
    case 'key':
      return `${receipt.op === 'add' ? 'added' : 'retired'} ${receipt.role} key`
    case 'pin':
      return `${receipt.op} ${shown(receipt.tool)} by ${shown(receipt.by)}`
    case 'token':
      return `${receipt.op} ${receipt.role} token ${receipt.token_hash.slice(0, 8)} of ${shown(receipt.principal ?? 'unknown')} by ${shown(receipt.by)}`
    case 'delegation':
      return delegated(receipt)
    case 'session':
      return sessionChanged(receipt)
    case 'observe':
      return `observe mode ${receipt.on ? 'on' : 'off'} for ${receipt.scope} ${shown(receipt.target)} by ${shown(receipt.by)}`
    case 'recovery':
      return `restart: ${receipt.closed} open calls recorded as UNKNOWN`
    case 'quota':
      return `${receipt.denials} more calls of ${shown(receipt.principal)} denied on ${receipt.day}: its ${receipt.of} quota was used up`
    case 'blocked':
      return blocked(receipt)
  }
}

function sessionChanged({ op, session, principal, by, because }: SessionChange): string {
  const what =
    op === 'trust' ? `reset trust of ${shown(principal)}` : `${op} ${shown(session)} of ${shown(principal)}`
  return because === undefined ? what : `${what} by ${shown(by ?? '')}: ${shown(because)}`
}

function blocked({ principal, page_host, hosts, requests, more }: Blocked): string {
  const page = page_host === undefined ? '' : ` by a page of ${shown(page_host)}`
  const rest = more === undefined ? '' : ' and others'
  return `blocked ${requests} requests${page} to ${hosts.map(shown).join(', ')}${rest} in the browser of ${shown(principal)}`
}

function why(because: string | undefined): string {
  return because === undefined ? '' : `: ${shown(because)}`
}

function delegated({ op, delegator, delegate, delegation_hash, expires, parent, by }: Delegation): string {
  const which = delegation_hash.slice(0, 8)
  const between = `${shown(delegator)} to ${shown(delegate)}`
  if (op === 'revoke') return `${which} from ${between} revoked by ${shown(by)}`
  const above = parent === undefined ? '' : `, below ${parent.slice(0, 8)}`
  return `${which} from ${between} until ${moment(expires)}${above}, registered by ${shown(by)}`
}
