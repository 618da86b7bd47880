#!/usr/bin/env node
// `tollgate`: the command. Starts, runs one command line, and exits with its code.

import process from 'node:process'
import { listenForInterrupts, wasInterrupted } from './program/interrupt.ts'
import { complain, say } from './program/terminal.ts'
import { runCommand } from './run.ts'

listenForInterrupts()
process.on('uncaughtException', (fault) => process.exit(complain(fault)))
// A reader that has seen enough is no fault; a disk that is full is.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE') say(`error: the output could not be written: ${fault.message}`)
  process.exit(fault.code === 'EPIPE' ? process.exitCode : 1)
})

// Not awaited here: the bundle of the command is CommonJS, which starts sooner and cannot wait at the top.
void runCommand(process.argv).then((exit) => {
  if (!wasInterrupted()) process.exitCode = exit
})
