// Shows the remaining rates and budgets of a principal, as recorded by its newest decision.

import {
  policyOf,
  principalName,
  readPrincipal,
  type Kernel,
  type Owner,
  type PrincipalState,
  type Stored,
} from '@tollgate/kernel'
import { leftOf } from '@tollgate/kernel/detection'
import type { Limit } from '@tollgate/kernel/policy'
import { COUNT, object, described, TEXT, word, type ApiSchema } from './schema.ts'

/** The remainder of one limit. */
export const ALLOWANCE: ApiSchema = object({
  kind: described(
    word('rate', 'budget'),
    'A rate refills continuously, a budget at the start of each period.',
  ),
  name: described(TEXT, 'The name in the policy: a tool pattern, or the unit that a budget counts.'),
  of: word('calls', 'cost'),
  most: { type: 'number', minimum: 0 },
  left: { type: 'number', minimum: 0 },
  period_seconds: COUNT,
})

type RemainingAllowance = Readonly<
  Record<'kind' | 'name' | 'of', string> & Record<'most' | 'left' | 'period_seconds', number>
>

/** The remaining rates and budgets of a principal. If the record does not match the newest decision, nothing remains. */
export async function allowancesOf(kernel: Kernel, owner: Owner): Promise<readonly RemainingAllowance[]> {
  const limits = policyOf(kernel, owner.tenant).gates.temporal.limits
  const own = limits.filter(({ scope, kind }) => scope === 'principal' && kind !== 'burst')
  if (own.length === 0) return []
  const [stored = NOTHING] = await kernel.store.load([principalName(owner)])
  const { value } = readPrincipal(stored, owner.principal)
  return own.map((limit) => describe(limit, value, kernel.host.now()))
}

const NOTHING: Stored = { record: undefined, anchor: undefined }

const THOUSANDTHS = 1000

function describe(limit: Limit, { limits, broken }: PrincipalState, time: number): RemainingAllowance {
  const { kind, name, of, calls, period } = limit
  const unit = of === 'cost' ? THOUSANDTHS : 1
  const left = broken ? 0 : leftOf(limit, limits, time)
  return { kind, name, of, most: calls / unit, left: left / unit, period_seconds: Math.round(period / 1000) }
}
