// The split as it is frozen: which template and role is in which set, and the hash of what each set generates.

import { readFileSync, writeFileSync } from 'node:fs'
import { hashOf, sessionsOf, templatesOf } from './generate.ts'
import { SPLITS, type Split } from './session.ts'

/** One set of the frozen split. */
export interface Frozen {
  readonly roles: readonly string[]
  /** Templates by family and name. */
  readonly templates: readonly string[]
  readonly sessions: number
  readonly sha256: string
}

const FILE = new URL('split.json', import.meta.url)

/** What the generator makes now. */
export function currentSplit(): Record<Split, Frozen> {
  // Sound: one entry for each split.
  return Object.fromEntries(SPLITS.map((split) => [split, frozenOf(split)])) as Record<Split, Frozen>
}

function frozenOf(split: Split): Frozen {
  const templates = templatesOf(split)
  const sessions = sessionsOf(split)
  return {
    roles: [...new Set(templates.map(({ role }) => role))].sort(),
    templates: templates.map(({ family, name }) => `${family}/${name}`).sort(),
    sessions: sessions.length,
    sha256: hashOf(sessions),
  }
}

/** What was frozen. */
export function frozenSplit(): Record<Split, Frozen> {
  // Sound: the file is in the repository, and its test compares all of it.
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<Split, Frozen>
}

/** Freezes the split as it is now. */
export function freeze(): void {
  writeFileSync(FILE, `${JSON.stringify(currentSplit(), null, 2)}\n`)
}
