// The data that a policy needs. Data that no gate uses is neither scanned nor kept.

import type { Policy } from './parse/parse.ts'

/** The data that the gates of a policy need, determined when it is parsed. */
export interface PolicyUses {
  readonly data: boolean
  readonly sharedLimits: boolean
}

/** Returns whether a gate uses the contents of texts and the origin of data. */
export function remembersData({ uses }: Pick<Policy, 'uses'>): boolean {
  return uses.data
}

/** Returns whether there are limits that count for more than one principal. */
export function sharesLimits({ uses }: Pick<Policy, 'uses'>): boolean {
  return uses.sharedLimits
}
