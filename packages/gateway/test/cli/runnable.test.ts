// Printed commands can be pasted, and every command that the product prints exists.

import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { GROUPS, ONLY_DATA, runnable, SINGLE, WITHOUT_DATA } from '../../src/cli/program/runnable.ts'

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
    expect(runnable(text, word, { data: 'd' })).toBe(expected)
  })

  it.each([
    ['`tollgate approvals approve ID`', '`/x/tollgate approvals approve --url https://g ID`'],
    ['`tollgate doctor`', '`/x/tollgate doctor`'],
    ['`tollgate mcp -- npx x`', '`/x/tollgate mcp -- npx x`'],
    ['`tollgate verify all.pack`', '`/x/tollgate verify all.pack`'],
    ['`tollgate login --url https://h`', '`/x/tollgate login --url https://h`'],
  ])('repeats the address that the user named: %s', (text, expected) => {
    expect(runnable(text, word, { url: 'https://g' })).toBe(expected)
  })

  it('quotes the data directory for the shell', () => {
    expect(runnable('`tollgate up`', word, { data: "it's" })).toBe("`/x/tollgate up --data 'it'\\''s'`")
  })
})

describe('the lists of commands', () => {
  it('are those that are declared', async () => {
    const { commands } = await createProgram(() => undefined)
    const names = (hasParts: boolean): string[] =>
      commands.filter((each) => each.commands.length > 0 === hasParts).map((each) => each.name())
    expect([...names(false), 'help'].toSorted()).toEqual(SINGLE.toSorted())
    expect(names(true).toSorted()).toEqual(GROUPS.toSorted())
    const all = leaves(commands)
    const without = all.filter(([, command]) => !takes(command, '--data'))
    expect([...without.map(([name]) => name), 'help'].toSorted()).toEqual(WITHOUT_DATA.toSorted())
    const only = all.filter(([, command]) => takes(command, '--data') && !takes(command, '--url'))
    // The name in a text has at most two words, and the wrapper has no name of its own.
    const named = only.map(([name]) =>
      name === 'mcp wrap' ? 'mcp' : name.replace(/^(setup (?:browser|mcp)) .*/, '$1'),
    )
    expect([...new Set(named)].toSorted()).toEqual(ONLY_DATA.toSorted())
  })
})

function leaves(commands: readonly Command[], before = ''): readonly (readonly [string, Command])[] {
  return commands.flatMap((each) => {
    const name = before + each.name()
    return each.commands.length > 0 ? leaves(each.commands, `${name} `) : [[name, each] as const]
  })
}

/** Whether a command takes an option, itself or by a command above it. */
function takes({ options, parent }: Command, option: string): boolean {
  return options.some(({ long }) => long === option) || (parent !== null && takes(parent, option))
}
