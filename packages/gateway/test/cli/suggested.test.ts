// Checks that every command that the product prints exists and has its required arguments. Words in capitals are placeholders.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { AGENTS } from '../../src/cli/setup/agents/names.ts'
import { welcome } from '../../src/cli/setup/welcome.ts'
import { problemOf } from './command-lines.ts'
import { linkCommand } from './script.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

const PACKAGES = ['evidence', 'kernel', 'client', 'sentinel', 'gateway'].map((name) =>
  fileURLToPath(new URL(`../../../${name}/src/`, import.meta.url)),
)
const SCRIPTS = fileURLToPath(new URL('scripts/', import.meta.url))
const SUGGESTED = /\\?`(?: {2})?tollgate ((?:[^`\\]|\$\{[^}]*\})+)\\?`/g

// Examples have the words of an absolute command if `tollgate` is not on the PATH.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-suggested-'))
const { PATH: before } = process.env
process.env.PATH = linkCommand(folder)
afterAll(() => {
  // Other files run in this process, too.
  process.env.PATH = before
  rmSync(folder, { recursive: true })
})

type Found = readonly (readonly [command: string, place: string])[]

/** Returns the commands in backticks in the files of a folder. */
function suggestedIn(folder: string, isWanted: (name: string) => boolean): Found {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(isWanted)
    .flatMap((name) =>
      readFileSync(folder + name, 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
        .flatMap((line) => [...line.matchAll(SUGGESTED)].map(([, words = '']) => [words, name] as const)),
    )
}

/** Returns the lines of a folder that have a command in a sentence without backticks, where it would not be found. */
function unmarkedIn(folder: string): readonly string[] {
  const names = program.commands.map((command) => command.name()).join('|')
  const unmarked = new RegExp(
    `^(?! *(?://|/?\\*)).*(?<![\\w\`'"/.@-]|\` {2})tollgate (?:${names})(?![\\w=])`,
    'gm',
  )
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => isSource(name) && !DECLARED.test(name))
    .flatMap((name) =>
      [...readFileSync(folder + name, 'utf8').matchAll(unmarked)].map(([line]) => line.trim()),
    )
}

/** Returns the commands that a text has on lines of their own, without notes, pipes and redirections. */
function commandLines(text: string, place: string): Found {
  return [...text.matchAll(/^ +(?:.*[|(] ?)?tollgate (.*)$/gm)].map(
    ([, line = '']) => [line.replace(/ {2,}#.*$| [<>|] .*$|\)$/g, ''), place] as const,
  )
}

function helpTexts(): Found {
  const walk = (command: Command): Found => {
    let text = ''
    // Wide enough for one line for each example.
    const output = { writeOut: (part: string) => void (text += part), getOutHelpWidth: () => 1000 }
    command.configureOutput(output).outputHelp()
    const [, examples = ''] = text.split('\nExamples:\n')
    return [...commandLines(examples, `help of ${command.name()}`), ...command.commands.flatMap(walk)]
  }
  return walk(program)
}

function banner(): Found {
  const facts = { url: 'http://127.0.0.1:1', words: ['/x'], data: ' --data d', directory: 'd', agent: 't' }
  const samples = { principal: 'agent:demo', escalated: { tool: 'x', arguments: {} } }
  const lines = welcome({
    ...facts,
    samples,
    admin: { token: 't', of: 'user:a' },
    elsewhere: true,
    hasLogin: false,
  })
  return commandLines(lines.join('\n'), 'banner')
}

// Commands whose name is computed: the words that it can be, or why it is no command.
const COMPUTED: Readonly<Record<string, readonly string[] | string>> = {
  'case ${name}': 'the text that a key is made from',
  '${shown(command)} --because REASON': 'repeats what the user typed',
  '${name} all --because "incident 7"': 'an example of a help text',
  '${name} principal agent:ci': 'an example of a help text',
  'approvals ${name} 3f2a9c01 --because "checked the recipient"': 'an example of a help text',
  'policy observe --${scope} ${word(shown(target))} --off': [
    'policy observe --principal NAME --off',
    'policy observe --door mcp --off',
  ],
  "policy ${command} ${policy === undefined ? 'policy.yaml' : word(policy)}": [
    'policy check FILE',
    'policy diff FILE',
    'policy activate FILE',
  ],
  'setup ${id}': AGENTS.map((id) => `setup ${id}`),
  'setup mcp --client ${id}': ['setup mcp --client codex', 'setup mcp --client cursor'],
  'setup ${id} --dry-run': AGENTS.map((id) => `setup ${id} --dry-run`),
  'setup ${id} repair': AGENTS.map((id) => `setup ${id} repair`),
  'setup ${id} status': AGENTS.map((id) => `setup ${id} status`),
  'setup ${id} undo': AGENTS.map((id) => `setup ${id} undo`),
  '${word} all': ['freeze all', 'unfreeze all'],
  '${word} ${scope} NAME': ['freeze tool NAME', 'unfreeze session NAME'],
}
// Names in sentences, which are complete commands only with the words that follow.
const NAMES: Readonly<Record<string, string>> = {
  'mcp --': 'the wrapper that `mcp` alone is',
}

// The banner and the examples of help texts are checked as they are printed.
const isSource = (name: string): boolean => name.endsWith('.ts') && name !== 'cli/setup/welcome.ts'
const DECLARED = /(?:^|[/-])(?:commands|groups)\.ts$/
const program = await createProgram(() => undefined)
const SUGGESTIONS = PACKAGES.flatMap((folder) => suggestedIn(folder, isSource))
const MESSAGES = SUGGESTIONS.flatMap(([text, place]): Found => {
  const words = COMPUTED[text] ?? [text]
  return typeof words === 'string' || text in NAMES ? [] : words.map((each) => [each, place] as const)
})
const LINES = [...helpTexts(), ...banner(), ...suggestedIn(SCRIPTS, () => true)]

describe('a command that the product prints', () => {
  it('is found in the sources', () => {
    expect(MESSAGES.length).toBeGreaterThan(100)
    expect(LINES.length).toBeGreaterThan(80)
  })

  it('is in backticks if it is in a sentence', () => {
    expect(PACKAGES.flatMap(unmarkedIn)).toEqual([])
  })

  it.each([...MESSAGES, ...LINES])('can run as printed: tollgate %s (%s)', async (text) => {
    expect(await problemOf(text)).toBeUndefined()
  })

  it('is not in a table of exceptions without need', () => {
    const texts = SUGGESTIONS.map(([text]) => text)
    expect([...Object.keys(COMPUTED), ...Object.keys(NAMES)].filter((text) => !texts.includes(text))).toEqual(
      [],
    )
  })
})

describe('a wrong command', () => {
  it.each([
    ['polcy check', 'unknown command'],
    ['policy chek', 'unknown command'],
    ['policy check --strickt', 'unknown option'],
    ['mcp aprove files', 'unknown command'],
    ['doctor now', 'too many arguments'],
    ['approvals approve', 'missing required argument'],
    ['tokens issue --principal user:a', "required option '--role"],
    ['tokens issue --role king --principal user:a', 'Allowed choices'],
    ['up --port many', 'whole number'],
  ])('is found: tollgate %s', async (text, about) => {
    expect((await problemOf(text))?.about).toContain(about)
  })
})
