// Room: people and operators act on a running kernel here. It holds approvals, freezes, pins, observe mode, delegations, scopes and
// pardons; each action is a receipt. It decides on no call.
//
// What people do to a running kernel: policies, freezes, pins. Each is a receipt, and in force from its turn on.

import type { Pin, PolicyActivation } from '@tollgate/evidence'
import { readBecause } from './because.ts'
import { KernelError } from '../error.ts'
import { FLOOD_GUARD, type FreezeOrder, recordFreeze } from './freezes.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import type { Policy } from '../policy/parse/parse.ts'

/** Activates a policy for a tenant. From this turn on every call of it is judged by that, and none by half of each. */
export async function activatePolicy(
  kernel: Kernel,
  policy: Policy,
  by: string,
  tenant: string = kernel.tenant,
): Promise<Appended> {
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const appended = turn.append({ anchors: [`policy\n${tenant}`] }, (header): PolicyActivation => ({
        ...header,
        kind: 'policy',
        tenant,
        policy_hash: policy.hash,
        name: policy.name,
        by,
      }))
      turn.put(`policy\n${tenant}`, policy.text)
      turn.put(`text\n${policy.hash}`, policy.text)
      kernel.policies.set(tenant, policy)
      return appended
    },
  })
}

/**
 * Freezes or unfreezes. It is in force for every call that is decided after it.
 *
 * @throws KernelError `REQUEST_INVALID` if somebody calls themselves by the name of the flood guard.
 */
export async function setFreeze(kernel: Kernel, order: FreezeOrder): Promise<Appended> {
  const tenant = order.tenant ?? kernel.tenant
  if (order.by === FLOOD_GUARD)
    throw new KernelError('REQUEST_INVALID', `\`${FLOOD_GUARD}\` is nobody’s name`)
  const { because: said, ...rest } = order
  const because = readBecause(said)
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => recordFreeze(kernel, turn, { ...rest, tenant, ...(because !== undefined && { because }) }),
  })
}

/**
 * Pins the definition that a tool's server offers now, if it is the one the person looked at.
 *
 * @throws KernelError `REQUEST_INVALID` if the server offers another by now, `SCHEMA_REFUSED` if its schema cannot be used.
 */
export async function pinTool(kernel: Kernel, tool: string, hash: string, by: string): Promise<Appended> {
  const definition = kernel.catalogue.offered(tool)
  if (definition?.hash !== hash) {
    throw new KernelError(
      'REQUEST_INVALID',
      `the definition of \`${tool}\` is not the one you looked at; look again`,
    )
  }
  // Compiled before anything is written: a schema that cannot be used is refused, not pinned.
  const pinned = kernel.catalogue.prepare(definition)
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const appended = turn.append({ anchors: [`pin\n${tool}`] }, (header): Pin => ({
        ...header,
        kind: 'pin',
        tenant: kernel.tenant,
        op: 'pin',
        tool,
        definition_hash: hash,
        by,
      }))
      turn.put(`pin\n${tool}`, definition.text)
      turn.put(`text\n${definition.hash}`, definition.text)
      kernel.catalogue.setPin(tool, pinned)
      return appended
    },
  })
}

/** Releases a pin: the tool is as good as never pinned. @throws KernelError `REQUEST_INVALID` if it was not pinned. */
export async function unpinTool(kernel: Kernel, tool: string, by: string): Promise<Appended> {
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const hash = kernel.catalogue.pinned(tool)
      if (hash === undefined) throw new KernelError('REQUEST_INVALID', `\`${tool}\` is not pinned`)
      const appended = turn.append({ anchors: [`pin\n${tool}`] }, (header): Pin => ({
        ...header,
        kind: 'pin',
        tenant: kernel.tenant,
        op: 'unpin',
        tool,
        definition_hash: hash,
        by,
      }))
      turn.put(`pin\n${tool}`, undefined)
      kernel.catalogue.setPin(tool, undefined)
      return appended
    },
  })
}
