// Case files beside policy files: their calls are tried under both policies, and varied.

import { readFileSync, statSync } from 'node:fs'
import { MAX_CASE_FILE, readCaseFile } from '../../workbench/case-file.ts'
import { draftsIn } from '../../workbench/generate/cases.ts'
import type { Draft } from '../../workbench/generate/draft.ts'
import type { Side } from './diff-text.ts'
import type { Terminal } from '../program/terminal.ts'
import { placed } from './policy-file.ts'

/** The calls of `NAME.test.yaml` beside each policy, each once. One that cannot be read is said, and left out. */
export function seedsBeside(terminal: Terminal, sides: readonly Side[]): readonly Draft[] {
  const files = sides.flatMap(({ file }) => (file === undefined ? [] : [besideOf(file)]))
  const drafts = [...new Set(files)].flatMap((file) => seedsIn(terminal, file))
  return [...new Map(drafts.map((draft) => [JSON.stringify(draft), draft])).values()]
}

function besideOf(file: string): string {
  return `${file.replace(/\.ya?ml$/, '')}.test.yaml`
}

// In bytes: no character needs more than three of them.
const MAX_BYTES = 3 * MAX_CASE_FILE

function seedsIn(terminal: Terminal, file: string): readonly Draft[] {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) return []
  const leave = (...why: readonly string[]): readonly Draft[] => {
    terminal.warn(`the calls of \`${file}\` are not tried`, ...why)
    return []
  }
  if (!found.isFile() || found.size > MAX_BYTES) return leave('it is no file, or too long a one')
  const read = readCaseFile(readFileSync(file, 'utf8'))
  if (read.ok) return draftsIn(read.file)
  return leave(...placed(file, read.mistakes))
}
