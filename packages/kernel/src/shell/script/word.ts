// Expands words: what the arguments of a program are, as far as this is known before the command runs.

import type { DoubleQuotedChild, Word, WordPart } from 'unbash'
import { checkNumber, readArithmetic } from './arithmetic.ts'
import { bracesOf } from './braces.ts'
import { ANYTHING, exactly, glued, hasHole, HOLE, type Field } from './field.ts'
import { fork, unknown, type Shell } from './shell.ts'
import { isSuspicious, isSuspiciousInQuotes, unescaped } from './text.ts'
import { readParameter } from './variables.ts'

const MAX_FIELDS = 64
const MAX_TEXT = 16 << 10
/** The file name of a process substitution. */
const SUBSTITUTED = '/dev/fd/63'
const UNREADABLE = 'a word cannot be read'

/** Returns the arguments that a word becomes, and runs the code in it. */
export function expand(word: Word, shell: Shell): readonly Field[] {
  const { text } = word
  shell.found.step(text.length)
  const { parts } = word
  if (!parts) return [withHome(text, plain(text, shell), shell)]
  const pieces = parts.map((part, i) => {
    const fields = expandPart(part, shell)
    return i === 0 && part.type === 'Literal'
      ? fields.map((field) => withHome(part.text, field, shell))
      : fields
  })
  if (hasHiddenBraces(parts)) return [ANYTHING]
  const [only] = parts
  if (parts.length === 1 && only && isValue(only)) return pieces.flat().flatMap(split)
  // The shell splits a value without quotes, so only a value that it does not split is known.
  return combined(
    pieces.map((fields, i) => (isValue(parts[i]) && fields.some(isSplit) ? [ANYTHING] : fields)),
  )
}

function isValue(part: WordPart | undefined): part is ValuePart {
  return part !== undefined && /^(?:Simple|Parameter|Command|Arithmetic)Expansion$/.test(part.type)
}

function isSplit(field: Field): boolean {
  return /[\s*?[\]]/.test(field.text) && !field.isPattern
}

/** The words that a value without quotes becomes. */
function split(field: Field): readonly Field[] {
  if (hasHole(field)) return [field]
  const texts = field.text.split(/[ \t\n]+/).filter((text) => text !== '')
  return texts.map((text) => ({
    text,
    isPattern: field.isPattern || /[*?[]/.test(text),
    isMany: field.isMany,
  }))
}

/** Returns the single text that a word becomes where the shell does not split it, as in an assignment. */
export function expandOne(word: Word, shell: Shell): Field {
  const [first = exactly(''), ...others] = expand(word, shell)
  return others.length > 0 ? { ...ANYTHING, isMany: false } : { ...first, isMany: false }
}

function combined(pieces: readonly (readonly Field[])[]): readonly Field[] {
  let all: readonly Field[] = [exactly('')]
  for (const piece of pieces) {
    if (all.length * piece.length > MAX_FIELDS) return [ANYTHING]
    all = all.flatMap((head) => piece.map((tail) => glued(head, tail)))
    // Values of variables in values of variables grow without a limit.
    if (all.some(({ text }) => text.length > MAX_TEXT)) return [ANYTHING]
  }
  return all
}

function plain(text: string, shell: Shell): Field {
  if (isSuspicious(text)) unknown(shell, UNREADABLE)
  return hasBraces(text.replace(/\\[^]/g, '')) ? ANYTHING : exactly(unescaped(text))
}

/** A tilde at the start of a word, or after `=` or `:`, is a home directory. */
function withHome(source: string, field: Field, shell: Shell): Field {
  const home = shell.names.isUntouched('HOME') ? shell.home : undefined
  const [, before = '', name] = /^((?:[\w-]+=)?)~([^/]*)/.exec(source) ?? []
  if (name === undefined) return /[=:]~/.test(source) ? { ...ANYTHING, isMany: false } : field
  if (name !== '' || home === undefined) return { ...field, text: HOLE + field.text }
  return { ...field, text: before + home + field.text.slice(before.length + 1) }
}

/** Braces that the parser has not marked, such as those around quotes. */
function hasHiddenBraces(parts: readonly WordPart[]): boolean {
  const unquoted = parts.map((part) => {
    if (part.type === 'BraceExpansion') return '_'
    return part.type === 'Literal' ? part.text.replace(/\\[^]/g, '_') : '_'
  })
  return hasBraces(unquoted.join(''))
}

function hasBraces(text: string): boolean {
  const inner = text.slice(text.indexOf('{') + 1, Math.max(0, text.lastIndexOf('}')))
  return text.includes('{') && (inner.includes(',') || inner.includes('..'))
}

function expandPart(part: WordPart, shell: Shell): readonly Field[] {
  shell.found.step()
  if (isValue(part)) return expandValue(part, shell)
  switch (part.type) {
    case 'Literal':
      if (isSuspicious(part.text)) unknown(shell, UNREADABLE)
      return [exactly(unescaped(part.text))]
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [exactly(part.value)]
    case 'DoubleQuoted':
      return combined(part.parts.map((child) => expandQuoted(child, shell)))
    case 'LocaleString':
      part.parts.forEach((child) => expandQuoted(child, shell))
      return [{ ...ANYTHING, isMany: false }]
    case 'Glob':
      return [{ text: globText(part.text, part.parts, shell), isPattern: true, isMany: true }]
    case 'ExtendedGlob':
      if (part.parts) part.parts.forEach((child) => expandPart(child, shell))
      else if (isSuspicious(part.text)) unknown(shell, UNREADABLE)
      return [{ text: '*', isPattern: true, isMany: true }]
    case 'BraceExpansion':
      if (part.parts) part.parts.forEach((child) => expandPart(child, shell))
      else if (isSuspicious(part.text)) unknown(shell, UNREADABLE)
      return bracesOf(part.text)?.map(exactly) ?? [ANYTHING]
    case 'ProcessSubstitution':
      runIn(part.script, shell)
      return [exactly(SUBSTITUTED)]
  }
}

/** A set such as `[a-z]`. With an expansion or a slash in it, it can be anything. */
function globText(text: string, parts: readonly WordPart[] | undefined, shell: Shell): string {
  if (!parts) return text
  parts.forEach((part) => expandPart(part, shell))
  return parts.every(({ type }) => type === 'Literal') && !text.includes('/') ? text : HOLE
}

function expandQuoted(part: DoubleQuotedChild, shell: Shell): readonly Field[] {
  if (part.type !== 'Literal')
    return expandValue(part, shell).map((field) => ({ ...field, isMany: isList(part.text) }))
  if (isSuspiciousInQuotes(part.text)) unknown(shell, UNREADABLE)
  return [exactly(part.value)]
}

/** Runs the code in a text that the shell reads like one in double quotes, such as a here-document. */
export function expandText(parts: readonly WordPart[], shell: Shell): void {
  for (const part of parts) {
    if (isQuotedChild(part)) expandQuoted(part, shell)
    else unknown(shell, UNREADABLE)
  }
}

function isQuotedChild(part: WordPart): part is DoubleQuotedChild {
  return part.type === 'Literal' || isValue(part)
}

/** Returns whether a value becomes several arguments even in quotes. */
function isList(text: string): boolean {
  return /^\$@|^\$\{@|^\$\{!?\w+(?:\[@\]|@\})/.test(text)
}

type ValuePart = Exclude<DoubleQuotedChild, { readonly type: 'Literal' }>

/** A value that the shell puts in place of the part. */
function expandValue(part: ValuePart, shell: Shell): readonly Field[] {
  switch (part.type) {
    case 'CommandExpansion':
      runIn(part.script, shell)
      return [
        isWorkingDirectory(part.text) && shell.cwds?.length === 1 ? exactly(shell.cwds[0] ?? '') : ANYTHING,
      ]
    case 'ArithmeticExpansion':
      readArithmetic(part.expression, shell)
      return [{ text: '*', isPattern: true, isMany: false }]
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return readParameter(part, shell, {
        expand: (word) => expand(word, shell),
        checkNumber: (word) => checkNumber(word, shell),
      })
  }
}

function isWorkingDirectory(text: string): boolean {
  return /^(?:\$\(\s*pwd\s*\)|`\s*pwd\s*`)$/.test(text)
}

function runIn(script: Parameters<Shell['run']['nodes']>[0] | undefined, shell: Shell): void {
  if (script) shell.run.nodes(script, fork(shell, { stdin: undefined }))
  else unknown(shell, UNREADABLE)
}
