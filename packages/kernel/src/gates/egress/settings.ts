// `gates.egress`: where data may go.

import type { HostPattern } from '../../destinations/pattern.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { isWithin } from '../../policy/reader/meaning.ts'
import { about, HOSTS, keysOf, record } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The settings of the egress rung. */
export interface EgressSettings {
  readonly allow: readonly HostPattern[]
  readonly ask: readonly HostPattern[]
  readonly deny: readonly HostPattern[]
}

const SCHEMA = record(
  'Where data may go',
  'What no list names is denied. `deny` counts first, then `allow`, then `ask`.',
  {
    allow: about('Hosts that data may go to.', HOSTS),
    ask: about('Hosts for which a person is asked.', HOSTS),
    deny: about('Hosts that data never goes to.', HOSTS),
  },
)

/** `gates.egress`. */
export const egressSettings: GateSection<EgressSettings> = {
  name: 'egress',
  read(reader, place) {
    const fields = place && reader.fields(place, keysOf(SCHEMA))
    return {
      allow: readHosts(reader, fields?.allow, 'a host'),
      ask: readHosts(reader, fields?.ask, 'a host'),
      deny: readHosts(reader, fields?.deny, 'a host'),
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
