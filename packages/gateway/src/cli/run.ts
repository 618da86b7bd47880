// Runs one command line and turns its outcome into an exit code.

import process from 'node:process'
import { wasInterrupted } from './program/interrupt.ts'
import { complain } from './program/terminal.ts'
import { VERSION } from './program/version.ts'

/** Runs the command in `args`, which has the form of `process.argv`. Returns the exit code. Never throws. */
export async function runCommand(args: readonly string[]): Promise<number> {
  if (args.length === 3 && /^(?:-V|--version)$/.test(args[2] ?? '')) {
    // Answered here, because loading the declarations takes longer.
    process.stdout.write(`${VERSION}\n`)
    return 0
  }
  const [{ CommanderError }, { createProgram }] = await Promise.all([
    import('commander'),
    import('./commands.ts'),
  ])
  let exit = 0
  try {
    const program = await createProgram((code) => {
      exit = code
    }, args[2])
    await program.parseAsync([...args])
    return exit
  } catch (fault) {
    // Commander has already printed the error. Help and version also end this way.
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : 2
    return wasInterrupted() ? 1 : complain(fault)
  }
}
