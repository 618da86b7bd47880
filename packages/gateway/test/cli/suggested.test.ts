// Checks that every command suggested in a message exists and has its required arguments. Words in capitals are placeholders.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'

const PACKAGES = ['evidence', 'kernel', 'gateway'].map((name) =>
  fileURLToPath(new URL(`../../../${name}/src/`, import.meta.url)),
)
const SUGGESTED = /\\?`tollgate ((?:[^`\\]|\$\{[^}]*\})+)\\?`/g

/** Returns every suggested command with the file that contains it. */
function suggested(): readonly (readonly [string, string])[] {
  return PACKAGES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // Command code is skipped, because it also names groups of commands.
      .filter((name) => name.endsWith('.ts') && !/^(?:cli|workbench)\//.test(name))
      .flatMap((name) =>
        readFileSync(folder + name, 'utf8')
          .split('\n')
          .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
          .flatMap((line) => [...line.matchAll(SUGGESTED)].map(([, words = '']) => [words, name] as const)),
      ),
  )
}

/** Returns why a command cannot run as written; undefined if it can. */
async function problemOf(text: string): Promise<string | undefined> {
  const words =
    text
      .replaceAll(/\$\{[^}]*\}/g, 'X')
      .split(' -- ')[0]
      ?.split(' ') ?? []
  let command = await createProgram(() => undefined, words[0])
  while (command.commands.length > 0) {
    const next = command.commands.find((each) => each.name() === words[0])
    if (!next) break
    command = next
    words.shift()
  }
  if (command.parent === null) return 'unknown command'
  const needed = command.registeredArguments.filter(({ required }) => required).length
  const given = words.findIndex((word) => word.startsWith('-'))
  if ((given < 0 ? words.length : given) < needed) return 'an argument is missing'
  const lacks = command.options.find(({ mandatory, long }) => mandatory && !words.includes(long ?? ''))
  const unknown = words.find(
    (word) => word.startsWith('--') && !command.options.some(({ long }) => long === word),
  )
  return lacks ? `missing option ${lacks.long ?? ''}` : unknown && `unknown option ${unknown}`
}

const ALL = suggested()

describe('a command that a message suggests', () => {
  it('is found in the sources', () => expect(ALL.length).toBeGreaterThan(20))

  it.each(ALL)('can run as written: tollgate %s (%s)', async (text) => {
    expect(await problemOf(text)).toBeUndefined()
  })
})
