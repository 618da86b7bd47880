// `tollgate policy explain`: why a call would be judged as it would, or why it was.

import process from 'node:process'
import type { ShownExplanation } from '../../api/explained.ts'
import type { GatewayOptions } from '../commands.ts'
import { bodyOf, callOf, timeOf, type CallOptions } from './explain-call.ts'
import { explanationText } from './explain-text.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface ExplainOptions extends GatewayOptions, CallOptions {
  /** A policy file that is tried alone. */
  readonly policy?: string
}

/** Explains a call that somebody might make, or a decision that was made. It is done whatever the verdict is. */
export async function runExplain(
  terminal: Terminal,
  options: ExplainOptions,
  receipt?: string,
): Promise<number> {
  if (receipt !== undefined) {
    refuseBoth(options)
    return (await import('./explain-receipt.ts')).explainReceipt(terminal, options, receipt)
  }
  const explanation = await explanationOf(terminal, options)
  terminal.data(explanation, () => explanationText(explanation, namesOf(options), terminal.paint))
  return 0
}

function refuseBoth(options: ExplainOptions): void {
  const { tool, args, argsFile, principal, policy } = options
  if ([tool, args, argsFile, principal, policy].every((each) => each === undefined)) return
  throw new UsageError(
    'a receipt says itself which call it was about',
    'give a receipt, or a call with `--tool` and `--principal`, not both',
  )
}

function namesOf({ tool = '', principal = '' }: CallOptions): {
  readonly tool: string
  readonly principal: string
} {
  return { tool, principal }
}

async function explanationOf(terminal: Terminal, options: ExplainOptions): Promise<ShownExplanation> {
  if (options.policy !== undefined) return tried(options, options.policy)
  return asksGateway(options) ? asked(options) : looked(terminal, options)
}

/** By a policy file alone: nothing is remembered, frozen, pinned or approved. */
async function tried(options: ExplainOptions, file: string): Promise<ShownExplanation> {
  const [{ policyIn }, { tryCall }, { explainCall }, { showExplanation }] = await Promise.all([
    import('./policy-file.ts'),
    import('@tollgate/kernel/trial'),
    import('@tollgate/kernel/explanation'),
    import('../../api/explained.ts'),
  ])
  const policy = policyIn(file, ', so nothing can be explained by it')
  const { intent, snapshot } = tryCall(policy, callOf(options, 'default'), timeOf(options) ?? Date.now())
  return showExplanation(explainCall(intent, snapshot), policy.hash)
}

/** Whether there is a gateway to ask, as in `connect`. */
function asksGateway({ url, tokenFile }: GatewayOptions): boolean {
  const { TOLLGATE_TOKEN: token = '' } = process.env
  return url !== undefined || tokenFile !== undefined || token !== ''
}

async function asked(options: ExplainOptions): Promise<ShownExplanation> {
  if (options.at !== undefined) {
    throw new UsageError(
      'a running gateway knows only its own time',
      'leave out `--at`, or add `--policy FILE`',
    )
  }
  const body = bodyOf(options)
  const [{ withConnection }, { ask }] = await Promise.all([
    import('../program/connect.ts'),
    import('../program/ask.ts'),
  ])
  return withConnection(options, 'read', async (connection) => {
    return await ask<ShownExplanation>(connection, '/v1/policy/explain', body)
  })
}

/** On the data directory itself: with all that is remembered, also beside a gateway. */
async function looked(terminal: Terminal, options: ExplainOptions): Promise<ShownExplanation> {
  const [{ openLook }, { foresee }, { readConfig }, { showExplanation }, { dataOf }] = await Promise.all([
    import('../../open.ts'),
    import('@tollgate/kernel/workbench'),
    import('../../config/config.ts'),
    import('../../api/explained.ts'),
    import('../program/connect.ts'),
  ])
  const config = readConfig(dataOf(options))
  const call = callOf(options, config.tenant)
  const at = timeOf(options)
  const look = await openLook(config, at)
  try {
    const { policy, explanation, time } = await foresee(look.kernel, call)
    if (at !== undefined && time > at) {
      terminal.warn(`the ledger is newer than \`--at\`; it is explained at ${new Date(time).toISOString()}`)
    }
    return showExplanation(explanation, policy.hash)
  } finally {
    await look.close()
  }
}
