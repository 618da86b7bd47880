// Actions on the kernel in the comparison besides calls: effects, delegations, lost records.

import { sha256Hex, signDelegation, type DelegationStatement, type SigningKey } from '@tollgate/evidence'
import { reportEffect } from '../../src/road/closing.ts'
import { registerDelegation } from '../../src/admin/delegate.ts'
import { registered } from '../../src/gates/delegation/delegations.ts'
import { dueNow, type Outcome } from '../../src/road/effects.ts'
import { inspectFor } from '../../src/road/inspect.ts'
import { complete, type Permit } from '../../src/road/enforce.ts'
import { KernelError } from '../../src/error.ts'
import type { Kernel } from '../../src/kernel.ts'
import { provenanceName, sessionName } from '../../src/ledger/records.ts'
import { factsOf } from './model-texts.ts'
import type { CallSpec, EffectSpec, Lost } from './model-world.ts'

/** An id that does not exist. */
export const NO_ID: string = 'f'.repeat(64)

/** An allowed call of the kernel. */
export interface Allowed {
  readonly spec: CallSpec
  readonly receipt: string
  readonly permit: Permit | undefined
}

/** `true`, or `false` if the kernel refused the action. */
export async function succeeds(done: Promise<unknown>): Promise<string> {
  try {
    await done
    return 'true'
  } catch (fault) {
    if (fault instanceof KernelError && fault.code !== 'LEDGER_POISONED') return 'false'
    throw fault
  }
}

/** Ends an allowed call: with its permit if the gateway runs the tool, otherwise as a report of its caller. */
export async function endCallIn(
  kernel: Kernel,
  allowed: Allowed | undefined,
  { status, texts, stranger }: EffectSpec,
): Promise<unknown> {
  const content = texts && { items: texts.map((name) => factsOf(name).text) }
  const output = new Uint8Array([1])
  const { receipt = NO_ID, permit, spec } = allowed ?? {}
  if (spec?.assurance !== 'enforced') {
    const { tenant = 'default', principal } = spec ?? {}
    const caller = { tenant, principal: stranger ? 'agent:z' : principal }
    // Sound: the kernel refuses other statuses.
    const said = status as 'COMPLETED'
    return reportEffect(kernel, {
      caller,
      decision: receipt,
      status: said,
      output,
      ...(content && { content }),
    })
  }
  if (!permit) throw new Error('an enforced call without a permit')
  return complete(kernel, permit, outcomeOf(kernel, receipt, status, content))
}

function outcomeOf(
  kernel: Kernel,
  receipt: string,
  status: EffectSpec['status'],
  content: { items: readonly string[] } | undefined,
): Outcome {
  if (status === 'CANCELLED') return { status }
  if (status === 'UNKNOWN') return { status, cause: 'lost' }
  const opening = content && kernel.openings.get(receipt)
  const inspection = opening && inspectFor(kernel, dueNow(kernel, opening), content)
  const found = inspection && { inspection, delivery: inspection.delivery }
  return { status, output: new Uint8Array([1]), ...found }
}

/** A delegation for the kernel: signed and submitted, or added to its memory unchecked. */
export interface Submission {
  readonly statement: DelegationStatement
  readonly key: SigningKey
  readonly planted: boolean
}

/** The id of a delegation, and whether the kernel accepted it. */
export async function submitDelegation(
  kernel: Kernel,
  { statement, key, planted }: Submission,
): Promise<{ id: string; done: string }> {
  const { tenant } = statement
  if (planted) {
    const id = sha256Hex(JSON.stringify(statement))
    const receipt = { id: NO_ID, clock: 0 }
    kernel.delegations.add(registered({ id, statement, keyId: key.publicKey.id }, receipt, false))
    return { id, done: 'true' }
  }
  const { id, envelope } = await signDelegation(statement, key)
  return { id, done: await succeeds(registerDelegation(kernel, envelope, { tenant, by: 'user:olga' })) }
}

/** The name of the private record. */
export function recordName(lost: Lost): string {
  const { kind, tenant, principal = '(nobody)', session } = lost
  switch (kind) {
    case 'session':
      return sessionName(lost, session)
    case 'provenance':
      return provenanceName(lost, session)
    case 'principal':
      return `principal\n${tenant}\n${principal}`
    case 'tenant':
      return `tenant\n${tenant}`
  }
}
