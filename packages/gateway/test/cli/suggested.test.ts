// Commands that the messages of the gateway suggest: each exists, and has all that it needs. The reader fills in words in capitals.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'

const PACKAGES = ['evidence', 'kernel', 'gateway'].map((name) =>
  fileURLToPath(new URL(`../../../${name}/src/`, import.meta.url)),
)
const SUGGESTED = /\\?`tollgate ((?:[^`\\]|\$\{[^}]*\})+)\\?`/g

/** Every command in a text that a person may read, and the file that has it. */
function suggested(): readonly (readonly [string, string])[] {
  return PACKAGES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // Commands know each other, and name groups of commands as well.
      .filter((name) => name.endsWith('.ts') && !/^(?:cli|workbench)\//.test(name))
      .flatMap((name) =>
        readFileSync(folder + name, 'utf8')
          .split('\n')
          .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
          .flatMap((line) => [...line.matchAll(SUGGESTED)].map(([, words = '']) => [words, name] as const)),
      ),
  )
}

/** Why a command cannot be run as it is written; undefined if it can. */
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
  if (command.parent === null) return 'there is no such command'
  const needed = command.registeredArguments.filter(({ required }) => required).length
  const given = words.findIndex((word) => word.startsWith('-'))
  if ((given < 0 ? words.length : given) < needed) return 'it lacks an argument'
  const lacks = command.options.find(({ mandatory, long }) => mandatory && !words.includes(long ?? ''))
  const unknown = words.find(
    (word) => word.startsWith('--') && !command.options.some(({ long }) => long === word),
  )
  return lacks ? `it lacks ${lacks.long ?? ''}` : unknown && `it has no ${unknown}`
}

const ALL = suggested()

describe('a command that a message suggests', () => {
  it('is found at all', () => expect(ALL.length).toBeGreaterThan(20))

  it.each(ALL)('can be run as it is written: tollgate %s (%s)', async (text) => {
    expect(await problemOf(text)).toBeUndefined()
  })
})
