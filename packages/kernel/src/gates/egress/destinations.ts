// The destinations of a call, and how they compare with the hosts that the policy names.

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
  // A browser call goes to the page it is on, and to the destination it names.
  const pages = [browser?.destination, observation?.url].filter((page) => page !== undefined)
  if (pages.length === 0) return found
  // What is empty could not be read, and must not count as absent.
  return [...found, ...destinationsIn({ pages: pages.map((page) => (page === '' ? 0 : page)) }, ['pages'])]
}

/** How destinations stand under `gates.egress`: the worst of them counts. */
export function standingOf(
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

/** Whether the policy names each of these hosts itself: a `*` names none. */
export function isNamed(destinations: readonly Destination[], { policy }: Pick<Snapshot, 'policy'>): boolean {
  const named = policy.gates.egress.allow.filter(({ hosts }) => hosts.kind === 'exactly')
  return destinations.every((to) => named.some((pattern) => matchesHost(pattern, to)))
}
