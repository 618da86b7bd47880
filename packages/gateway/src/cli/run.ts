// Runs one command line and turns its outcome into an exit code.

import { CommanderError } from 'commander'
import { createProgram } from './commands.ts'
import { wasInterrupted } from './program/interrupt.ts'
import { complain } from './program/terminal.ts'

/** Runs the command that `args` names, as `process.argv` has it, and answers with the exit code. Never throws. */
export async function runCommand(args: readonly string[]): Promise<number> {
  let exit = 0
  try {
    const program = await createProgram((code) => {
      exit = code
    }, args[2])
    await program.parseAsync([...args])
    return exit
  } catch (fault) {
    // It has been said already; help and version end this way as well.
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : 2
    return wasInterrupted() ? 1 : complain(fault)
  }
}
