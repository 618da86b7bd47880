// What is frozen. Each freeze is a receipt; the newest word on a target counts.

import type { Freeze } from '@tollgate/evidence'
import type { Intent } from './call.ts'

/** What gates may ask about freezes. */
export interface FreezeView {
  all(): boolean
  principal(intent: Intent): boolean
  tool(intent: Intent): boolean
  session(intent: Intent): boolean
}

/** The freezes of a kernel. */
export interface Freezes extends FreezeView {
  /** Takes note of a freeze set or lifted. */
  apply(freeze: Pick<Freeze, 'scope' | 'target' | 'tenant' | 'frozen'>): void
  /** How often one was set or lifted: whoever keeps a decision looks here whether it still stands. */
  readonly changes: number
}

/** The name of the private record that the newest freeze receipt on a target anchors. */
export function freezeName({ scope, target, tenant }: Pick<Freeze, 'scope' | 'target' | 'tenant'>): string {
  return scope === 'all' ? 'freeze\nall' : `freeze\n${scope}\n${tenant}\n${target ?? ''}`
}

/** Nothing is frozen. */
export function createFreezes(): Freezes {
  const frozen = new Set<string>()
  let changes = 0
  const has = (scope: 'principal' | 'tool' | 'session', { tenant }: Intent, target: string): boolean =>
    frozen.size > 0 && frozen.has(freezeName({ scope, tenant, target }))
  return {
    get changes() {
      return changes
    },
    apply(freeze) {
      changes++
      if (freeze.frozen) frozen.add(freezeName(freeze))
      else frozen.delete(freezeName(freeze))
    },
    all: () => frozen.has('freeze\nall'),
    // A server that asks is frozen by its own name, or with the principal it would ask.
    principal: (intent) =>
      [intent.principal, intent.author].some((name) => name !== undefined && has('principal', intent, name)),
    tool: (intent) => has('tool', intent, intent.tool),
    session: (intent) => has('session', intent, intent.session),
  }
}
