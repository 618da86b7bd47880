// Delegations in the model. Shares only types with the kernel.

import type { EffectClass } from '@tollgate/evidence'
import { fits, matches } from './model-glob.ts'
import type { ModelPolicy } from './model-policy.ts'

/** A delegation, by number. */
export interface Grant {
  readonly number: number
  readonly tenant: string
  readonly delegator: string
  readonly delegate: string
  readonly tools: readonly string[]
  readonly effects: readonly EffectClass[] | undefined
  readonly session: string | undefined
  readonly until: number
  readonly depth: number
  /** -1 for one that does not exist. */
  readonly parent: number | undefined
  readonly key: number
  readonly planted: boolean
  readonly revoked: boolean
}

/** All delegations, by number. */
export type Grants = ReadonlyMap<number, Grant>

/** A delegation and its ancestors; undefined if one is missing or of another tenant, or if there are more than nine. */
export function chainOf(
  grants: Grants,
  tenant: string,
  number: number,
  links = 9,
): readonly Grant[] | undefined {
  const grant = grants.get(number)
  if (grant?.tenant !== tenant || links === 0) return undefined
  if (grant.parent === undefined) return [grant]
  const above = chainOf(grants, tenant, grant.parent, links - 1)
  return above && [grant, ...above]
}

/** The facts that a chain is checked against. */
interface Held {
  readonly policy: ModelPolicy
  readonly time: number
  readonly frozen: (principal: string) => boolean
}

/** Whether a principal can act under this chain now. */
export function holds(
  chain: readonly Grant[] | undefined,
  principal: string | undefined,
  { policy, time, frozen }: Held,
): boolean {
  const [newest, root] = [chain?.[0], chain?.at(-1)]
  if (!chain || !newest || !root || newest.delegate !== principal) return false
  const valid = chain.every(
    ({ revoked, until, delegator, key }) =>
      !revoked && time <= until && keyOf(policy, delegator) === key && !frozen(delegator),
  )
  const joined = chain.slice(1).every((above, i) => {
    const below = chain[i]
    return below?.delegator === above.delegate && below.depth < above.depth
  })
  return valid && joined && !isDelegateOnly(policy, root.delegator)
}

/** Whether every link grants a call. */
export function covers(
  chain: readonly Grant[],
  call: { readonly tool: string; readonly session: string; readonly id: string },
  effect: EffectClass,
): boolean {
  return chain.every(
    ({ tools, effects, session }) =>
      tools.some((tool) => matches(tool, call.tool)) &&
      (effects?.includes(effect) ?? true) &&
      [call.session, call.id].includes(session ?? call.session),
  )
}

const DAY = 86_400_000

/** Whether a delegation may be registered: signed with the key in the policy, not expired, and narrower than its parent. */
export function mayRegister(grant: Grant, grants: Grants, policy: ModelPolicy, time: number): boolean {
  const { tenant, delegator, delegate, until, parent } = grant
  if (keyOf(policy, delegator) !== grant.key || until <= time || until > time + 366 * DAY) return false
  const above = parent === undefined ? [] : chainOf(grants, tenant, parent)
  if (!above || [grant, ...above].some((each) => each.delegator === delegate)) return false
  const [first] = above
  if (!first) return !isDelegateOnly(policy, delegator)
  return holds(above, delegator, { policy, time, frozen: () => false }) && narrows(grant, first)
}

function narrows({ until, depth, tools, effects, session }: Grant, above: Grant): boolean {
  return (
    until <= above.until &&
    depth < above.depth &&
    tools.every((tool) => fits(above.tools, tool)) &&
    (above.effects === undefined || (effects?.every((each) => above.effects?.includes(each)) ?? false)) &&
    (above.session ?? session) === session
  )
}

/** The key of the entry with exactly this name. */
function keyOf({ principals }: ModelPolicy, principal: string): number | undefined {
  return principals.find(({ name }) => name === principal)?.key
}

/** The entry with exactly this name decides, otherwise any that matches. */
export function isDelegateOnly({ principals }: ModelPolicy, principal: string): boolean {
  const own = principals.find(({ name }) => name === principal)
  return own?.delegateOnly ?? principals.some((each) => each.delegateOnly && matches(each.name, principal))
}
