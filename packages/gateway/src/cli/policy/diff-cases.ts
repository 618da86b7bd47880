// Reads the calls of the case files of both policies for `tollgate policy diff`.

import { readFileSync, statSync } from 'node:fs'
import { MAX_CASE_FILE, readCaseFile } from '../../workbench/case-file.ts'
import { draftsIn } from '../../workbench/generate/cases.ts'
import type { Draft } from '../../workbench/generate/draft.ts'
import type { Side } from './diff-text.ts'
import type { Terminal } from '../program/terminal.ts'
import { placed } from './policy-file.ts'

/** Returns the distinct calls of `NAME.test.yaml` for each policy. Warns about an unreadable file and skips it. */
export function seedsBeside(terminal: Terminal, sides: readonly Side[]): readonly Draft[] {
  const files = sides.flatMap(({ file }) => (file === undefined ? [] : [caseFileOf(file)]))
  const drafts = [...new Set(files)].flatMap((file) => seedsIn(terminal, file))
  return [...new Map(drafts.map((draft) => [JSON.stringify(draft), draft])).values()]
}

function caseFileOf(file: string): string {
  return `${file.replace(/\.ya?ml$/, '')}.test.yaml`
}

// In bytes: a character needs at most three.
const MAX_BYTES = 3 * MAX_CASE_FILE

function seedsIn(terminal: Terminal, file: string): readonly Draft[] {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return []
  const skip = (...why: readonly string[]): readonly Draft[] => {
    terminal.warn(`skipped the calls of \`${file}\``, ...why)
    return []
  }
  if (!found.isFile() || found.size > MAX_BYTES) return skip('it is not a file, or too long')
  const read = readCaseFile(readFileSync(file, 'utf8'))
  if (read.ok) return draftsIn(read.file)
  return skip(...placed(file, read.mistakes))
}
