// The rung `delegation` has no settings of its own.

import type { GateSection } from '../../policy/reader/section.ts'

/** `gates.delegation`: whoever looks for it here learns where it is configured. */
export const delegationSettings: GateSection<undefined> = {
  name: 'delegation',
  read(reader, place) {
    if (!place) return
    reader.note(
      place,
      'the rung `delegation` is configured under `principals`: `key` for who may delegate, `delegate-only` for who may only act for others; remove it here',
    )
  },
}
