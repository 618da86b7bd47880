// The hashes by which Codex trusts hooks, in the configuration of a user.

import { expect, test } from 'vitest'
import { edited } from '../../../src/cli/program/unified-diff.ts'
import { trustEdits, untrusted } from '../../../src/cli/setup/clients/toml-trust.ts'

const KEYS = ['/h/hooks.json:pre_tool_use:0:0', '/h/hooks.json:post_tool_use:0:0']
const HOOKS = KEYS.map((key, i) => ({ key, hash: `sha256:${i}` }))

test.each(['', 'model = "x"\n', 'model = "x"', '# c\r\n[features]\r\nhooks = true\r\n', '[hooks]\n\n'])(
  'the hashes are added to %j, and taken out again',
  (text) => {
    const edits = trustEdits(text, HOOKS) ?? []
    const after = edited(text, edits)
    expect(after).toContain(`[hooks.state."${KEYS[1]}"]\ntrusted_hash = "sha256:1"\n`)
    expect(trustEdits(after, HOOKS)).toEqual([])
    const left = untrusted(after, KEYS)
    expect(left.replace(/\n$/, '')).toBe(text.replace(/\n$/, ''))
  },
)

test('a hash that differs is replaced in its place', () => {
  const text = `[hooks.state."${KEYS[0]}"]\nenabled = true\ntrusted_hash = "sha256:old" # mine\n\n[z]\na = 1\n`
  const after = edited(text, trustEdits(text, HOOKS.slice(0, 1)) ?? [])
  expect(after).toBe(text.replace('sha256:old', 'sha256:0'))
})

test('tables that cannot get another member are left to the user', () => {
  expect(trustEdits(`[hooks.state."${KEYS[0]}"]\nenabled = true\n`, HOOKS)).toBeUndefined()
  expect(() => trustEdits('hooks = 1\n', HOOKS)).toThrow(/two values/)
})
