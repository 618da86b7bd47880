// The README's commands run and say what it says they do. Needs the build.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const commands = [...text.matchAll(/^node (\S.*?) +# exit (\d)$/gm)].map(([, args = '', exit = '']) => ({
  args,
  exit,
}))

function run(args: string): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, args.split(/ +/), { cwd: root, encoding: 'utf8' })
}

describe('the README', () => {
  it('has commands that say how they end', () => {
    expect(commands.map(({ exit }) => exit)).toEqual(['0', '1', '3'])
  })

  it.each(commands)('node $args ends with $exit', ({ args, exit }) => {
    expect(String(run(args).status)).toBe(exit)
  })

  it('shows what the first of them prints', () => {
    const [, shown] = /```text\n(VERIFIED\n[^]*?)```/.exec(text) ?? []
    expect(run(commands[0]?.args ?? '').stdout).toBe(shown)
  })

  it('stays short', () => {
    for (const name of ['README.md', 'ARCHITECTURE.md']) {
      expect(
        readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8').split('\n').length,
      ).toBeLessThanOrEqual(201)
    }
  })
})

describe('an invariant', () => {
  const architecture = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const [, table = ''] = /## Invariants\n([^]*?)\n## /.exec(architecture) ?? []
  const holders = [...table.matchAll(/^\|.*?\|(.*)\|$/gm)].slice(2).map(([, cell = '']) => cell)

  it('names the tests or vectors that hold it, and they exist', () => {
    expect(holders.length).toBeGreaterThanOrEqual(10)
    for (const cell of holders) {
      const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
      expect(names.length, cell).toBeGreaterThan(0)
      for (const name of names) expect(matches(name), name).not.toEqual([])
    }
  })
})

/** The files that a name of the table stands for; a bare one is a test of `evidence`, and a star is any text. */
function matches(name: string): string[] {
  const path = name.includes('/') ? name : `evidence/test/${name}`
  const at = path.lastIndexOf('/')
  const folder = path
    .slice(0, at)
    .replace(/^(evidence|kernel|gateway|client|console|sentinel)\//, 'packages/$1/')
  const pattern = path.slice(at + 1)
  const wanted = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}`)
  return readdirSync(new URL(`../../${folder}`, import.meta.url)).filter((file) => wanted.test(file))
}
