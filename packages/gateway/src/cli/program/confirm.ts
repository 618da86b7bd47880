// Asks a person one question on the terminal.

import process from 'node:process'
import { createInterface } from 'node:readline'
import { message } from './terminal.ts'

/** Whether a person can answer here. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Asks on the terminal. Everything except `y` and `yes` is a no, also the end of the input. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await answerTo(`${question} [y/N] `))
}

/** Prints a question and returns the answer; empty if the input ends. */
export async function answerTo(question: string): Promise<string> {
  process.stderr.write(message(question))
  return (await readAnswer()).trim()
}

/** Reads one line from the terminal; empty if it ends. Does not change the terminal mode, so Ctrl-C still works. */
function readAnswer(): Promise<string> {
  const reader = createInterface({ input: process.stdin, terminal: false })
  return new Promise((resolve) => {
    reader.once('line', (line) => {
      resolve(line)
      reader.close()
    })
    reader.once('close', () => resolve(''))
  })
}
