// The output that documents show is the output of the commands.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STARTER_POLICY } from '../../packages/gateway/src/cli/setup/starter.ts'
import { shellWords } from '../../packages/gateway/test/cli/command-lines.ts'
import { endWarm, runWarm } from '../../packages/gateway/test/cli/warm.ts'
import { ROOT } from './fresh-copy.ts'
import { blocksIn, documents } from './markdown.ts'
import { expectSample } from './sample.ts'

const BLOCKS = documents().flatMap(blocksIn)
const SHOWN = BLOCKS.flatMap(({ file, language, text }) => {
  const [, command] = /^\$ (tollgate .*)\n./.exec(text) ?? []
  return language === 'text' && command !== undefined ? [[command, file] as const] : []
})
const home = mkdtempSync(join(tmpdir(), 'tollgate-samples-'))
// Commands run in the data directory, where the policy and its cases are.
const work = join(home, 'data')
const env = { PATH: process.env.PATH ?? '', HOME: home, TOLLGATE_DATA: work, NO_COLOR: '1' }

beforeAll(async () => {
  const { exit, stderr } = await runWarm({ work: home, env }, ['init'])
  expect(exit, stderr).toBe(0)
})
afterAll(() => {
  endWarm()
  rmSync(home, { recursive: true })
})

/** The block of the page about policies that begins like this. */
function block(start: string): string {
  const found = BLOCKS.find(({ file, text }) => file === 'docs/policy.md' && text.startsWith(start))
  expect(found, start).toBeDefined()
  return found?.text ?? ''
}

const vector = (name: string): Buffer => readFileSync(join(ROOT, 'vectors/demo', name))
const older = (): string => block('tollgate: 1\nname: notes\ntools:\n  fs/read')
const newer = (): string =>
  older().replace('/work/notes', '/work').replace('[example.com]', '[example.com, partner.test]')

/** The files that a command reads. */
const FILES: Readonly<Record<string, () => Readonly<Record<string, string | Buffer>>>> = {
  'tollgate doctor': () => ({}),
  'tollgate policy test policy.test.yaml': () => ({}),
  'tollgate policy test': () => ({
    'policy.test.yaml': block('# policy.test.yaml'),
    'policy.yaml': STARTER_POLICY,
  }),
  'tollgate policy check policy.yaml': () => ({ 'policy.yaml': block('tollgate: 1\nname: odd\n') }),
  'tollgate policy explain --policy notes.yaml --tool notes/read --args \'{"path":"/etc/passwd"}\' --principal agent:ci':
    () => ({ 'notes.yaml': block('tollgate: 1\nname: notes\ntools:\n  notes/read') }),
  'tollgate policy diff old.yaml new.yaml': () => ({ 'old.yaml': older(), 'new.yaml': newer() }),
  'tollgate pack list all.pack --trust trust.json': () => ({
    'all.pack': vector('demo.pack'),
    'trust.json': vector('trust.json'),
  }),
  'tollgate verify tampered.pack --trust trust.json': () => ({
    'tampered.pack': vector('tampered.pack'),
    'trust.json': vector('trust.json'),
  }),
}

/** Samples that other tests compare, because they need a gateway. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'tollgate approvals show 42a3716b': 'newcomer.test.ts',
  'tollgate setup mcp': 'newcomer.test.ts',
  'tollgate mcp list': 'scripts/mcp.txt',
  'tollgate policy replay': 'scripts/policy-replay.txt',
  'tollgate policy replay --policy next.yaml': 'scripts/policy-replay.txt',
}

describe('a sample of output', () => {
  it('is of a command that a test runs', () => {
    const commands = SHOWN.map(([command]) => command)
    expect(commands.toSorted()).toEqual([...Object.keys(FILES), ...Object.keys(ELSEWHERE)].toSorted())
  })

  it.each(SHOWN.filter(([command]) => command in FILES))(
    'is what the command prints: %s (%s)',
    async (command, file) => {
      for (const [name, text] of Object.entries(FILES[command]?.() ?? {}))
        writeFileSync(join(work, name), text)
      const { stdout, stderr } = await runWarm({ work, env }, shellWords(command).slice(1))
      expectSample(file, command, `${stdout}\n${stderr}`.replaceAll(`${work}/`, ''))
    },
  )
})
