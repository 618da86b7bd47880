// Room: acts of people and operators on a running kernel: approvals, freezes, pins, observe mode, delegations, scopes and
// pardons. Each act is a receipt. This room decides no calls.
//
// Activates policies, sets freezes and pins tools. Each takes effect in its turn of the ledger.

import type { Pin, PolicyActivation } from '@tollgate/evidence'
import { readBecause } from './because.ts'
import { KernelError } from '../error.ts'
import { FLOOD_GUARD, type FreezeOrder, recordFreeze } from './freezes.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import type { Policy } from '../policy/parse/parse.ts'

/** Activates a policy for a tenant. Every later call of the tenant is judged by it completely. */
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
 * Freezes or unfreezes. It applies to every call that is decided after it.
 *
 * @throws KernelError `REQUEST_INVALID` if `by` is the reserved name of the flood guard, or if `target` can mean several tools.
 */
export async function setFreeze(kernel: Kernel, order: FreezeOrder): Promise<Appended> {
  const tenant = order.tenant ?? kernel.tenant
  if (order.by === FLOOD_GUARD)
    throw new KernelError('REQUEST_INVALID', `the name \`${FLOOD_GUARD}\` is reserved; use another`)
  const { because: given, ...rest } = order
  const because = readBecause(given)
  return kernel.ledger.append({
    reserved: true,
    run: (turn) =>
      recordFreeze(kernel, turn, {
        ...rest,
        tenant,
        ...toolToFreeze(kernel, order, tenant),
        ...(because !== undefined && { because }),
      }),
  })
}

/** Returns the canonical name of a tool to freeze: calls by all its spellings are judged under this name. */
function toolToFreeze(
  kernel: Kernel,
  { scope, target, frozen }: FreezeOrder,
  tenant: string,
): { target?: string } {
  if (scope !== 'tool' || target === undefined) return {}
  // A tool that is frozen under another name, for example before its server was known, is released under that name.
  if (!frozen && kernel.freezes.tool({ tenant, tool: target })) return {}
  const [only = target, ...others] = kernel.catalogue.meant(target, policyOf(kernel, tenant))
  if (others.length === 0) return { target: only }
  const listed = [only, ...others].map((tool) => `\`${tool}\``).join(' or ')
  throw new KernelError('REQUEST_INVALID', `\`${target}\` can mean ${listed}; name one of them`)
}

/**
 * Pins the definition that the server of a tool offers now, if it is the one that the person reviewed.
 *
 * @throws KernelError `REQUEST_INVALID` if the server now offers a different one, `SCHEMA_REFUSED` if its schema is unusable.
 */
export async function pinTool(kernel: Kernel, tool: string, hash: string, by: string): Promise<Appended> {
  const definition = kernel.catalogue.offered(tool)
  if (definition?.hash !== hash) {
    throw new KernelError(
      'REQUEST_INVALID',
      `the definition of \`${tool}\` has changed since you reviewed it; review it again`,
    )
  }
  // Compile first: an unusable schema is refused, not pinned.
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

/** Releases a pin. @throws KernelError `REQUEST_INVALID` if the tool is not pinned. */
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
