// The smallest stories in which the model was once wrong.

import { expect, it } from 'vitest'
import { Pair } from './model-pair.ts'
import { NO_MODEL_POLICY, type ModelPolicy, type ModelTool } from './model-policy.ts'
import type { CallSpec, Event } from './model-world.ts'

const { none: _, ...NOTHING } = NO_MODEL_POLICY
const EVERYBODY = { principals: [], sessions: [], doors: [], when: undefined, approvers: [] }
const TOOL: ModelTool = {
  ...{ name: 'mail/send', effect: 'send', returns: ['personal'], cost: undefined },
  ...{ schema: false, offline: false, browser: false, sinks: [], takes: [] },
}
const POLICY: ModelPolicy = {
  ...NOTHING,
  principals: [{ name: 'agent:a', tier: 'admin', key: 0, delegateOnly: false }],
  tools: [TOOL],
  rules: [{ ...EVERYBODY, id: 'all', action: 'allow', tools: ['*'], expires: 900_000 }],
  taint: {
    ...{ deny: [], ask: [], internal: [], follow: 'values', results: {} },
    provenance: { untrusted: 'allow', ordered: 'allow', flagged: 'deny' },
  },
}
const CALL: CallSpec = {
  ...{ tenant: 'default', principal: 'agent:a', session_id: 's1', door: 'mcp', assurance: 'advised' },
  ...{ tool: 'mail/send', form: 'fits', n: 0, word: 'sudo', hosts: [], sources: [], answers: [] },
  ...{ context: {}, replaced: {} },
}
const call = (n: number): Event => ({ do: 'call', call: { ...CALL, n }, behind: 0 })
const activate = (policy: number): Event => ({ do: 'activate', policy, tenants: ['default'] })
const YES: Event = {
  ...{ do: 'answer', tenant: 'default', request: 0, granted: true },
  ...{ approver: 'user:olga', groups: [] },
}

/** What model and kernel both say to the calls of a story: verdict, reason, rung, rule and risk. */
async function told(policies: readonly ModelPolicy[], events: readonly Event[]): Promise<readonly string[]> {
  const quota = { calls: 1000, period: 3_600_000 }
  const pair = await Pair.open({ quota, remembered: 10, salted: false, policies, events })
  const said: string[] = []
  for (const event of events) {
    const { kernel, model } = await pair.meet(event)
    expect(model).toBe(kernel)
    if (event.do === 'call') said.push(kernel.split(' ').slice(0, 5).join(' '))
  }
  return said
}

it('a sink that a person has agreed to is not asked about again', async () => {
  const policy = { ...POLICY, risk: { ...POLICY.risk, threshold: 1_000_000 } }
  const said = await told([policy], [activate(0), ...[0, 1, 2, 3].map(call), YES, ...[3, 4].map(call)])
  expect(said.map((line) => line.split(' ')[1])).toEqual([
    ...['RULE_ALLOWED', 'RULE_ALLOWED', 'RULE_ALLOWED'],
    ...['SESSION_RISK_APPROVAL_REQUIRED', 'APPROVAL_GRANTED', 'RULE_ALLOWED'],
  ])
})

it('a call counts anew if its tool is a browser since a person was asked', async () => {
  const asking = POLICY.rules.map((rule) => ({ ...rule, action: 'require' as const }))
  const policies = [
    { ...POLICY, rules: asking },
    { ...POLICY, rules: asking, tools: [{ ...TOOL, browser: true }] },
  ]
  const asked = 'ESCALATE APPROVAL_REQUIRED policy all 0.0480'
  expect(await told(policies, [activate(0), call(0), call(0)])).toEqual([asked, asked])
  expect(await told(policies, [activate(0), call(0), activate(1), call(0)])).toEqual([
    asked,
    'DENY COGNITIVE_FIREWALL_INVALID_URL browser - 0.0960',
  ])
})
