// Breaks lines between words where the terminal would cut through one. Text in backticks stays whole, so that commands can be copied.

import { stripVTControlCharacters } from 'node:util'

/** Returns the line in parts of at most `columns` characters; further parts start with `indent` spaces or fewer. 0 columns: no limit. */
export function fitted(line: string, indent: number, columns: number | undefined = 0): string {
  return brokenAt(COMMANDS, line, indent, columns)
}

/** The same for a text of others, in which backticks have no meaning. */
export function fittedText(line: string, indent: number, columns: number | undefined = 0): string {
  return brokenAt(WORDS, line, indent, columns)
}

// A word with the spaces before it. Text in backticks is one word.
const COMMANDS = / *((?:[^ `]|`[^`]*`|`)+)/g
const WORDS = / *([^ ]+)/g

function brokenAt(words: RegExp, line: string, indent: number, columns: number): string {
  if (columns === 0 || widthOf(line) <= columns) return line
  const parts: string[] = []
  let part = ''
  for (const [whole, word = ''] of line.matchAll(words)) {
    // A break right after the indent gains something only if the word then fits.
    const gains = widthOf(part) > indent || (part.trim() !== '' && widthOf(word) <= columns)
    if (gains && widthOf(part + whole) > columns) {
      parts.push(part)
      // A command that is too long for the indent gets less, so that it stays in one line if it can.
      part = ' '.repeat(Math.max(0, Math.min(indent, columns - widthOf(word)))) + word
    } else part += whole
  }
  const [end = ''] = / *$/.exec(line) ?? []
  return [...parts, part].join('\n') + end
}

/** Moves the notes of commands that are too long for the terminal to lines of their own. */
export function withNotesBelow(text: string, columns: number | undefined = 0): string {
  if (columns === 0) return text
  const lines = text.split('\n')
  return lines
    .map((line) => (widthOf(line) <= columns ? line : line.replace(/^( {2}\S.*?) {2,}# /, '$1\n      # ')))
    .join('\n')
}

/** Returns the number of characters that are visible on a terminal. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}
