// Contents of files are not written into rules or their comments.

import type { EffectClass, Json } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { learn, type Learned } from '../../src/workbench/learn/learn.ts'

function learned(all: readonly Json[], effect: EffectClass = 'write', exact = false): Learned {
  const calls = all.map((args, i) => ({
    receipt: String(i).padStart(64, '0'),
    time: '2026-01-05T09:00:00.000Z',
    session: 's',
    principal: 'agent:one',
    door: 'mcp' as const,
    tool: 'fs/write',
    effect,
    args,
    destinations: [],
    clean: true,
  }))
  return learn(calls, { exact })
}

const HIDDEN = 'quarterly numbers'

describe('a content is kept out of the rule', () => {
  test.each<[string, readonly Json[]]>([
    ['of one call', [{ path: 'a.md', content: HIDDEN }]],
    [
      'of several calls',
      [
        { path: 'a.md', content: HIDDEN },
        { path: 'a.md', content: `${HIDDEN} 2` },
      ],
    ],
    ['in a list', [{ path: 'a.md', edits: [{ old_text: HIDDEN, newText: 'x' }] }]],
    ['by its lines, under any name', [{ path: 'a.md', value: `${HIDDEN}\nsecond line` }]],
    ['of many calls', Array.from({ length: 12 }, (_, i) => ({ content: `${HIDDEN} ${i}` }))],
  ])('%s', (_, all) => {
    const { text, allowed } = learned(all)
    expect(text).not.toContain(HIDDEN)
    expect(allowed).toBe(all.length)
    expect(text).toContain('WIDER')
  })

  test('with `--exact`, which proposes no rule for it', () => {
    const { text, uncovered } = learned([{ content: HIDDEN }, { path: 'a.md' }], 'write', true)
    expect(text).not.toContain(HIDDEN)
    expect(text).toContain('a.md')
    expect(uncovered).toHaveLength(1)
  })
})

test('a value that is executed is listed', () => {
  expect(learned([{ command: 'make\ntest' }]).text).toContain('make')
  expect(learned([{ text: 'make test' }], 'execute').text).toContain('make test')
})
