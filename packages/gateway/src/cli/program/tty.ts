// Asks a person on the controlling terminal, without echo. Standard input is not used: a program can feed it.

import { closeSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { StringDecoder } from 'node:string_decoder'
import { ReadStream } from 'node:tty'
import { onInterrupt } from './interrupt.ts'

/** The controlling terminal of this process. Close it, or the process does not end. */
export interface Tty {
  /** Asks for a line that is not shown. An empty string also means that the terminal has ended. */
  askHidden(prompt: string): Promise<string>
  /** Shows a line. */
  say(line: string): void
  close(): void
}

/** Opens the terminal; undefined if this process has none. */
export function openTty(): Tty | undefined {
  let fd: number
  try {
    fd = openSync('/dev/tty', 'r+')
  } catch {
    return undefined
  }
  const input = streamOf(fd)
  return input && ttyOf(fd, input)
}

function streamOf(fd: number): ReadStream | undefined {
  try {
    return new ReadStream(fd)
  } catch {
    closeSync(fd)
    return undefined
  }
}

function ttyOf(fd: number, input: ReadStream): Tty {
  const lines = createLines()
  const write = (text: string): void => void writeSync(fd, text)
  const close = (): void => {
    forget()
    if (input.destroyed) return
    input.setRawMode(false)
    input.destroy()
  }
  // A signal from outside must not leave the terminal without echo.
  const forget = onInterrupt(close)
  const interrupt = (): void => {
    write('\r\n')
    // The handler of the signal closes the terminal. Closed here, the process could end before the signal arrives.
    process.kill(process.pid, 'SIGINT')
  }
  input.setRawMode(true)
  input.on('data', (chunk: Buffer) => lines.push(chunk, interrupt))
  input.on('error', () => lines.end())
  input.on('end', () => lines.end())
  return {
    async askHidden(prompt) {
      write(prompt)
      const line = await lines.next()
      write('\r\n')
      return line
    },
    say: (line) => write(`${line}\r\n`),
    close,
  }
}

const MAX_LINE = 1000
const INTERRUPT = '\u0003'

interface Lines {
  push(chunk: Buffer, interrupt: () => void): void
  end(): void
  /** The next complete line. It never resolves after Ctrl-C, because the signal ends the process. */
  next(): Promise<string>
}

/** Edits lines from raw input. Text after a line end belongs to the next line. */
function createLines(): Lines {
  const decoder = new StringDecoder('utf8')
  const ready: string[] = []
  let waiting: ((line: string) => void) | undefined
  let typed: string[] = []
  let isOver = false

  function finish(): void {
    const line = typed.join('')
    typed = []
    const take = waiting
    waiting = undefined
    if (take) take(line)
    else ready.push(line)
  }

  function take(character: string): void {
    if (character === '\r' || character === '\n' || character === '\u0004') finish()
    else if (character === '\u007F' || character === '\b') typed.pop()
    else if (character === '\u0015') typed = []
    else if (character >= ' ' && typed.length < MAX_LINE) typed.push(character)
  }

  return {
    push(chunk, interrupt) {
      const text = decoder.write(chunk)
      // An arrow key or the like: its letters are not part of a passphrase.
      if (text.startsWith('\u001B')) return
      for (const character of text) {
        // The rest is dropped: it must not complete a line.
        if (character === INTERRUPT) {
          interrupt()
          return
        }
        take(character)
      }
    },
    end() {
      isOver = true
      waiting?.('')
    },
    next: () =>
      new Promise((resolve) => {
        const line = ready.shift()
        if (line !== undefined) resolve(line)
        else if (isOver) resolve('')
        else waiting = resolve
      }),
  }
}
