// Checks that `docs/policy.md` has every command, option, variable and remark. `tools/test/documents.test.ts` checks its blocks.

import { readFileSync } from 'node:fs'
import { CONDITION_VARIABLES, REMARK_CODES } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/commands.ts'

const PAGE = readFileSync(new URL('../../../../docs/policy.md', import.meta.url), 'utf8')

const program = await createProgram(() => undefined)
const policy = program.commands.find((command) => command.name() === 'policy')

describe('the page', () => {
  it('covers every existing command, and no other', () => {
    const mentioned = new Set([...PAGE.matchAll(/tollgate policy ([a-z]+)/g)].map(([, name]) => name ?? ''))
    const existing = policy?.commands.map((command) => command.name()) ?? []
    expect([...mentioned].sort()).toEqual([...existing].sort())
  })

  it('lists every option of every command', () => {
    for (const command of policy?.commands ?? []) {
      const missing = command.options.map(({ long }) => long ?? '').filter((long) => !PAGE.includes(long))
      expect(missing, command.name()).toEqual([])
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
