// Finds the destinations of a call and compares them with the policy.

import type { Destination } from '../../destinations/destination.ts'
import { destinationsIn } from '../../destinations/find.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import type { GateSettings } from '../../policy/parse/settings.ts'
import type { Intent } from '../../road/capture.ts'
import type { Snapshot } from '../../road/snapshot.ts'

export function destinationsOf(
  { args, browser }: Intent,
  { tool, observation }: Snapshot,
): readonly Destination[] {
  const declared = tool?.declared?.destinations ?? []
  const found = declared === 'none' ? [] : destinationsIn(args, declared)
  // A browser call goes to the page it is on, and to the destination it names. One that only opens an address leaves the page.
  const page = (browser?.guarded?.acts ?? 'page') === 'page' ? observation?.url : undefined
  const pages = [browser?.destination, page].filter((each) => each !== undefined)
  if (pages.length === 0) return found
  // An empty page could not be read. It becomes an unreadable destination, not a missing one.
  return [...found, ...destinationsIn({ pages: pages.map((page) => (page === '' ? 0 : page)) }, ['pages'])]
}

/** The status of destinations under `gates.egress`. The worst destination decides. */
export function egressStatus(
  destinations: readonly Destination[],
  { policy }: Pick<Snapshot, 'policy'>,
): 'inside' | 'ask' | 'outside' {
  const { allow, ask, deny } = policy.gates.egress
  let worst: 'inside' | 'ask' = 'inside'
  for (const destination of destinations) {
    const named = (list: GateSettings['egress']['allow']): boolean =>
      list.some((pattern) => matchesHost(pattern, destination))
    if (named(deny)) return 'outside'
    if (named(allow)) continue
    if (!named(ask)) return 'outside'
    worst = 'ask'
  }
  return worst
}

/** Whether the policy names every hostname exactly. A `*` names none. */
export function isNamed(destinations: readonly Destination[], { policy }: Pick<Snapshot, 'policy'>): boolean {
  const named = policy.gates.egress.allow.filter(({ hosts }) => hosts.kind === 'exactly')
  return destinations.every((to) => named.some((pattern) => matchesHost(pattern, to)))
}
