// Checks that every command that the product prints exists and has its required arguments. Words in capitals are placeholders.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { welcome } from '../../src/cli/setup/welcome.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

const PACKAGES = ['evidence', 'kernel', 'gateway'].map((name) =>
  fileURLToPath(new URL(`../../../${name}/src/`, import.meta.url)),
)
const SCRIPTS = fileURLToPath(new URL('scripts/', import.meta.url))
const SUGGESTED = /\\?`tollgate ((?:[^`\\]|\$\{[^}]*\})+)\\?`/g

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

/** Returns the commands that a text has on lines of their own, without notes, pipes and redirections. */
function commandLines(text: string, place: string): Found {
  return [...text.matchAll(/^ +(?:.*[|(] ?)?tollgate (.*)$/gm)].map(
    ([, line = '']) => [line.replace(/ {2,}#.*$| [<>|] .*$|\)$/g, ''), place] as const,
  )
}

async function helpTexts(): Promise<Found> {
  const walk = (command: Command): Found => {
    let text = ''
    command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp()
    const [, examples = ''] = text.split('\nExamples:\n')
    return [...commandLines(examples, `help of ${command.name()}`), ...command.commands.flatMap(walk)]
  }
  return walk(await createProgram(() => undefined))
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

/** Returns the command that words name, and the words after its name. */
async function resolved(text: string): Promise<{ readonly command: Command; readonly words: string[] }> {
  const words =
    text
      .replaceAll(/\$\{[^}]*\}/g, 'X')
      .replaceAll(/\\S\+/g, 'X')
      .split(/ -- | --$/)[0]
      ?.split(' ') ?? []
  let command = await createProgram(() => undefined, words[0])
  while (command.commands.length > 0) {
    const next = command.commands.find((each) => each.name() === words[0])
    if (!next) break
    command = next
    words.shift()
  }
  return { command, words }
}

/** Returns why the help of a command cannot be printed; undefined if it can. */
async function unknownIn(text: string): Promise<string | undefined> {
  if (/^(?:--help|--version|help)\b/.test(text)) return undefined
  const { command, words } = await resolved(text)
  if (command.parent === null) return 'unknown command'
  // `tollgate mcp --name X -- …` is the hidden default command of its group.
  const options = [...command.options, ...command.commands.flatMap((each) => each.options)]
  const unknown = words.find((word) => /^--[a-z]/.test(word) && !options.some(({ long }) => long === word))
  return unknown && `unknown option ${unknown}`
}

/** Returns why a command cannot run as written; undefined if it can. */
async function problemOf(text: string): Promise<string | undefined> {
  const { command, words } = await resolved(text)
  const unknown = await unknownIn(text)
  if (unknown !== undefined) return unknown
  const needed = command.registeredArguments.filter(({ required }) => required).length
  const given = words.findIndex((word) => word.startsWith('-'))
  if ((given < 0 ? words.length : given) < needed) return 'an argument is missing'
  const lacks = command.options.find(({ mandatory, long }) => mandatory && !words.includes(long ?? ''))
  return lacks && `missing option ${lacks.long ?? ''}`
}

const isCommandCode = (name: string): boolean => /^(?:cli|workbench)\//.test(name)
const MESSAGES = PACKAGES.flatMap((folder) =>
  suggestedIn(folder, (name) => name.endsWith('.ts') && !isCommandCode(name)),
)
// The code of commands also names commands without their arguments, and computes the names of some; the help has those.
const isComputed = ([text]: Found[number]): boolean => /^(?:case )?[\w-]*\$\{/.test(text)
const NAMED = [
  ...PACKAGES.flatMap((folder) =>
    suggestedIn(folder, (name) => name.endsWith('.ts') && isCommandCode(name)),
  ).filter((each) => !isComputed(each)),
  ...suggestedIn(SCRIPTS, () => true),
]
const LINES = [...(await helpTexts()), ...banner()]

describe('a command that a message suggests', () => {
  it('is found in the sources', () => {
    expect(MESSAGES.length).toBeGreaterThan(20)
    expect(NAMED.length).toBeGreaterThan(60)
    expect(LINES.length).toBeGreaterThan(80)
  })

  it.each(MESSAGES)('can run as written: tollgate %s (%s)', async (text) => {
    expect(await problemOf(text)).toBeUndefined()
  })

  it.each(NAMED)('exists: tollgate %s (%s)', async (text) => {
    expect(await unknownIn(text)).toBeUndefined()
  })

  it.each(LINES)('can run as printed: tollgate %s (%s)', async (text) => {
    expect(await unknownIn(text)).toBeUndefined()
  })
})
