// The freezes in force. Each freeze is a receipt; the newest receipt for a target counts.

import type { Freeze } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import { rememberedAs } from '../names.ts'
import type { Kernel } from '../kernel.ts'
import type { Turn, Appended } from '../ledger/ledger.ts'

/** The freezes as gates see them. */
export interface FreezeView {
  all(): boolean
  principal(intent: Intent): boolean
  tool(call: Pick<Intent, 'tenant' | 'tool'>): boolean
  session(intent: Intent): boolean
}

/** The freezes of a kernel. */
export interface Freezes extends FreezeView {
  /** Applies a freeze or unfreeze. */
  apply(freeze: Pick<Freeze, 'scope' | 'target' | 'tenant' | 'frozen'>): void
  /** How often a freeze was set or lifted. A cached decision is out of date once this changes. */
  readonly changes: number
  /** Whether anything is frozen. */
  readonly any: boolean
  /** How many freezes of a scope are in force. */
  count(scope: Freeze['scope']): number
  /** Calls `listener` shortly after each freeze or unfreeze, until the returned function is called. */
  watch(listener: () => void): () => void
}

/** Returns the name that the newest freeze receipt for a target anchors. */
function freezeName({ scope, target, tenant }: Pick<Freeze, 'scope' | 'target' | 'tenant'>): string {
  return scope === 'all' ? 'freeze\nall' : `freeze\n${scope}\n${tenant}\n${target ?? ''}`
}

/** Returns the subject of a freeze from the name that its receipts anchor. */
export function freezeIn(name: string): Pick<Freeze, 'scope' | 'target' | 'tenant'> {
  const [, scope = '', tenant = '', ...target] = name.split('\n')
  // Safe cast: `freezeName` made the name.
  return scope === 'all'
    ? { scope: 'all', tenant: '' }
    : { scope: scope as Freeze['scope'], tenant, target: target.join('\n') }
}

/** Returns an empty set of freezes. */
export function createFreezes(): Freezes {
  const frozen = new Set<string>()
  const watching = new Set<() => void>()
  let changes = 0
  const has = (
    scope: 'principal' | 'tool' | 'session',
    { tenant }: Pick<Intent, 'tenant'>,
    target: string,
  ): boolean => frozen.size > 0 && frozen.has(freezeName({ scope, tenant, target }))
  return {
    get changes() {
      return changes
    },
    apply(freeze) {
      changes++
      if (freeze.frozen) frozen.add(freezeName(freeze))
      else frozen.delete(freezeName(freeze))
      // Asynchronous, because this runs inside a turn of the ledger.
      for (const listener of watching) void Promise.resolve().then(listener)
    },
    get any() {
      return frozen.size > 0
    },
    count: (scope) => [...frozen].filter((name) => name.split('\n')[1] === scope).length,
    watch(listener) {
      watching.add(listener)
      return () => void watching.delete(listener)
    },
    all: () => frozen.has('freeze\nall'),
    // A server that asks a principal is frozen by its own name or by the name of that principal.
    principal: (intent) =>
      [intent.principal, intent.author].some((name) => name !== undefined && has('principal', intent, name)),
    tool: (call) => has('tool', call, call.tool),
    // A restarted process stays frozen with the session of its principal.
    session: (intent) =>
      has('session', intent, intent.session) || has('session', intent, rememberedAs(intent)),
  }
}

/** The subject of a freeze. */
export interface FreezeOrder {
  readonly scope: Freeze['scope']
  /** The frozen principal, session or tool, within the tenant; not for `all`. */
  readonly target?: string
  readonly tenant?: string
  readonly frozen: boolean
  readonly by: string
  readonly because?: string
}

/** Appends a freeze in a turn and applies it. */
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
  // Unfreezing a principal also resets its storage for the day.
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

/** The name that freezes a principal for flooding the ledger. */
export const FLOOD_GUARD = 'tollgate'

/** The key for counting denials while everything is frozen. */
export const FLOOD_OF_ALL = '*'

/** Returns the key for counting the denials of a principal. */
export function floodName(tenant: string, principal: string): string {
  return `${tenant}\n${principal}`
}
