// A full screen on the terminal: plain ANSI on the alternate screen. The old screen returns at the end, after Ctrl-C and after a crash.

import { writeSync } from 'node:fs'
import process from 'node:process'
import { onInterrupt } from './interrupt.ts'

/** The size of the screen, in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** An open screen. Close it, or the terminal stays in raw mode. */
export interface TerminalScreen {
  size(): ScreenSize
  /** Shows these lines from the top. Each must fit; longer ones are cut. */
  draw(lines: readonly string[]): void
  close(): void
}

/** A key: a printable character, or a name such as `up`, `enter`, `escape`, `backspace`, `page-down`. */
type OnKey = (key: string) => void

// Alternate screen, no cursor, no wrapping of long lines; and the reverse.
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l'
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l'

const SEQUENCES: ReadonlyMap<string, string> = new Map([
  ['\u001B[A', 'up'],
  ['\u001BOA', 'up'],
  ['\u001B[B', 'down'],
  ['\u001BOB', 'down'],
  ['\u001B[5~', 'page-up'],
  ['\u001B[6~', 'page-down'],
  ['\u001B', 'escape'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\u007F', 'backspace'],
  ['\b', 'backspace'],
])
const INTERRUPT = '\u0003'

/** Opens the screen. Calls `onKey` for each key, and `onResize` when the size changes. */
export function openScreen(onKey: OnKey, onResize: () => void): TerminalScreen {
  const { stdin, stdout } = process
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    forget()
    process.off('exit', close)
    stdin.off('data', read)
    stdout.off('resize', onResize)
    stdin.setRawMode(false)
    stdin.pause()
    // Not buffered, because the process may end at once.
    writeSync(stdout.fd, LEAVE)
  }
  const read = (chunk: Buffer): void => {
    for (const key of keysIn(chunk.toString('utf8'))) {
      if (key === INTERRUPT) process.kill(process.pid, 'SIGINT')
      else if (isOpen) onKey(key)
    }
  }
  const forget = onInterrupt(close)
  process.on('exit', close)
  stdin.setRawMode(true)
  stdin.on('data', read)
  stdin.resume()
  stdout.on('resize', onResize)
  stdout.write(ENTER)
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines) {
      if (isOpen) stdout.write(`\u001B[H${lines.map((line) => `\u001B[2K${line}`).join('\r\n')}\u001B[J`)
    },
    close,
  }
}

/** Splits raw input into keys. Unknown sequences give no key. */
export function keysIn(text: string): readonly string[] {
  // A whole escape sequence, or one character.
  const parts = text.match(/\u001B(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[^]/gu) ?? []
  return parts
    .map((part) => SEQUENCES.get(part) ?? part)
    .filter((key) => key === INTERRUPT || (key >= ' ' && !key.startsWith('\u001B')))
}

/** Breaks text into lines of at most `width` cells. Counts unusual characters as wide, so that no part is hidden. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const character of text) {
    const cells = cellsOf(character)
    if (used + cells > width && line !== '') {
      lines.push(line)
      line = ''
      used = 0
    }
    line += character
    used += cells
  }
  return [...lines, line]
}

/** Cuts text to a number of cells, with an ellipsis. */
export function cut(text: string, width: number): string {
  const [first = '', ...rest] = wrapped(text, width)
  return rest.length === 0 ? first : `${wrapped(text, Math.max(1, width - 2))[0] ?? ''}…`
}

function cellsOf(character: string): number {
  return (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2
}
