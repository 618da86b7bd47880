// Checks `docs/policy.md` against the code: its policies and case files parse, its commands and options exist, its tables are
// complete.

import { readFileSync } from 'node:fs'
import { CONDITION_VARIABLES, parsePolicy, readYaml, REMARK_CODES } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'
import { readCaseFile } from '../../src/workbench/case-file.ts'

const PAGE = readFileSync(new URL('../../../../docs/policy.md', import.meta.url), 'utf8')

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block ?? '',
  )
}

/** A fragment of a policy, completed. */
function whole(block: string): string {
  if (/^tollgate:/m.test(block)) return block
  const rules = /^rules:/m.test(block) ? '' : 'rules: []\n'
  return `tollgate: 1\nname: page\n${rules}${block}`
}

const YAML = blocks('yaml')
const CASES = YAML.filter((block) => /^cases:/m.test(block))
const CONFIGS = YAML.filter((block) => /^(?:keep|retention):/m.test(block))
const POLICIES = YAML.filter((block) => !CASES.includes(block) && !CONFIGS.includes(block))

describe('a block', () => {
  it.each(POLICIES.map((block) => [block.slice(0, 60), block]))(
    '%j is a policy, or a part of one',
    (_, block) => {
      const parsed = parsePolicy(whole(block))
      expect(parsed.ok ? [] : parsed.mistakes).toEqual([])
    },
  )

  it.each(CASES.map((block) => [block.slice(0, 60), block]))('%j is a file of cases', (_, block) => {
    const read = readCaseFile(block)
    expect(read.ok ? [] : read.mistakes).toEqual([])
  })

  it.each(CONFIGS.map((block) => [block.slice(0, 60), block]))(
    '%j is a part of tollgate.yaml',
    (_, block) => {
      expect(readYaml(block).mistakes).toEqual([])
    },
  )

  it('exists for each kind', () => {
    expect([POLICIES.length > 8, CASES.length > 0, CONFIGS.length > 0]).toEqual([true, true, true])
  })
})

const program = await createProgram(() => undefined)
const policy = program.commands.find((command) => command.name() === 'policy')

function named(name: string): typeof policy {
  return policy?.commands.find((command) => command.name() === name)
}

describe('the page', () => {
  it('covers every existing command, and no other', () => {
    const mentioned = new Set([...PAGE.matchAll(/tollgate policy ([a-z]+)/g)].map(([, name]) => name ?? ''))
    const existing = policy?.commands.map((command) => command.name()) ?? []
    expect([...mentioned].sort()).toEqual([...existing].sort())
  })

  it('lists every option of every command, and examples use only these', () => {
    for (const command of policy?.commands ?? []) {
      const missing = command.options.map(({ long }) => long ?? '').filter((long) => !PAGE.includes(long))
      expect(missing, command.name()).toEqual([])
    }
    const lines = [...blocks('sh'), ...blocks('text'), ...blocks('')]
      .join('\n')
      .matchAll(/tollgate policy ([a-z]+)([^\n#|&]*)/g)
    for (const [line, name = '', rest = ''] of lines) {
      const known = named(name)?.options.flatMap(({ long, short }) => [long, short]) ?? []
      const used = [...rest.matchAll(/ (--?[a-z][a-z-]*)/g)].map(([, option]) => option)
      expect(
        used.filter((option) => !known.includes(option)),
        line,
      ).toEqual([])
    }
  })

  it('has every variable of conditions, every code of a remark, and valid links', () => {
    expect(Object.keys(CONDITION_VARIABLES).filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([])
    expect(REMARK_CODES.filter((code) => !PAGE.includes(`\`${code}\``))).toEqual([])
    const headings = [...PAGE.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- ]/gu, '')
        .replaceAll(' ', '-'),
    )
    const anchors = new Set([
      ...headings,
      ...[...PAGE.matchAll(/<a id="([a-z]+)">/g)].map(([, id]) => id ?? ''),
    ])
    const linked = [...PAGE.matchAll(/\]\(#([^)]+)\)/g)].map(([, to]) => to ?? '')
    expect(linked.filter((to) => !anchors.has(to))).toEqual([])
    expect(linked.length).toBeGreaterThan(5)
  })
})
