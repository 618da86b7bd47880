// The ways as ARCHITECTURE.md has them: a line for each in a fenced block, `http: ` and the rooms.

import type { WayName } from './run.ts'

const LINE = /^(http|mcp|llm): (.* ► .*)$/gm
const ARROW = ' ► '

/** The rooms of each way that a document has. */
export function waysIn(document: string): ReadonlyMap<string, string> {
  return new Map([...document.matchAll(LINE)].map(([, name = '', line = '']) => [name, line]))
}

/** The document with other rooms in its lines. */
export function withWays(document: string, lines: ReadonlyMap<string, string>): string {
  return document.replaceAll(LINE, (_, name: WayName, line: string) => `${name}: ${lines.get(name) ?? line}`)
}

/** Rooms in one line. */
export function wayLine(rooms: readonly string[]): string {
  return rooms.join(ARROW)
}
