// Minimal stories in which the model was once wrong.

import { expect, it } from 'vitest'
import { Pair } from './model-pair.ts'
import { NO_MODEL_POLICY, type ModelPolicy, type ModelTool } from './model-policy.ts'
import type { CallSpec, Event } from './model-world.ts'

const { none: _, ...NOTHING } = NO_MODEL_POLICY
const ANY_CALLER = { principals: [], sessions: [], doors: [], when: undefined, approvers: [] }
const TOOL: ModelTool = {
  ...{ name: 'mail/send', effect: 'send', returns: ['personal'], cost: undefined },
  ...{ schema: false, offline: false, browser: false, sinks: [], takes: [] },
}
const POLICY: ModelPolicy = {
  ...NOTHING,
  principals: [{ name: 'agent:a', tier: 'admin', key: 0, delegateOnly: false }],
  tools: [TOOL],
  rules: [{ ...ANY_CALLER, id: 'all', action: 'allow', answer: 'approver', tools: ['*'], expires: 900_000 }],
  taint: {
    ...{ deny: [], ask: [], internal: [], follow: 'values', results: {} },
    provenance: { untrusted: 'allow', ordered: 'allow', flagged: 'deny' },
  },
}
const CALL: CallSpec = {
  ...{ tenant: 'default', principal: 'agent:a', session_id: 's1', door: 'mcp', assurance: 'advised' },
  prompting: false,
  ...{ tool: 'mail/send', form: 'fits', n: 0, word: 'sudo', hosts: [], sources: [], answers: [] },
  ...{ context: {}, replaced: {} },
}
const call = (n: number): Event => ({ do: 'call', call: { ...CALL, n }, behind: 0 })
const activate = (policy: number): Event => ({ do: 'activate', policy, tenants: ['default'] })
const APPROVAL: Event = {
  ...{ do: 'answer', tenant: 'default', request: 0, granted: true },
  ...{ approver: 'user:olga', groups: [] },
}

/** The common answers of model and kernel to the calls of a story: verdict, reason, step, rule and risk. */
async function linesOf(
  policies: readonly ModelPolicy[],
  events: readonly Event[],
): Promise<readonly string[]> {
  const quota = { calls: 1000, period: 3_600_000 }
  const pair = await Pair.open({ quota, remembered: 10, salted: false, policies, events })
  const lines: string[] = []
  for (const event of events) {
    const { kernel, model } = await pair.meet(event)
    expect(model).toBe(kernel)
    if (event.do === 'call') lines.push(kernel.split(' ').slice(0, 5).join(' '))
  }
  return lines
}

it('a sink that a person approved is not escalated again', async () => {
  const policy = { ...POLICY, risk: { ...POLICY.risk, threshold: 1_000_000 } }
  const lines = await linesOf(
    [policy],
    [activate(0), ...[0, 1, 2, 3].map(call), APPROVAL, ...[3, 4].map(call)],
  )
  expect(lines.map((line) => line.split(' ')[1])).toEqual([
    ...['RULE_ALLOWED', 'RULE_ALLOWED', 'RULE_ALLOWED'],
    ...['SESSION_RISK_APPROVAL_REQUIRED', 'APPROVAL_GRANTED', 'RULE_ALLOWED'],
  ])
})

it('a call counts again if its tool became a browser tool after the request', async () => {
  const asking = POLICY.rules.map((rule) => ({ ...rule, action: 'require' as const }))
  const policies = [
    { ...POLICY, rules: asking },
    { ...POLICY, rules: asking, tools: [{ ...TOOL, browser: true }] },
  ]
  const asked = 'ESCALATE APPROVAL_REQUIRED policy all 0.0480'
  expect(await linesOf(policies, [activate(0), call(0), call(0)])).toEqual([asked, asked])
  expect(await linesOf(policies, [activate(0), call(0), activate(1), call(0)])).toEqual([
    asked,
    'DENY COGNITIVE_FIREWALL_INVALID_URL browser - 0.0960',
  ])
})
