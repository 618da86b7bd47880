// Converts a call of a case to the form that a door passes to the kernel, and registers delegations.

import { signDelegation } from '@tollgate/evidence'
import { postObservation, type ToolCall } from '@tollgate/kernel'
import { registerDelegation, revokeDelegation } from '@tollgate/kernel/admin'
import type { CaseCall, DelegateStep } from './case.ts'
import { placeIn } from './case-place.ts'
import { CASE_LEDGER, type Stage } from './stage.ts'

/** Ids of delegations by their name in the case. */
type Delegations = Map<string, string>

export interface CaseSending {
  readonly stage: Stage
  readonly tenant: string
  readonly delegations: Delegations
}

/** The call as a door passes it to the kernel. */
export function toolCall({ stage, tenant, delegations }: CaseSending, call: CaseCall): ToolCall {
  const { tool, args, raw, principal, claims, session, door, context, sources, delegation, files } = call
  const sent: ToolCall = {
    caller: { tenant, principal },
    door,
    assurance: 'enforced',
    tool,
    session_id: session,
    ...(raw === undefined ? { args } : { raw }),
    ...(claims !== undefined && { principal: claims }),
    ...(context !== undefined && { context }),
    ...(sources.length > 0 && { sources }),
    // An unknown name is passed as it is, like an id that an agent invents.
    ...(delegation !== undefined && { delegation: delegations.get(delegation) ?? delegation }),
    ...(call.browser && { browser: browserOf(stage, tenant, call.browser) }),
  }
  return files ? { ...sent, place: placeIn(stage.kernel, sent, files) } : sent
}

function browserOf(
  { kernel }: Stage,
  tenant: string,
  { observation, postedFor, planner_ref, side_effect, destination }: NonNullable<CaseCall['browser']>,
): unknown {
  const rest = {
    ...(planner_ref !== undefined && { planner_ref }),
    ...(side_effect !== undefined && { side_effect }),
    ...(destination !== undefined && { destination }),
  }
  if (observation === undefined) return rest
  if (postedFor === undefined) return { ...rest, observation }
  const observation_id = postObservation(kernel, tenant, observation)
  return { ...rest, observation_id, observation: { url: postedFor } }
}

/** Registers a delegation. @throws if the case or the policy does not permit it. */
export async function delegate(
  { stage, tenant, delegations }: CaseSending,
  step: DelegateStep,
): Promise<void> {
  const { as, from, to, tools, effects, lasts, depth, parent, session } = step
  const key = stage.delegators(from)
  if (!key)
    throw new Error(`\`${from}\` has no \`key\` under \`principals\` in the policy, so it cannot delegate`)
  const signed = await signDelegation(
    {
      v: 1,
      ledger: CASE_LEDGER,
      tenant,
      delegator: from,
      delegate: to,
      tools,
      ...(effects && { effects }),
      until: new Date(stage.now() + lasts).toISOString(),
      depth,
      parent: parent === undefined ? null : idOf(delegations, parent),
      ...(session !== undefined && { session }),
      nonce: String(delegations.size),
    },
    key,
  )
  const { delegation } = await registerDelegation(stage.kernel, signed.envelope, { tenant, by: from })
  delegations.set(as, delegation)
}

/** Revokes a delegation. @throws if no delegation has that name. */
export async function revoke({ stage, tenant, delegations }: CaseSending, name: string): Promise<void> {
  await revokeDelegation(stage.kernel, tenant, idOf(delegations, name), 'user:cases')
}

function idOf(delegations: Delegations, name: string): string {
  const id = delegations.get(name)
  if (id === undefined) throw new Error(`no earlier step has made a delegation \`${name}\``)
  return id
}
