// What is frozen. Each freeze is a receipt; the newest word on a target counts.

import type { Freeze, ReasonCode } from '@tollgate/evidence'
import type { Intent } from './call.ts'
import { rememberedAs } from './remembered.ts'

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
  /** Whether anything at all is frozen. */
  readonly any: boolean
  /** Calls back soon after each freeze that is set or lifted, until the returned function is called. */
  watch(listener: () => void): () => void
}

/** Why this call is frozen; undefined if it is not. */
export function freezeReason(freezes: FreezeView, intent: Intent): ReasonCode | undefined {
  if (freezes.all()) return 'SYSTEM_FROZEN'
  if (freezes.principal(intent)) return 'AGENT_KILLED'
  if (freezes.tool(intent)) return 'TOOL_FROZEN'
  return freezes.session(intent) ? 'SESSION_FROZEN' : undefined
}

/** The name of the private record that the newest freeze receipt on a target anchors. */
export function freezeName({ scope, target, tenant }: Pick<Freeze, 'scope' | 'target' | 'tenant'>): string {
  return scope === 'all' ? 'freeze\nall' : `freeze\n${scope}\n${tenant}\n${target ?? ''}`
}

/** Nothing is frozen. */
export function createFreezes(): Freezes {
  const frozen = new Set<string>()
  const watching = new Set<() => void>()
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
      // Later: this is the middle of a turn of the ledger.
      for (const listener of watching) void Promise.resolve().then(listener)
    },
    get any() {
      return frozen.size > 0
    },
    watch(listener) {
      watching.add(listener)
      return () => void watching.delete(listener)
    },
    all: () => frozen.has('freeze\nall'),
    // A server that asks is frozen by its own name, or with the principal it would ask.
    principal: (intent) =>
      [intent.principal, intent.author].some((name) => name !== undefined && has('principal', intent, name)),
    tool: (intent) => has('tool', intent, intent.tool),
    // A process that is started again stays frozen with its principal's session.
    session: (intent) =>
      has('session', intent, intent.session) || has('session', intent, rememberedAs(intent)),
  }
}
