// What a policy has a use for: what no gate asks about is neither read nor remembered.

import type { Policy } from './parse/parse.ts'

/** What the gates of a policy have a use for, found out when it is read. */
export interface PolicyUses {
  readonly data: boolean
  readonly sharedLimits: boolean
}

/** Whether anything is done with what texts hold and where data came from. */
export function remembersData({ uses }: Pick<Policy, 'uses'>): boolean {
  return uses.data
}

/** Whether there are limits that count for more than one principal. */
export function sharesLimits({ uses }: Pick<Policy, 'uses'>): boolean {
  return uses.sharedLimits
}
