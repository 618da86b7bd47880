// Breaks lines between words where the terminal would cut through one. Text in backticks stays whole, so that commands can be copied.

import { stripVTControlCharacters } from 'node:util'

/** Returns the line in parts of at most `columns` characters; further parts start with `indent` spaces. 0 columns: no limit. */
export function fitted(line: string, indent: number, columns: number | undefined = 0): string {
  if (columns === 0 || widthOf(line) <= columns) return line
  const parts: string[] = []
  let part = ''
  for (const [whole, word = ''] of line.matchAll(/ *((?:[^ `]|`[^`]*`|`)+)/g)) {
    // A break right after the indent would gain nothing.
    if (widthOf(part) > indent && widthOf(part + whole) > columns) {
      parts.push(part)
      part = ' '.repeat(indent) + word
    } else part += whole
  }
  return [...parts, part].join('\n')
}

/** Returns the number of characters that are visible on a terminal. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}
