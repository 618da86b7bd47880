// `sed` and `awk`: small languages that can also write files and run programs.

import { exactText, type Field } from '../script/field.ts'
import { notePath } from './note.ts'
import type { Shell } from '../script/shell.ts'

/** Notes what a script of `sed` does besides changing text. */
export function noteSed(field: Field, shell: Shell): void {
  const text = exactText(field)
  const files = text === undefined ? undefined : filesOfSed(text)
  if (files)
    for (const { use, path } of files) notePath(use, { text: path, isPattern: false, isMany: false }, shell)
  else shell.found.add('runs_other_code', 'sed')
}

interface SedFile {
  readonly use: 'reads' | 'writes'
  readonly path: string
}

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/[IM]*)`
const START = new RegExp(String.raw`^[\s;{}]*(?:${ADDRESS}(?:\s*,\s*(?:[+~]\d+|${ADDRESS}))?)?\s*!*\s*`)
const PLAIN = /^(?:[dDgGhHnNpPxzF=}{]|[qQlL]\s*\d*|[tTb][ \t]*\w*|:[ \t]*\w+|#.*)(?=[\s;}]|$)/
const TEXT = /^[aic](?:[ \t]*\\\n|[ \t]*\\?)(?:[^\n\\]|\\[^])*/
const FILE = /^([rRwW])[ \t]*([^\n]+)/

/** Returns the files of a script; undefined if it is not understood, or runs something. */
function filesOfSed(script: string): readonly SedFile[] | undefined {
  const files: SedFile[] = []
  let rest = script
  for (;;) {
    rest = rest.replace(START, '')
    if (/^[\s;}]*$/.test(rest)) return files
    const [, letter = '', path = ''] = FILE.exec(rest) ?? []
    if (letter !== '') files.push({ use: letter.toLowerCase() === 'r' ? 'reads' : 'writes', path })
    const length =
      FILE.exec(rest)?.[0].length ??
      PLAIN.exec(rest)?.[0].length ??
      TEXT.exec(rest)?.[0].length ??
      substitution(rest, files)
    if (length === undefined || length === 0) return undefined
    rest = rest.slice(length)
  }
}

/** The length of `s/…/…/` or `y/…/…/` without the flag `e`; undefined if there is none. */
function substitution(text: string, files: SedFile[]): number | undefined {
  const [letter = '', mark = ''] = text
  if (!/[sy]/.test(letter) || mark === '' || /[\w\s\\]/.test(mark)) return undefined
  const middle = closing(text, 2, mark)
  const end = middle === undefined ? undefined : closing(text, middle + 1, mark)
  if (end === undefined) return undefined
  const [flags = ''] = /^[gpiIMm\d]*/.exec(text.slice(end + 1)) ?? []
  const after = text.slice(end + 1 + flags.length)
  const [file, path] = /^w[ \t]*([^\n]+)/.exec(after) ?? []
  if (file !== undefined && path !== undefined) {
    files.push({ use: 'writes', path })
    return end + 1 + flags.length + file.length
  }
  return /^(?:[\s;}#]|$)/.test(after) ? end + 1 + flags.length : undefined
}

function closing(text: string, from: number, mark: string): number | undefined {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === mark) return at
  }
  return undefined
}

// A longer program is not worth reading.
const MAX_PROGRAM = 2000

/** Returns whether a program of `awk` only reads its input and prints. */
export function isPlainAwk(field: Field): boolean {
  const text = exactText(field)
  if (
    text === undefined ||
    text.length > MAX_PROGRAM ||
    /@|\bsystem\b|\bgetline\b|\bclose\b|\bARGV\b/.test(text)
  )
    return false
  if (/(?<!\|)\|(?!\|)/.test(text.replace(/\/(?:[^/\\\n]|\\.)*\//g, '')) && withoutTexts(text).includes('|'))
    return false
  // After `print`, `>` is a file. Elsewhere it compares.
  return !withoutTexts(text)
    .split(/[;}\n]/)
    .some(
      (part) => part.slice(Math.max(0, part.search(/\bprintf?\b/))).includes('>') && /\bprintf?\b/.test(part),
    )
}

/** Takes the strings out of a program, and nothing that could be code. */
function withoutTexts(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
}
