// What a policy has a use for: what no rung asks about is neither read nor remembered.

import type { Policy } from './parse.ts'

/** Whether anything is done with what texts hold and where data came from. */
export function remembersData({ gates }: Policy): boolean {
  return gates.taint !== undefined || gates.threat !== undefined || gates.compliance !== undefined
}

/** Whether there are limits that count for more than one principal. */
export function sharesLimits({ gates }: Policy): boolean {
  return gates.temporal.limits.some(({ scope }) => scope === 'tool' || scope === 'tenant')
}
