// What is frozen. Each freeze is a receipt; the newest word on a target counts.

import type { Freeze } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import { rememberedAs } from '../names.ts'
import type { Kernel } from '../kernel.ts'
import type { Turn, Appended } from '../ledger/ledger.ts'

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

/** The name of the private record that the newest freeze receipt on a target anchors. */
function freezeName({ scope, target, tenant }: Pick<Freeze, 'scope' | 'target' | 'tenant'>): string {
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
