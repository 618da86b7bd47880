// Checks that the configuration and the policy in `docs/llm.md` are valid.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePolicy } from '@tollgate/kernel/policy'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'

const PAGE = readFileSync(new URL('../../../../docs/llm.md', import.meta.url), 'utf8')
const blocks = [...PAGE.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(([, file = '', text = '']) => ({
  file,
  text,
}))
const data = mkdtempSync(join(tmpdir(), 'tollgate-docs-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

it('has a valid configuration', () => {
  const [{ text } = { text: '' }] = blocks.filter(({ file }) => file === 'tollgate.yaml')
  writeFileSync(join(data, 'tollgate.yaml'), `tollgate: 1\nledger: tollgate.local/x\n${text}`)
  expect(Object.keys(readConfig(data).llm)).toEqual(['openai', 'anthropic', 'body'])
})

it('has a valid policy', () => {
  const [{ text } = { text: '' }] = blocks.filter(({ file }) => file === 'policy.yaml')
  const parsed = parsePolicy(text)
  expect(parsed.ok ? parsed.policy.rules.length : parsed.mistakes).toBe(3)
})
