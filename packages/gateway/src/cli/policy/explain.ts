// `tollgate policy explain`: explains why a call would be, or was, allowed or denied.

import process from 'node:process'
import type { ShownExplanation } from '../../api/explained.ts'
import type { GatewayOptions } from '../commands.ts'
import { bodyOf, callOf, timeOf, type CallOptions } from './explain-call.ts'
import { explanationText } from './explain-text.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface ExplainOptions extends GatewayOptions, CallOptions {
  /** A policy file to use instead of the ledger. */
  readonly policy?: string
}

/** Explains a hypothetical call or a past decision. Returns 0 for every verdict. */
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
    'a receipt already names its call',
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

/** Explains a call by a policy file only: without session state, freezes, pins and approvals. */
async function tried(options: ExplainOptions, file: string): Promise<ShownExplanation> {
  const [{ policyIn }, { tryCall }, { explainCall }, { showExplanation }] = await Promise.all([
    import('./policy-file.ts'),
    import('@tollgate/kernel/trial'),
    import('@tollgate/kernel/explanation'),
    import('../../api/explained.ts'),
  ])
  const policy = policyIn(file, '; nothing was explained')
  const { intent, snapshot } = tryCall(policy, callOf(options, 'default'), timeOf(options) ?? Date.now())
  return showExplanation(explainCall(intent, snapshot), policy.hash)
}

/** Whether to ask a gateway over HTTP, with the same test as `connect`. */
function asksGateway({ url, tokenFile }: GatewayOptions): boolean {
  const { TOLLGATE_TOKEN: token = '' } = process.env
  return url !== undefined || tokenFile !== undefined || token !== ''
}

async function asked(options: ExplainOptions): Promise<ShownExplanation> {
  if (options.at !== undefined) {
    throw new UsageError(
      '`--at` is not possible with a running gateway',
      'remove `--at`, or add `--policy FILE`',
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

/** Explains a call from the data directory with its current state. Works while a gateway runs. */
async function looked(terminal: Terminal, options: ExplainOptions): Promise<ShownExplanation> {
  const [{ openLook }, { foresee }, { readConfig }, { showExplanation }, { dataOf, ledgerIn, sayPlace }] =
    await Promise.all([
      import('../../open.ts'),
      import('@tollgate/kernel/workbench'),
      import('../../config/config.ts'),
      import('../../api/explained.ts'),
      import('../program/connect.ts'),
    ])
  const config = readConfig(dataOf(options))
  sayPlace(options, ledgerIn(config.data))
  const call = callOf(options, config.tenant)
  const at = timeOf(options)
  const look = await openLook(config, at)
  try {
    const { policy, explanation, time } = await foresee(look.kernel, call)
    if (at !== undefined && time > at) {
      terminal.warn(`the ledger is newer than \`--at\`; explained for ${new Date(time).toISOString()}`)
    }
    return showExplanation(explanation, policy.hash)
  } finally {
    await look.close()
  }
}
