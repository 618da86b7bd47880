// Reads `cors` of `tollgate.yaml`: the web pages of other origins that may use the gateway.

import type { Place, Reader } from '@tollgate/kernel/policy'
import { problemOfUrl } from './value.ts'

const MAX_ORIGINS = 32

/** Reads the list of origins. */
export function readCors(reader: Reader, place: Place): readonly string[] {
  const items = reader.items(place, '`cors`')
  if (items.length > MAX_ORIGINS) reader.note(place, `\`cors\` must have at most ${MAX_ORIGINS} origins`)
  return items.flatMap((item) => {
    const text = reader.textLine(item, 'an origin in `cors`')
    if (text === undefined) return []
    // Only the exact form that browsers send: `https://APP.example/` would never match.
    if (problemOfUrl(text) === undefined && new URL(text).origin === text && !text.includes('*'))
      return [text]
    reader.note(
      item,
      'an origin must be exactly as browsers send it, such as `https://app.example.com` or `http://localhost:5173`, without path and `*`',
    )
    return []
  })
}
