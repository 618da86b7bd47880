// How the policy stands: what is in force, whether the file says something else, and whether anything passes at all.

import { sha256Hex } from '@tollgate/evidence/core'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import type { LedgerView } from '../../view.ts'
import { readIfThere } from '../program/connect.ts'

/** How the policy stands. */
interface PolicyStanding {
  /** The policy in force; undefined if there is none, or its text is damaged. */
  readonly active: Policy | undefined
  /** The policy file: as in force, different, wrong, or not there. */
  readonly file: 'in force' | 'pending' | 'mistaken' | 'missing'
}

/** How the policy of the gateway's own tenant stands. */
export async function policyStanding(view: LedgerView, config: Config): Promise<PolicyStanding> {
  const active = policyIn(await view.record(`policy\n${config.tenant}`))
  return { active, file: fileStanding(readIfThere(config.policy), active?.hash) }
}

function policyIn(text: string | undefined): Policy | undefined {
  const parsed = text === undefined ? undefined : parsePolicy(text)
  return parsed?.ok === true ? parsed.policy : undefined
}

function fileStanding(text: string | undefined, active: string | undefined): PolicyStanding['file'] {
  if (text === undefined) return 'missing'
  if (sha256Hex(text.toWellFormed()) === active) return 'in force'
  return parsePolicy(text).ok ? 'pending' : 'mistaken'
}

/** What to tell a person about the policy file; undefined if there is nothing to tell. */
export function pendingNotice(
  file: PolicyStanding['file'],
): readonly [sentence: string, remedy: string] | undefined {
  switch (file) {
    case 'in force':
      return undefined
    case 'pending':
      return [
        'the policy file has changed and is not in force',
        'put it in force with `tollgate policy activate`',
      ]
    case 'mistaken':
      return [
        'the policy file has changed and has mistakes; the last good one is in force',
        'see them with `tollgate policy check`',
      ]
    case 'missing':
      return [
        'the policy file is missing; the last one is in force',
        'put it back, or activate another with `tollgate policy activate FILE`',
      ]
  }
}

/** Whether there is any call that a policy could let pass, with or without a person. */
export function allowsAnything({ tools, rules }: Policy): boolean {
  return tools.length > 0 && rules.some(({ action }) => action !== 'deny')
}
