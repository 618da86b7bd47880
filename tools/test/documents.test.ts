// Every code block of every document is right: the language says how it is checked. `text` is output or a diagram.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseJson } from '../../packages/evidence/src/json.ts'
import { isObject, type JsonObject } from '../../packages/evidence/src/json.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { readCaseFile } from '../../packages/gateway/src/workbench/case-file.ts'
import { problemOf } from '../../packages/gateway/test/cli/command-lines.ts'
import { parsePolicy } from '../../packages/kernel/src/policy/parse/parse.ts'
import { bodyProblem } from './api-body.ts'
import { ROOT } from './fresh-copy.ts'
import { blocksIn, documents, spansIn, type CodeBlock } from './markdown.ts'
import { commandProblem, commandsIn, scriptProblem } from './shell-block.ts'
import { writePrograms } from './ts-block.ts'

const FILES = documents()
const BLOCKS = FILES.flatMap(blocksIn)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-documents-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Blocks of these languages have a test of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ways: 'tools/test/ways.test.ts',
  example: 'packages/evidence/test/formats-examples.test.ts',
  python: 'packages/python/test/gateway.compat.ts',
}

function written(language: string): readonly (readonly [place: string, block: CodeBlock])[] {
  return BLOCKS.filter((block) => block.language === language).map((block) => [block.place, block])
}

describe('every document', () => {
  it('is found, with its blocks', () => {
    expect(FILES).toEqual(expect.arrayContaining(['README.md', 'docs/mcp.md', 'packages/client/README.md']))
    expect(BLOCKS.length).toBeGreaterThan(100)
  })

  it('has only blocks that say what they are', () => {
    const known = ['text', 'sh', 'json', 'yaml', 'ts', 'txtar', ...Object.keys(ELSEWHERE)]
    expect(BLOCKS.filter(({ language }) => !known.includes(language)).map(({ place }) => place)).toEqual([])
    for (const file of Object.values(ELSEWHERE))
      expect(readdirSync(join(ROOT, file, '..'))).toContain(file.split('/').at(-1))
  })

  it.each(FILES)('names only commands and scripts that exist: %s', async (file) => {
    for (const span of spansIn(file).filter((each) => !(each in NO_COMMANDS))) {
      if (/^(?:npx )?tollgate [^ ]/.test(span)) {
        for (const line of alternatives(span)) expect(await problemInSentence(line), span).toBeUndefined()
      }
      const [, script] = /^npm run ([\w:-]+)/.exec(span) ?? []
      if (script !== undefined) expect(scriptProblem(script)).toBeUndefined()
    }
  })
})

/** Code that only looks like a command. */
const NO_COMMANDS: Readonly<Record<string, string>> = {
  'tollgate vector v1': 'the first line of a vector',
}

/** In a sentence, the name of a command is enough. */
async function problemInSentence(line: string): Promise<string | undefined> {
  const [command = ''] = commandsIn(line)
  const problem = await problemOf(command.replace(/^(?:npx )?tollgate /, ''))
  return problem?.missing === true ? undefined : problem?.about
}

/** `pack list|show` as two lines. */
function alternatives(line: string): readonly string[] {
  const [found] = /\w+(?:\|\w+)+/.exec(line) ?? []
  return found === undefined ? [line] : found.split('|').map((each) => line.replace(found, each))
}

describe('a block', () => {
  it.each(written('sh'))('has commands that can run: %s', async (_, { text }) => {
    const commands = commandsIn(text)
    expect(commands).not.toEqual([])
    for (const command of commands) expect(await commandProblem(command), command).toBeUndefined()
  })

  it.each(written('text'))('shows the output of commands that can run: %s', async (_, { text }) => {
    for (const [, command = ''] of text.matchAll(/^\$ (.*)$/gm)) {
      expect(await commandProblem(command), command).toBeUndefined()
    }
  })

  it.each(written('yaml'))('is a policy, a file of cases or tollgate.yaml: %s', (_, { text }) => {
    expect(yamlMistakes(text)).toEqual([])
  })

  it.each(written('json'))('is strict JSON that its reader takes: %s', async (_, { text }) => {
    const value = parseJson(text)
    if (!isObject(value)) throw new Error('not an object')
    expect(await jsonProblem(value)).toBeUndefined()
  })

  it.each(written('txtar'))('is a vector: %s', (_, { file, text }) => {
    const vectors = join(ROOT, file, '..')
    const all = readdirSync(vectors).filter((name) => name.endsWith('.txtar'))
    expect(all.map((name) => readFileSync(join(vectors, name), 'utf8'))).toContain(text)
  })
})

const CONFIG_KEYS =
  /^(?:llm|mcp|keep|limits|webhooks|retention|telemetry|decision-log|sign-in|cors|database):/m

function yamlMistakes(text: string): readonly unknown[] {
  if (/^cases:/m.test(text)) {
    const read = readCaseFile(text)
    return read.ok ? [] : read.mistakes
  }
  if (CONFIG_KEYS.test(text)) {
    writeFileSync(join(folder, 'tollgate.yaml'), `tollgate: 1\nledger: tollgate.local/x\n${text}`, {
      mode: 0o600,
    })
    expect(readConfig(folder).data).toBe(folder)
    return []
  }
  const rules = /^rules:/m.test(text) ? '' : 'rules: []\n'
  const parsed = parsePolicy(/^tollgate:/m.test(text) ? text : `tollgate: 1\nname: page\n${rules}${text}`)
  return parsed.ok ? [] : parsed.mistakes
}

/** Checks a configuration of an MCP client, and a request to the gateway. Other objects have no reader that takes their placeholders. */
async function jsonProblem(value: JsonObject): Promise<unknown> {
  if (isObject(value.mcpServers)) {
    for (const server of Object.values(value.mcpServers)) {
      // Sound: a wrong form fails below.
      const { command, args } = server as { command: string; args: string[] }
      expect(command).toBe('tollgate')
      return problemOf(args.join(' '))
    }
  }
  const text = JSON.stringify(value).replaceAll('…64 hexadecimal digits…', '0'.repeat(64))
  if ('tool' in value) return bodyProblem('/v1/evaluate', text)
  return 'tool_name' in value ? bodyProblem('/v1/browser/evaluate', text) : undefined
}

describe('a program', () => {
  const blocks = BLOCKS.filter(({ language }) => language === 'ts')
  const programs = writePrograms(blocks)
  afterAll(() => programs.remove())

  it('compiles against the packages', () => {
    expect(blocks.length).toBeGreaterThan(8)
    expect(programs.mistakes()).toBe('')
  })

  // Those of the client run against a gateway in `packages/client/test/readme.test.ts`.
  it.each(['packages/evidence/README.md', 'packages/kernel/README.md'])('runs: %s', (file) => {
    for (const block of blocks.filter((each) => each.file === file)) {
      const args = ['--import', 'tsx', programs.fileOf(block)]
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: programs.folder, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
    }
  })
})
