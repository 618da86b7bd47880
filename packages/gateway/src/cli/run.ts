// Runs one command line and turns its outcome into an exit code.

import { CommanderError } from 'commander'
import { createProgram } from './commands.ts'
import { helpAsked } from './program/help.ts'
import { wasInterrupted } from './program/interrupt.ts'
import { complain } from './program/terminal.ts'

/** Runs the command in `args`, which has the form of `process.argv`. Returns the exit code. Never throws. */
export async function runCommand(args: readonly string[]): Promise<number> {
  let exit = 0
  try {
    const program = await createProgram((code) => {
      exit = code
    }, args[2])
    helpAsked(program, args.slice(2))?.help()
    await program.parseAsync([...args])
    return exit
  } catch (fault) {
    // Commander has already printed the error. Help and version also end this way.
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : 2
    return wasInterrupted() ? 1 : complain(fault)
  }
}
