// Reports which policy is in force, whether the policy file differs from it, and whether it can allow anything.

import { sha256Hex } from '@tollgate/evidence/core'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import type { LedgerView } from '../../view.ts'
import { readIfThere } from '../program/connect.ts'

interface PolicyStatus {
  /** The policy in force; undefined if there is none, or its text is damaged. */
  readonly active: Policy | undefined
  /** Compares the policy file with the policy in force. */
  readonly file: 'in force' | 'pending' | 'mistaken' | 'missing'
}

/** Returns the policy status of the gateway's own tenant. */
export async function policyStatus(view: LedgerView, config: Config): Promise<PolicyStatus> {
  const active = policyIn(await view.record(`policy\n${config.tenant}`))
  return { active, file: fileStatus(readIfThere(config.policy), active?.hash) }
}

function policyIn(text: string | undefined): Policy | undefined {
  const parsed = text === undefined ? undefined : parsePolicy(text)
  return parsed?.ok === true ? parsed.policy : undefined
}

function fileStatus(text: string | undefined, active: string | undefined): PolicyStatus['file'] {
  if (text === undefined) return 'missing'
  if (sha256Hex(text.toWellFormed()) === active) return 'in force'
  return parsePolicy(text).ok ? 'pending' : 'mistaken'
}

/** Returns a notice about the policy file and its remedy; undefined if the file is in force. */
export function pendingNotice(
  file: PolicyStatus['file'],
): readonly [sentence: string, remedy: string] | undefined {
  switch (file) {
    case 'in force':
      return undefined
    case 'pending':
      return [
        'the policy file has changed and is not in force',
        'activate it with `tollgate policy activate`',
      ]
    case 'mistaken':
      return [
        'the changed policy file has mistakes; the previous policy stays in force',
        'list the mistakes with `tollgate policy check`',
      ]
    case 'missing':
      return [
        'the policy file is missing; the last policy stays in force',
        'restore it, or activate another file with `tollgate policy activate FILE`',
      ]
  }
}

/** Whether a policy can allow any call, with or without an approval. */
export function allowsAnything({ tools, rules }: Policy): boolean {
  return tools.length > 0 && rules.some(({ action }) => action !== 'deny')
}
