// Reports which policy is in force, whether the policy file differs from it, and whether it can allow anything.

import { sha256Hex } from '@tollgate/evidence/core'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import type { LedgerView } from '../../view.ts'
import { readIfThere } from '../program/connect.ts'
import { shown } from '../program/table.ts'

/** The policy in force and the policy file. */
export interface PolicyStatus {
  /** The policy in force; undefined if there is none, or its text is damaged. */
  readonly active: Policy | undefined
  /** Compares the policy file with the policy in force. */
  readonly file: 'in force' | 'pending' | 'mistaken' | 'missing'
  /** The path of the policy file. */
  readonly path: string
}

/** Returns the policy status of the gateway's own tenant. */
export async function policyStatus(view: LedgerView, config: Config): Promise<PolicyStatus> {
  const active = policyIn(await view.record(`policy\n${config.tenant}`))
  return { active, file: fileStatus(readIfThere(config.policy), active?.hash), path: config.policy }
}

/** Returns a sentence that names the policy in force, and says whether it is the text of the policy file. */
export function inForceSentence({ active, file, path }: PolicyStatus): string {
  if (!active) return 'no policy is in force: every call is denied'
  const same = file === 'in force' ? `, from \`${path}\`` : `; \`${path}\` has another text`
  return `in force is ${nameOf(active)}${same}`
}

/** Returns the name and the short hash of a policy. */
export function nameOf({ name, hash }: Pick<Policy, 'name' | 'hash'>): string {
  return `\`${shown(name)}\` (${hash.slice(0, 8)})`
}

/** Reads the policy status of a data directory from its ledger. Works while a gateway runs. */
export async function statusOn(config: Config): Promise<PolicyStatus> {
  // Imported here, because opening a ledger takes longer than most commands about files.
  const { openView } = await import('../../open-view.ts')
  const opened = await openView(config)
  try {
    return await policyStatus(opened.view, config)
  } finally {
    await opened.close()
  }
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

/** The facts of a notice. The path is undefined if the file is on another machine. */
interface Notable {
  readonly file: PolicyStatus['file']
  readonly path: string | undefined
  readonly active: Pick<Policy, 'name' | 'hash'> | undefined
}

/** Returns a notice about the policy file and its remedies; undefined if the file is in force. */
export function pendingNotice({
  file,
  path,
  active,
}: Notable): readonly [sentence: string, ...remedies: string[]] | undefined {
  const stays = active ? `; ${nameOf(active)} stays in force` : ''
  switch (file) {
    case 'in force':
      return undefined
    case 'pending':
      return [
        `${fileNamed(path)} differs from the policy in force${active ? `, ${nameOf(active)}` : ''}`,
        'compare both with `tollgate policy diff`, then activate the file with `tollgate policy activate`',
        ...(active ? [KEEP] : []),
      ]
    case 'mistaken':
      return [`${fileNamed(path)} has mistakes${stays}`, 'list the mistakes with `tollgate policy check`']
    case 'missing':
      return [
        `${fileNamed(path)} is missing${stays}`,
        'restore it, or activate another file with `tollgate policy activate FILE --copy`',
      ]
  }
}

function fileNamed(path: string | undefined): string {
  return path === undefined ? 'the policy file of the gateway' : `the policy file \`${path}\``
}

const KEEP =
  'if the policy in force comes from another file, make that the policy file: `tollgate policy activate FILE --copy`'

/** Whether a policy can allow any call, with or without an approval. */
export function allowsAnything({ tools, rules }: Policy): boolean {
  return tools.length > 0 && rules.some(({ action }) => action !== 'deny')
}
