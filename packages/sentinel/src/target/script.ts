// The script that finds and guards the target of a call. It must run in an isolated world, before any script of the page.

import { find, placeOf, type Named } from './find.ts'
import { createGuard } from './guard.ts'
import { hasFocus, hits, hitsFrame } from './hit.ts'

const guard = createGuard()

Object.defineProperty(globalThis, 'tollgateTarget', {
  value: Object.freeze({
    find: (seen: Named) => find(document, seen),
    place: placeOf,
    hits,
    hitsFrame,
    hasFocus,
    arm: guard.arm,
    disarm: guard.disarm,
    tally: guard.tally,
  }),
  configurable: true,
})
