// The table of the contract, with the client for TypeScript.

import { inspect as show } from 'node:util'
import type { Json } from '../../evidence/src/index.ts'
import { createClient, ToolDenied, TollgateError } from '../src/index.ts'
import { contractTests, type ContractCall, type ContractEnd } from './contract.ts'

contractTests('the client for TypeScript', call)

async function call(given: ContractCall): Promise<ContractEnd> {
  const { url, token, does, wait, onDenied, onUnreported } = given
  const runs: Json[] = []
  const client = createClient({ url, token, retries: given.retries, timeout: 2_000, session: 's-1' })
  const person = createClient({ url, token: given.operatorToken }).approvals
  const tool = (args: Json): Json => {
    runs.push(args)
    if ('throws' in does) throw new Error(does.throws)
    return does.returns
  }
  const onWaiting = ({ id }: { id: string }): void => {
    if (given.person === 'approves') void person.approve(id)
    if (given.person === 'denies') void person.deny(id)
  }
  const guarded = client.guard(given.tool, tool, { approval: { wait, onWaiting }, onDenied, onUnreported })
  const outcome: unknown = await guarded(given.arguments).catch((fault: unknown) => fault)
  if (!(outcome instanceof TollgateError) || onDenied === 'return') {
    const gives = outcome instanceof ToolDenied ? outcome.toJSON() : outcome
    return { runs, ends: 'returned', gives, shown: show(gives, { depth: 9 }) }
  }
  const { stack = '', message, code } = outcome
  const shown = [String(outcome), stack, JSON.stringify(outcome), show(outcome, { depth: 9 })].join('\n')
  // Members behind getters and members that are not enumerable count, too.
  const gives = Object.fromEntries(
    Object.getOwnPropertyNames(outcome).map((name) => [name, memberOf(outcome, name)]),
  )
  return { runs, ends: code, gives: { ...gives, message }, shown }
}

function memberOf(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}
