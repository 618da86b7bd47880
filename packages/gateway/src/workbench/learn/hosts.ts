// Conditions for the observed destinations: exactly these schemes, hostnames and ports.

import { allOf, anyOf, celList, celText } from './cel.ts'
import { seenOf } from './exact.ts'
import type { ObservedDestination, LearnedShape } from './observed.ts'

/** The condition for all destinations of some calls. */
export function shapeOfDestinations(all: readonly ObservedDestination[]): LearnedShape {
  if (all.length === 0) return { when: 'size(destinations) == 0', notes: [], asks: [] }
  const lanes = new Map<
    string,
    { readonly scheme: string; readonly port: number; readonly hosts: Set<string> }
  >()
  for (const { scheme, host, port } of all) {
    const lane = lanes.get(`${scheme} ${port}`) ?? { scheme, port, hosts: new Set<string>() }
    lanes.set(`${scheme} ${port}`, lane)
    lane.hosts.add(host)
  }
  const terms = [...lanes.values()].map(({ scheme, port, hosts }) =>
    allOf([
      `to.scheme == ${celText(scheme)}`,
      `to.port == ${port}`,
      hosts.size === 1
        ? `to.host == ${celText([...hosts][0] ?? '')}`
        : `to.host in ${celList([...hosts].sort())}`,
    ]),
  )
  const shown = [...new Set(all.map(({ scheme, host, port }) => `${scheme}://${host}:${port}`))]
  const when = `destinations.all(to, ${anyOf(terms.map((term) => (terms.length > 1 ? `(${term})` : term)))})`
  if (when.length > MAX_CONDITION_LENGTH) return tooMany(shown)
  return {
    when,
    notes: [{ path: '(destinations)', seen: seenOf(shown) }],
    asks: all.some(({ host }) => host === '') ? ['the destination is not always known'] : [],
  }
}

// Longer conditions would leave no space for other parts.
const MAX_CONDITION_LENGTH = 1500

function tooMany(shown: readonly string[]): LearnedShape {
  const wider = 'every destination that `gates.egress` allows'
  return {
    when: 'true',
    parts: [],
    notes: [{ path: '(destinations)', seen: seenOf(shown), wider }],
    asks: ['there are too many destinations for a condition'],
  }
}
