// A rule that always allows one call: it allows exactly this call, changes no other byte, and is refused where it would do more.

import { describe, expect, it } from 'vitest'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/workbench'
import { STARTER_POLICY } from '../../src/cli/setup/starter.ts'
import { proposeAlways, type AlwaysProposal, type EscalatedCall } from '../../src/workbench/always.ts'
import { callOf } from '../../src/workbench/learn/observed.ts'

const TIME = Date.parse('2026-01-05T09:00:00Z')

const CALL: EscalatedCall = {
  receipt: 'a'.repeat(64),
  time: '2026-01-05T09:00:00.000Z',
  session: 's1',
  principal: 'agent:demo',
  door: 'http',
  tool: 'demo/post_note',
  effect: 'send',
  tenant: 'default',
  args: { url: 'https://partner.example/in', name: 'shopping' },
  steps: ['policy', 'egress'],
}

function policyOf(text: string): Policy {
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error(parsed.mistakes[0]?.message)
  return parsed.policy
}

function proposed(text: string, call: Partial<EscalatedCall> = {}): Extract<AlwaysProposal, { ok: true }> {
  const proposal = proposeAlways(policyOf(text), { ...CALL, ...call }, TIME)
  if (!proposal.ok) throw new Error(proposal.why)
  return proposal
}

function verdictUnder(text: string, call: Partial<EscalatedCall>): string {
  const asked = callOf({ ...CALL, ...call, destinations: [], clean: true })
  return tryCall(policyOf(text), asked, TIME).judgement.verdict
}

const TOOLS = `tools:
  mail/send: { effect: send, destinations: none }
`

describe('a proposed rule', () => {
  const { text, rule, hosts, insertions, loosened, tried } = proposed(STARTER_POLICY)

  it('allows the call, and asks about each other one as before', () => {
    expect(verdictUnder(text, {})).toBe('ALLOW')
    const others: readonly Partial<EscalatedCall>[] = [
      { args: { url: 'https://partner.example/in', name: 'shopping2' } },
      { args: { url: 'https://partner.example/out', name: 'shopping' } },
      { args: { url: 'https://partner.example/in' } },
      { args: { url: 'https://partner.example/in', name: 'shopping', text: '' } },
      { principal: 'agent:demo2' },
      { door: 'mcp' },
      { tenant: 'other' },
    ]
    for (const other of others) expect(verdictUnder(text, other), JSON.stringify(other)).toBe('ESCALATE')
    expect(verdictUnder(text, { args: { url: 'https://other.example/', name: 'shopping' } })).toBe('DENY')
  })

  it('has its place before the rule that asks, and after the rules that deny', () => {
    const ids = policyOf(text).rules.map(({ id }) => id)
    expect(ids).toEqual(['secrets', 'reading', 'posting-inside', rule, 'posting-outside', 'no-deleting'])
  })

  it('changes no other byte', () => {
    expect(hosts).toEqual(['partner.example'])
    const without = insertions
      .toSorted((a, b) => a.at - b.at)
      .reduce((sum, each) => sum.replace(each.text, () => ''), text)
    expect(without).toBe(STARTER_POLICY)
  })

  it('comes with the calls that become allowed, the call itself among them', () => {
    expect(tried).toBeGreaterThan(300)
    expect(loosened.some(({ cases, to }) => cases === 1 && to.rule === rule)).toBe(true)
    expect(loosened.every(({ to }) => to.rule === rule)).toBe(true)
  })
})

const ASK = '  - { id: ask, require: "mail/*" }\n'
const PLAIN = { tool: 'mail/send', args: { to: 'ann' }, steps: ['policy'] }

describe('the place of a rule', () => {
  it.each([
    [
      'a list that is not indented',
      `rules:\n- { id: ask, require: "mail/*" }\n`,
      /^rules:\n(?:# .*\n)+- id: learned/m,
    ],
    [
      'a comment above the rule that asks',
      `rules:\n  - { id: a, deny: x }\n\n  # why\n  # twice\n${ASK}`,
      /- \{ id: a, deny: x \}\n\n(?: {2}# .*\n)*? {2}- id: learned[^]*\n {2}# why\n {2}# twice\n/,
    ],
    [
      'a rule over several lines',
      `rules:\n  - id: ask\n    require: "mail/*"\n`,
      /^ {2}- id: learned[^]*- id: ask/m,
    ],
    ['a file without a line end', `rules:\n${ASK.trimEnd()}`, /id: learned[^]*"mail\/\*" \}$/],
  ])('fits %s', (_, rules, place) => {
    const { text } = proposed(`tollgate: 1\nname: x\n${TOOLS}${rules}`, PLAIN)
    expect(text).toMatch(place)
    expect(verdictUnder(text, PLAIN)).toBe('ALLOW')
    expect(verdictUnder(text, { ...PLAIN, args: { to: 'bob' } })).toBe('ESCALATE')
  })
})

describe('no rule is proposed', () => {
  const with_ = (rules: string, gates = ''): string =>
    `tollgate: 1\nname: x\n${TOOLS}rules:\n${rules}${gates}`
  const web = { tool: 'web/post', args: { url: 'https://a.example/' }, steps: ['policy', 'egress'] }
  it.each<[string, string, Partial<EscalatedCall>, RegExp]>([
    [
      'if a gate asked that depends on the session',
      with_(ASK),
      { ...PLAIN, steps: ['policy', 'taint'] },
      /`taint`/,
    ],
    ['for the content of a file', with_(ASK), { ...PLAIN, args: { content: 'x' } }, /content of a file/],
    [
      'for arguments that fit into no condition',
      with_(ASK),
      { ...PLAIN, args: { to: 'x'.repeat(9000) } },
      /do not fit/,
    ],
    ['if no rule asks any more', with_('  - { id: no, deny: other }\n'), PLAIN, /no rule of the policy/],
    [
      'if the rules are in one line',
      `tollgate: 1\nname: x\n${TOOLS}rules: [{ id: ask, require: "mail/*" }]\n`,
      PLAIN,
      /one rule per line/,
    ],
    [
      'if there is no list of hostnames',
      with_('  - { id: ask, require: "web/*" }\n', 'gates: { egress: { ask: [a.example] } }\n').replace(
        'tools:',
        'tools:\n  web/post: { effect: send, destinations: [url] }',
      ),
      web,
      /gates\.egress\.allow/,
    ],
  ])('%s', (_, text, call, why) => {
    const proposal = proposeAlways(policyOf(text), { ...CALL, ...call }, TIME)
    expect(proposal).toMatchObject({ ok: false, why: expect.stringMatching(why) as string })
  })
})
