// Redirections: files that the shell itself opens, and here-documents.

import type { HereDoc, Redirect, Redirection } from 'unbash'
import { exactText, shown, type Field } from './field.ts'
import { noteRead, notePath, noteHostPath } from '../programs/note.ts'
import { unknown, type Shell, type Stdin } from './shell.ts'
import { isSuspiciousInQuotes } from './text.ts'
import { expand, expandText } from './word.ts'

/** Reads redirections, and returns what they put on the standard input; undefined if they do not change it. */
export function readRedirections(all: readonly Redirection[], shell: Shell): Stdin {
  let stdin: Stdin
  for (const one of all) {
    shell.found.step()
    const isInput =
      one.descriptor === undefined || (one.descriptor.type === 'FileDescriptor' && one.descriptor.value === 0)
    const given = readOne(one, shell)
    if (isInput && given) stdin = given
  }
  return stdin
}

function readOne(one: Redirection, shell: Shell): Stdin {
  if (one.type === 'HereDoc') return readHereDoc(one, shell)
  if (!one.target) {
    unknown(shell, 'a redirection cannot be read')
    return 'pipe'
  }
  const fields = expand(one.target, shell)
  const [field, ...others] = fields
  if (one.type === 'HereString') {
    const text = field && others.length === 0 ? exactText(field) : undefined
    return text === undefined ? 'pipe' : { script: text }
  }
  if (!field || others.length > 0) {
    unknown(shell, 'a redirection has several files')
    return 'pipe'
  }
  return readTarget(one, field, shell)
}

function readTarget({ operator }: Redirect, field: Field, shell: Shell): Stdin {
  const text = shown(field)
  if (/^[<>]&$/.test(operator) && /^(?:\d+-?|-)$/.test(text)) return undefined
  // `2>&$x` can be a file too.
  if (noteHostPath(field, shell)) return 'pipe'
  const isRead = operator.startsWith('<')
  if (isRead) noteRead(field, shell)
  if (!isRead || operator === '<>') notePath('writes', field, shell)
  return isRead ? 'pipe' : undefined
}

function readHereDoc({ body, delimiter, closing }: HereDoc, shell: Shell): Stdin {
  if (!delimiter || !closing) unknown(shell, 'a here-document has no end')
  if (delimiter?.quoted === true) return { script: body.text }
  if (!body.parts) {
    if (isSuspiciousInQuotes(body.text)) unknown(shell, 'a here-document cannot be read')
    return { script: body.text.replace(/\\([$`\\\n])/g, (_, char: string) => (char === '\n' ? '' : char)) }
  }
  expandText(body.parts, shell)
  return 'pipe'
}
