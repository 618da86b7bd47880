#!/usr/bin/env node
// `tollgate`: the command. Starts, runs one command, and turns what came of it into an exit code.

import process from 'node:process'
import { CommanderError } from 'commander'
import { createProgram } from './commands.ts'
import { listenForInterrupts, wasInterrupted } from './program/interrupt.ts'
import { complain, say } from './program/terminal.ts'

listenForInterrupts()
process.on('uncaughtException', (fault) => process.exit(complain(fault)))
// A reader that has seen enough is no fault; a disk that is full is.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE') say(`error: the output could not be written: ${fault.message}`)
  process.exit(fault.code === 'EPIPE' ? process.exitCode : 1)
})

// Not awaited here: the bundle of the command is CommonJS, which starts sooner and cannot wait at the top.
run(process.argv).then(finish, (fault: unknown) => finish(wasInterrupted() ? 1 : complain(fault)))

function finish(exit: number): void {
  if (!wasInterrupted()) process.exitCode = exit
}

async function run(args: readonly string[]): Promise<number> {
  let exit = 0
  const program = await createProgram((code) => {
    exit = code
  }, args[2])
  try {
    await program.parseAsync([...args])
    return exit
  } catch (fault) {
    // It has been said already; help and version end this way as well.
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : 2
    throw fault
  }
}
