// Addresses that hold their own content: `data:text/plain;base64,…`. What they hold is encoded for certain, so also a short or
// broken run is read.

import type { Room } from './packed.ts'
import { decodeRunAt } from './runs.ts'
import { goesOn } from './scene.ts'
import type { View, Writer } from './view.ts'

const MARK = ';base64,'

/** Decodes what stands after each `;base64,`. */
export function decodeDataUrls(view: View, out: Writer, room: Room): void {
  if (view.origin === 'plain' && !view.text.includes(MARK)) return
  for (let i = 0; i + MARK.length < view.length; i++) {
    if (view.codes[i] === 0x3b && goesOn(view, i, MARK)) decodeRunAt(view, i + MARK.length, out, room)
  }
}
