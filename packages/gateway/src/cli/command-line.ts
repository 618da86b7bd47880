// Runs the command line of this process and exits with its code.

import process from 'node:process'
import { listenForInterrupts, wasInterrupted } from './program/interrupt.ts'
import { complain, say } from './program/terminal.ts'
import { runCommand } from './run.ts'

listenForInterrupts()
process.on('uncaughtException', (fault) => process.exit(complain(fault)))
// A closed pipe is not an error; a full disk is.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE') say(`error: the output could not be written: ${fault.message}`)
  process.exit(fault.code === 'EPIPE' ? process.exitCode : 1)
})

void runCommand(process.argv).then((exit) => {
  if (!wasInterrupted()) process.exitCode = exit
})
