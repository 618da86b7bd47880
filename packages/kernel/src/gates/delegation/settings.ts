// Rejects `gates.delegation`: the delegation gate is configured under `principals`.

import type { GateSection } from '../../policy/reader/section.ts'

/** `gates.delegation`: always an error that says where to configure it. */
export const delegationSettings: GateSection<undefined> = {
  name: 'delegation',
  read(reader, place) {
    if (!place) return
    reader.note(
      place,
      'remove it; the gate `delegation` is configured under `principals`: `key` for those who may delegate, `delegate-only` for those who may act only under a delegation',
    )
  },
}
