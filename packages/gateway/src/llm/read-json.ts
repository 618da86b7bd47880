// Reads JSON from a provider. The door forwards only text that it writes itself from the parsed values, so a duplicate name has one
// meaning, and numbers may be spelled in any way. Only the number of values is limited, because each takes memory.

import { MAX_VALUES, type Json } from '@tollgate/evidence'

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b]

/** Reads a JSON text of a provider. @throws SyntaxError if it is invalid or holds more values than `parseJson` accepts. */
export function readJson(text: string): Json {
  // Each value takes at least one character, so a short text needs no count.
  if (text.length > MAX_VALUES && hasTooMany(text)) throw new SyntaxError('too many values')
  // Sound: `JSON.parse` returns JSON.
  return JSON.parse(text) as Json
}

/** Whether there are too many values. An empty list counts as two. */
function hasTooMany(text: string): boolean {
  let values = 1
  let quoted = false
  for (let i = 0; i < text.length && values <= MAX_VALUES; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) quoted = !quoted
    else if (quoted) i += code === BACKSLASH ? 1 : 0
    else if (code === COMMA || code === BRACKET || code === BRACE) values++
  }
  return values > MAX_VALUES
}
