// The help of every command fits the terminal: no line is longer than its width, and no line ends early.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { linkCommand } from './script.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

const folder = mkdtempSync(join(tmpdir(), 'tollgate-help-'))
// Printed commands are as short as after `tollgate self-install`.
const { PATH: before } = process.env
process.env.PATH = linkCommand(folder)
afterAll(() => {
  // Other files run in this process, too.
  process.env.PATH = before
  rmSync(folder, { recursive: true })
})

const all = commandsIn(await createProgram(() => undefined), 'tollgate')

function commandsIn(command: Command, name: string): readonly (readonly [string, Command])[] {
  return [
    [name, command] as const,
    ...command.commands.flatMap((each) => commandsIn(each, `${name} ${each.name()}`)),
  ]
}

function helpOf(command: Command, columns: number): string {
  let text = ''
  command
    .configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => columns })
    .outputHelp()
  return text
}

/** Lines that end although the first word of the next one fits. Usage and examples have lines of their own. */
function earlyEnds(text: string, columns: number): readonly string[] {
  const [body = ''] = text.slice(text.indexOf('\n\n')).split('\nExamples:\n')
  const lines = body.split('\n')
  return lines.filter((line, i) => {
    const next = lines[i + 1] ?? ''
    const [, indent = '', word = ''] = /^( *)((?:[^ `]|`[^`]*`|`)+)/.exec(next) ?? []
    const isContinued = line !== '' && word !== '' && (indent === '' || indent.length > 8)
    return isContinued && line.length + 1 + word.length <= columns
  })
}

describe.each([80, 140])('at %i columns', (columns) => {
  it.each(all)('the help of %s fits, and is broken only where it must', (_, command) => {
    const text = helpOf(command, columns)
    expect(text.split('\n').filter((line) => line.length > columns)).toEqual([])
    expect(earlyEnds(text, columns)).toEqual([])
  })
})

describe('an example that is too long', () => {
  it('goes over lines that a shell takes as one command', () => {
    const [, command] = all.find(([name]) => name.endsWith('policy explain')) ?? []
    const wide = helpOf(command as Command, 400)
    const narrow = helpOf(command as Command, 60)
    const [first = ''] = commandsOf(wide)
    expect(narrow).toContain(' \\\n    ')
    expect(commandsOf(narrow)[0]).not.toBe(first)
    expect(wordsOf(commandsOf(narrow)[0] ?? '')).toEqual(wordsOf(first))
  })
})

/** The examples, each with its further lines. */
function commandsOf(help: string): readonly string[] {
  const [, examples = ''] = help.split('\nExamples:\n')
  return [...examples.matchAll(/^ {2}(tollgate (?:[^\\\n#]|\\\n)*)/gm)].map(([, text = '']) => text.trim())
}

/** The words as a shell reads them. */
function wordsOf(command: string): readonly string[] {
  const script = `set -- ${command}\nprintf '%s\\n' "$@"`
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
}
