// What people do to a running kernel: policies, freezes, pins. Each is a receipt, and in force from its turn on.

import type { Freeze, Pin, PolicyActivation } from '@tollgate/evidence'
import { readBecause } from './because.ts'
import { copyOf, readObservation } from './call.ts'
import { KernelError } from './error.ts'
import { freezeName } from './freezes.ts'
import type { Kernel } from './kernel.ts'
import type { Appended, Turn } from './ledger.ts'
import type { Policy } from './policy/parse.ts'

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

/** What a freeze is about. */
export interface FreezeOrder {
  readonly scope: Freeze['scope']
  /** What is frozen; not for `all`. Within the tenant. */
  readonly target?: string
  readonly tenant?: string
  readonly frozen: boolean
  readonly by: string
  readonly because?: string
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

/** Appends a freeze in a turn, and puts it in force. */
export function recordFreeze(
  kernel: Kernel,
  turn: Turn,
  order: FreezeOrder & { readonly tenant: string; readonly flood?: true },
): Appended {
  const { scope, target, tenant, frozen, by, because } = order
  const flooded = scope === 'all' ? FLOOD_OF_ALL : floodName(tenant, target ?? '')
  const counted = (scope === 'all' || scope === 'principal') && !frozen
  const flood = counted ? kernel.flooding.get(flooded) : undefined
  const isOfPrincipal = scope === 'principal' && !frozen
  // Who frees a principal gives it a whole day's storage again.
  const stored = isOfPrincipal ? kernel.storage.lift({ tenant, principal: target ?? '' }, turn) : undefined
  const denials = flood === undefined && stored === undefined ? undefined : (flood ?? 0) + (stored ?? 0)
  const appended = turn.append(
    { anchors: [freezeName({ scope, tenant, ...(target !== undefined && { target }) })] },
    (header): Freeze => ({
      ...header,
      kind: 'freeze',
      tenant,
      scope,
      ...(target !== undefined && { target }),
      frozen,
      by,
      ...(because !== undefined && { because }),
      ...(denials !== undefined && { denials }),
    }),
  )
  kernel.freezes.apply({ scope, tenant, frozen, ...(target !== undefined && { target }) })
  if (order.flood) {
    kernel.flooding.set(flooded, 0)
    turn.put(`flood\n${flooded}`, '0')
  } else if (!frozen && flood !== undefined) {
    kernel.flooding.delete(flooded)
    kernel.denials.delete(flooded)
    turn.put(`flood\n${flooded}`, undefined)
  }
  return appended
}

/** Who freezes a principal that floods the ledger. */
export const FLOOD_GUARD = 'tollgate'

/** Under what name denials are counted while everything is frozen. */
export const FLOOD_OF_ALL = '*'

/** Under what name the denials of a principal are counted. */
export function floodName(tenant: string, principal: string): string {
  return `${tenant}\n${principal}`
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

/**
 * Keeps what a Sentinel says of a page, for one call that refers to it within ten seconds.
 *
 * @throws KernelError `REQUEST_INVALID` if it is no observation.
 */
export function postObservation(kernel: Kernel, tenant: string, observation: unknown): string {
  const copied = copyOf(observation)
  if (!copied) throw new KernelError('REQUEST_INVALID', 'an observation is an object of at most 64 KiB')
  return kernel.observations.post(tenant, readObservation(copied), kernel.host.now())
}
