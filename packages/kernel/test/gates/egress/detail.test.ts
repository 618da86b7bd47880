// The detail of an egress objection names hostnames and nothing else of the arguments.

import { describe, expect, it } from 'vitest'
import { egress } from '../../../src/gates/egress/gate.ts'
import { tryCall } from '../../../src/workbench.ts'
import { ORIGIN, policyOf } from '../../rig.ts'

const POLICY = policyOf(`
tools: { http/post: { effect: send, destinations: [url] } }
rules: [{ id: post, allow: http/post }]
gates: { egress: { allow: [example.com], ask: [partner.test] } }
`)

function detailOf(url: string | readonly string[]): string | undefined {
  const call = {
    caller: { tenant: 'default', principal: 'agent:ci' },
    door: 'http',
    assurance: 'advised',
    tool: 'http/post',
    args: { url },
    session_id: 's1',
  } as const
  const { intent, snapshot } = tryCall(POLICY, call, Date.parse(ORIGIN))
  return egress.check(intent, snapshot)?.detail
}

describe('the detail', () => {
  it('names the hostname that is not allowed, without user, path or query', () => {
    expect(detailOf('https://evil.test/hunter2?key=hunter3')).toBe('`evil.test`: not allowed')
    expect(detailOf('https://bob:hunter2@evil.test/')).not.toContain('hunter2')
  })

  it('names only the hostnames that are the reason', () => {
    expect(detailOf(['https://example.com/', 'https://partner.test/', 'https://evil.test/'])).toBe(
      '`evil.test`: not allowed',
    )
    expect(detailOf(['https://example.com/', 'https://partner.test/x'])).toBe(
      '`partner.test`: needs an approval',
    )
    expect(detailOf('https://example.com/')).toBeUndefined()
  })

  it('names at most three hostnames, each once', () => {
    const urls = ['a', 'a', 'b', 'c', 'd', 'e'].map((name) => `https://${name}.test/`)
    expect(detailOf(urls)).toBe('`a.test`, `b.test`, `c.test` and 2 more: not allowed')
  })

  it('does not repeat a destination that cannot be parsed, or single words', () => {
    for (const url of ['https://exa mple/hunter2', 'hunter2', 'https://', 'hunter2 horse'])
      expect(detailOf(url)).toBe('a destination without a full hostname: not allowed')
  })
})
