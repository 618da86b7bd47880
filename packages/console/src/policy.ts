// The policy in force.

import { ask } from './api.ts'
import { stateIndex } from './news.ts'

/** The policy in force, and the status of each step under it. */
export interface ShownPolicy {
  readonly name: string
  readonly hash: string
  readonly text: string
  readonly rungs: readonly { readonly rung: string; readonly standing: 'active' | 'not configured' }[]
  readonly pending: { readonly hash: string } | null
}

let known: { readonly at: number; readonly policy: Promise<ShownPolicy> } | undefined

/** Loads the policy, once for each change of it. */
export function loadPolicy(): Promise<ShownPolicy> {
  const at = stateIndex.value
  if (known?.at !== at) known = { at, policy: ask<ShownPolicy>('/v1/policy') }
  return known.policy
}
