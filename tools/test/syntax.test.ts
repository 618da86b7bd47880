// What the linter has no rule for: exports by name only, and no clock where decisions are made.

import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readTree } from '../check-rooms.ts'

const SOURCES = readTree(fileURLToPath(new URL('../..', import.meta.url))).filter(({ path }) =>
  path.endsWith('.ts'),
)
const DECIDING = /^packages\/(?:evidence|kernel)\/src\//

/** Where one of the files has it: `PATH:LINE`. */
function found(pattern: RegExp, within: RegExp = /^/): readonly string[] {
  return SOURCES.filter(({ path }) => within.test(path)).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}`] : [])),
  )
}

it('exports by name: a new export is public API', () => {
  expect(SOURCES.length).toBeGreaterThan(500)
  expect(found(/^\s*export\s+(?:type\s+)?\*/)).toEqual([])
})

it('no clock where decisions are made: time is handed in', () => {
  const clock = /(?<![.\w])Date\(/
  expect(found(/new\s+Date(?:\(\s*\)|(?!\())|(?<!new\s)(?<![.\w])Date\(/, DECIDING)).toEqual([])
  // It is the empty brackets that are a clock.
  expect(found(clock, DECIDING).length).toBeGreaterThan(0)
})
