// The tables of commands: what each one does, and what a small policy of facts decides about it.

import { readFileSync } from 'node:fs'
import { pathsNamed } from '../../src/open/paths.ts'
import { createRig, type Rig } from '../rig.ts'
import { factsLine, PLACE } from './facts-line.ts'

/** One line of a table. */
export interface Line {
  readonly command: string
  readonly verdict: string
  readonly facts: string
}

/** Reads a table: `COMMAND ## VERDICT FACTS`. */
export function readTable(name: string): readonly Line[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [command = '', expected = ''] = line.split(' ## ')
    const [, verdict = '', facts = ''] = /^(allow|ask|deny) ?(.*)$/.exec(expected) ?? []
    if (verdict === '') throw new Error(`no verdict: ${line}`)
    return { command: command.replaceAll('⏎', '\n'), verdict, facts }
  })
}

const CODE = [
  ...[
    'npm test',
    'npm run',
    'npm start',
    'yarn test',
    'yarn run',
    'pnpm test',
    'pnpm run',
    'bun test',
    'bun run',
    'deno test',
  ],
  ...[
    'node',
    'python',
    'python3',
    'pytest',
    'python -m pytest',
    'python3 -m unittest',
    'make',
    'cargo build',
    'cargo test',
    'cargo check',
    'cargo clippy',
    'cargo run',
  ],
  ...[
    'go test',
    'go build',
    'go vet',
    'go run',
    'tsx',
    'vitest',
    'jest',
    'mocha',
    'eslint',
    'prettier',
    'mypy',
    'flake8',
    'pylint',
  ],
  ...[
    'source',
    'cmake',
    'ctest',
    'ninja',
    'mvn',
    'gradle',
    './gradlew',
    'rspec',
    'ruby',
    'bundle exec',
    'rake',
    'poetry run',
    'tox',
  ],
]

/** A policy for commands that only speaks of facts. */
const POLICY = `
tollgate: 1
name: commands
principals: { "agent:*": { tier: admin } }
tools:
  bash: { effect: execute, destinations: none, command: [command] }
rules:
  - { id: secrets, deny: bash, when: 'size(files.secrets) + size(shell.secrets) > 0' }
  - { id: gate, deny: bash, when: 'size(files.gate) > 0' }
  - { id: root, deny: bash, when: 'shell.privileged' }
  - id: local
    allow: bash
    when: >-
      size(shell.unknown) + size(shell.unknown_programs) + size(files.unresolved) + size(files.startup) == 0 &&
      size(shell.hosts) + size(shell.installs) + size(shell.publishes) + size(shell.pushes) + size(shell.kills) == 0 &&
      !shell.background && files.deletes.all(p, p.startsWith(files.project + "/")) &&
      files.writes.all(p, p == files.project || p.startsWith(files.project + "/") || p.startsWith("/tmp/")) &&
      shell.runs_other_code.all(p, p in ${JSON.stringify(CODE)})
  - { id: rest, require: bash }
`

const VERDICTS: Readonly<Record<string, string>> = { ALLOW: 'allow', ESCALATE: 'ask', DENY: 'deny' }

/** Returns the lines that come out differently, with what came out. */
export async function wrongLines(lines: readonly Line[]): Promise<readonly string[]> {
  const rig = await createRig({ policy: POLICY })
  const wrong: string[] = []
  for (const [i, { command, verdict, facts }] of lines.entries()) {
    const is = `${await verdictOn(rig, command, i)} ${factsLine(command)}`.trim()
    const wanted = `${verdict} ${facts}`.trim()
    if (is !== wanted) wrong.push(`${command}\n   wanted ${wanted}\n   is     ${is}`)
  }
  return wrong
}

/** Asks a kernel. The disk of the agent has no links, so every path is real. */
async function verdictOn(rig: Rig, command: string, i: number): Promise<string> {
  const call = rig.call({
    tool: 'bash',
    args: { command },
    session_id: `s${i}`,
    place: PLACE,
    caller: { tenant: 'default', principal: `agent:${i}` },
  })
  const named = pathsNamed(rig.kernel, call)
  const paths = Object.fromEntries(named.map((path) => [path, plainPath(path)]))
  const { decided } = await rig.authorize({ ...call, place: { ...PLACE, paths } })
  return VERDICTS[decided.verdict] ?? decided.verdict
}

function plainPath(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
