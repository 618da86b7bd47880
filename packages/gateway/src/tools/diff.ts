// Shows the changes from the pinned to the offered definition for a person: by JSON pointer, with hidden characters visible,
// and limited in length.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Definition } from '@tollgate/kernel/admin'
import { createNumbering, type Numbering } from './alike.ts'
import { visible } from './hidden.ts'
import { hunksOf } from './hunks.ts'
import { isList, isObject, originIn, serverPart } from './offer.ts'

/** The maximum number of lines of a diff. */
export const MAX_LINES = 100
/** The maximum length of a line. Longer texts continue on the next line. */
const WIDTH = 400
/** Longer values are cut. */
const MAX_SHOWN = 1 << 15
/** Longer positions are cut. */
const MAX_PLACE = 200

/**
 * The lines of a diff. Positions are JSON pointers: `+ /annotations/title: …` was added, `- …` was removed, `~ /description`
 * was changed and is followed by `-` and `+` lines. `~ origin` is not a pointer: the gateway, not the server, states the
 * origin. Empty if both definitions are equal.
 */
export function diffOf(pinned: Definition, offered: Definition): readonly string[] {
  if (pinned.hash === offered.hash) return []
  const lines = new DiffLines()
  compareTexts(originIn(pinned) ?? '(unknown)', originIn(offered) ?? '(unknown)', 'origin', lines)
  compare(serverPart(pinned), serverPart(offered), '', lines)
  // The members that the gateway added are part of the hash too.
  if (lines.all.length === 0) compare(pinned.content, offered.content, '', lines)
  return lines.all
}

/** Lines up to the maximum. */
class DiffLines {
  readonly all: string[] = []
  /** Shared by both sides, so that equal values have the same number. */
  readonly numberOf: Numbering = createNumbering()

  get isFull(): boolean {
    return this.all.length >= MAX_LINES
  }

  /** Adds a text after a mark, split into lines. */
  add(mark: string, text: string): void {
    for (let from = 0; from < text.length || from === 0; from += WIDTH)
      this.#push(mark + text.slice(from, from + WIDTH))
  }

  #push(line: string): void {
    if (this.all.length < MAX_LINES - 1) this.all.push(line)
    else if (!this.isFull) this.all.push('… and more changes than can be shown; compare both definitions')
  }
}

function compare(before: Json, after: Json, at: string, lines: DiffLines): void {
  if (lines.isFull || lines.numberOf(before) === lines.numberOf(after)) return
  if (isObject(before) && isObject(after)) compareObjects(before, after, at, lines)
  else if (isList(before) && isList(after)) compareLists(before, after, at, lines)
  else if (typeof before === 'string' && typeof after === 'string') compareTexts(before, after, at, lines)
  else {
    lines.add('~ ', place(at))
    lines.add('  - ', shown(before))
    lines.add('  + ', shown(after))
  }
}

function compareObjects(before: JsonObject, after: JsonObject, at: string, lines: DiffLines): void {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  for (const name of names) {
    if (lines.isFull) return
    const below = under(at, name.slice(0, MAX_PLACE).replaceAll('~', '~0').replaceAll('/', '~1'))
    const [was, is] = [memberOf(before, name), memberOf(after, name)]
    if (was === undefined) lines.add('+ ', `${place(below)}: ${shown(is ?? null)}`)
    else if (is === undefined) lines.add('- ', `${place(below)}: ${shown(was)}`)
    else compare(was, is, below, lines)
  }
}

function memberOf(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** Compares lists from both ends, so that an inserted item does not change all following ones. */
function compareLists(before: readonly Json[], after: readonly Json[], at: string, lines: DiffLines): void {
  const [was, is] = [before.map(lines.numberOf), after.map(lines.numberOf)]
  const start = was.findIndex((number, i) => number !== is[i])
  const from = start === -1 ? was.length : start
  let end = 0
  while (end < Math.min(was.length, is.length) - from && was.at(-1 - end) === is.at(-1 - end)) end++
  const [lost, gained] = [before.slice(from, before.length - end), after.slice(from, after.length - end)]
  for (let i = 0; i < Math.max(lost.length, gained.length) && !lines.isFull; i++) {
    const below = under(at, String(from + i))
    const [item, other] = [lost[i], gained[i]]
    if (item === undefined) lines.add('+ ', `${place(below)}: ${shown(other ?? null)}`)
    else if (other === undefined) lines.add('- ', `${place(below)}: ${shown(item)}`)
    else compare(item, other, below, lines)
  }
}

function compareTexts(before: string, after: string, at: string, lines: DiffLines): void {
  if (before === after) return
  lines.add('~ ', place(at))
  for (const { was, is } of hunksOf(before, after)) {
    if (was !== undefined) lines.add('  - ', visible(was.slice(0, MAX_SHOWN)))
    if (is !== undefined) lines.add('  + ', visible(is.slice(0, MAX_SHOWN)))
  }
}

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return visible(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}

/** A position below another. Positions above the maximum do not grow, because names come from servers and can be long. */
function under(at: string, name: string): string {
  return at.length > MAX_PLACE ? at : `${at}/${name}`
}

function place(at: string): string {
  return at === '' ? '(whole definition)' : visible(at.slice(0, MAX_PLACE).toWellFormed())
}
