// Reads the parts of `docs/formats.md` and `docs/verification.md` that tests compare with the code.

import { readFileSync } from 'node:fs'

/** A table of a page: its head and its rows, cell by cell. */
export interface DocTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The lines of an example: label and value. */
export type DocExample = readonly (readonly [label: string, value: string])[]

function pageText(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
}

/** The pages by name. */
export const FORMATS: string = pageText('formats.md')
export const VERIFICATION: string = pageText('verification.md')

/** The text below a heading, up to the next heading of its level or above. */
export function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`no heading ${heading}`)
  const rest = page.slice(start + heading.length + 2)
  const level = heading.indexOf(' ')
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  return end < 0 ? rest : rest.slice(0, end)
}

/** The tables of a text, in order. */
export function tablesIn(text: string): readonly DocTable[] {
  return [...text.matchAll(/(?:^\|.*\|\n)+/gm)].map(([block]) => {
    const [head = [], , ...rows] = block
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      )
    return { head, rows }
  })
}

/** The table whose first column has this head. */
export function tableOf(text: string, head: string): DocTable {
  const found = tablesIn(text).find((table) => table.head[0] === head)
  if (!found) throw new Error(`no table of ${head}`)
  return found
}

/** The names of all examples of both pages. */
export function exampleNames(): readonly string[] {
  return [...`${FORMATS}${VERIFICATION}`.matchAll(/^```example (.*)$/gm)].map(([, name = '']) => name)
}

/** The lines of an example, in order. */
export function exampleOf(name: string): DocExample {
  const found = [...`${FORMATS}${VERIFICATION}`.matchAll(/^```example (.*)\n([^]*?)^```$/gm)].filter(
    ([, of]) => of === name,
  )
  const [[, , block = ''] = []] = found
  if (found.length !== 1) throw new Error(`there are ${found.length} examples ${name}`)
  return block
    .trimEnd()
    .split('\n')
    .map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    })
}

/** The value of a line of an example. `\n` in it is a line feed. */
export function valueIn(example: string, label: string): string {
  const value = exampleOf(example).find(([of]) => of === label)?.[1]
  if (value === undefined) throw new Error(`${example} has no ${label}`)
  return value
}

/** The value of a line, with line feeds for `\n`. */
export function linesIn(example: string, label: string): string {
  return valueIn(example, label).replaceAll('\\n', '\n')
}

/** The text in the first backquotes of a cell. */
export function codeIn(cell = ''): string {
  return /`([^`]*)`/.exec(cell)?.[1] ?? ''
}
