// Printed commands can be pasted, and every command that the product prints exists.

import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { GROUPS, runnable, SINGLE, WITHOUT_DATA } from '../../src/cli/program/runnable.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

const word = (): string => '/x/tollgate'

describe('a printed command', () => {
  it('is runnable wherever it comes in a text', () => {
    expect(runnable('run `tollgate doctor`, or:\n  npx tollgate up --watch', word)).toBe(
      'run `/x/tollgate doctor`, or:\n  /x/tollgate up --watch',
    )
    expect(runnable('start again: tollgate serve', word)).toBe('start again: /x/tollgate serve')
    expect(runnable('curl -s x | tollgate threat scan --show', word)).toContain('| /x/tollgate threat scan')
    expect(runnable('see `tollgate --help` or `tollgate help COMMAND`', word)).toBe(
      'see `/x/tollgate --help` or `/x/tollgate help COMMAND`',
    )
    expect(runnable('`tollgate up`', () => 'tollgate')).toBe('`tollgate up`')
  })

  it.each([
    'the tollgate is closed; `tollgate` and tollgate.yaml; a tollgate token',
    'tollgate sleeps: tollgate upwards',
    'keyid=tollgate fsck.pem',
  ])('is not seen in prose: %s', (prose) => expect(runnable(prose, word)).toBe(prose))

  it.each([
    ['`tollgate fsck --fold`', '`/x/tollgate fsck --data d --fold`'],
    ['`tollgate policy activate FILE`', '`/x/tollgate policy activate --data d FILE`'],
    ['`tollgate freeze all`', '`/x/tollgate freeze --data d all`'],
    ['`tollgate mcp -- npx x`', '`/x/tollgate mcp --data d -- npx x`'],
    ['`tollgate mcp --`', '`/x/tollgate mcp --data d --`'],
    ['`tollgate setup mcp undo`', '`/x/tollgate setup mcp --data d undo`'],
    ['`tollgate policy`', '`/x/tollgate policy`'],
    ['`tollgate verify all.pack`', '`/x/tollgate verify all.pack`'],
    ['`tollgate pack list all.pack`', '`/x/tollgate pack list all.pack`'],
    ['`tollgate policy schema`', '`/x/tollgate policy schema`'],
    ['`tollgate up --data e`, `tollgate up`', '`/x/tollgate up --data e`, `/x/tollgate up --data d`'],
  ])('repeats the data directory that the user named: %s', (text, expected) => {
    expect(runnable(text, word, 'd')).toBe(expected)
  })

  it('quotes the data directory for the shell', () => {
    expect(runnable('`tollgate up`', word, "it's")).toBe("`/x/tollgate up --data 'it'\\''s'`")
  })
})

describe('the lists of commands', () => {
  it('are those that are declared', async () => {
    const { commands } = await createProgram(() => undefined)
    const names = (hasParts: boolean): string[] =>
      commands.filter((each) => each.commands.length > 0 === hasParts).map((each) => each.name())
    expect([...names(false), 'help'].toSorted()).toEqual(SINGLE.toSorted())
    expect(names(true).toSorted()).toEqual(GROUPS.toSorted())
    const without = leaves(commands).filter(([, command]) => !takesData(command))
    expect([...without.map(([name]) => name), 'help'].toSorted()).toEqual(WITHOUT_DATA.toSorted())
  })
})

function leaves(commands: readonly Command[], before = ''): readonly (readonly [string, Command])[] {
  return commands.flatMap((each) => {
    const name = before + each.name()
    return each.commands.length > 0 ? leaves(each.commands, `${name} `) : [[name, each] as const]
  })
}

/** Whether a command takes a data directory, itself or by an option of a command above it. */
function takesData({ options, parent }: Command): boolean {
  return options.some(({ long }) => long === '--data') || (parent !== null && takesData(parent))
}
