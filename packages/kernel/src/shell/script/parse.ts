// Reads the text of a script into a tree. The only file that calls the parser.
//
// The parser is written by others. It is strict in what it accepts here, and whatever it does not understand is a reason for `unknown`.

import { parse, type ParsedScript } from 'unbash'

type Script = ParsedScript

/** Why a text is not read at all. */
interface RefusedScript {
  readonly refused: string
}

// The parser needs time in proportion to the square of the length for some texts.
const MAX_LENGTH = 16 << 10
const MAX_NESTING = 64

/** Returns the tree of a script, or why the text is refused. A tree can have errors. Never throws. */
export function parseScript(text: string): Script | RefusedScript {
  if (text.length > MAX_LENGTH) return { refused: 'the command is too long' }
  // These characters hide text from people, and shells differ about them.
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(text)) return { refused: 'the command has control characters' }
  if (nesting(text) > MAX_NESTING) return { refused: 'the command is nested too deep' }
  try {
    return parse(text)
  } catch {
    // The parser ran out of stack, or has a fault.
    return { refused: 'the command cannot be read' }
  }
}

/** An upper limit for how deep parts of a text are nested, whatever the quotes mean. */
function nesting(text: string): number {
  let [depth, most] = [0, 0]
  for (const char of text) {
    if ('({['.includes(char)) most = Math.max(most, ++depth)
    else if (')}]'.includes(char)) depth = Math.max(0, depth - 1)
  }
  return most
}
