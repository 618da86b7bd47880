// Reads a shell command. Until the parser is in place, every command is unknown.

import { NO_COMMAND, type CommandFacts } from './facts.ts'
import type { Start } from './place.ts'

/** Returns the facts of a command that starts in a directory. `undefined` is a command that is no text. Never throws. */
export function readCommand(text: string | undefined, _start: Start): CommandFacts {
  const why = text === undefined ? 'the command is not a text' : 'commands are not read'
  return { ...NO_COMMAND, unknown: [why] }
}
