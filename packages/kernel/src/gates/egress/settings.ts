// Reads `gates.egress`: the allowed destinations.

import type { HostPattern } from '../../destinations/pattern.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { isWithin } from '../../policy/reader/meaning.ts'
import { about, HOSTS, keysOf, record } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The settings of the egress gate. */
export interface EgressSettings {
  readonly allow: readonly HostPattern[]
  readonly ask: readonly HostPattern[]
  readonly deny: readonly HostPattern[]
}

const SCHEMA = record(
  'Where data may go',
  'A destination in no list is denied. `deny` is checked first, then `allow`, then `ask`.',
  {
    allow: about('Hostnames that calls may send data to.', HOSTS),
    ask: about('Hostnames that need an approval.', HOSTS),
    deny: about('Hostnames that are always denied.', HOSTS),
  },
)

/** `gates.egress`. */
export const egressSettings: GateSection<EgressSettings> = {
  name: 'egress',
  read(reader, place) {
    const fields = place && reader.fields(place, keysOf(SCHEMA))
    return {
      allow: readHosts(reader, fields?.allow, 'a hostname'),
      ask: readHosts(reader, fields?.ask, 'a hostname'),
      deny: readHosts(reader, fields?.deny, 'a hostname'),
    }
  },
  schema: SCHEMA,
  calls: {
    isStricter: (before, after) =>
      isWithin(after.allow, before.allow) &&
      isWithin(after.ask, before.ask) &&
      isWithin(before.deny, after.deny),
  },
}
