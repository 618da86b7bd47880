// A tool that no policy can allow: its denial proves that a hook asks.

import type { Json } from '@tollgate/evidence'
import { expect, test } from 'vitest'
import { createApiRig } from '../api/rig.ts'

const ALL = `
tollgate: 1
name: all
tools: { "*": { effect: read } }
rules: [{ id: all, allow: "*" }]
gates: { egress: { allow: ["*"] } }
`

const CLAUDE = {
  session_id: 's',
  tool_name: 'tollgate_canary',
  tool_input: { command: 'x' },
  tool_use_id: 't',
}
const PAYLOADS: readonly (readonly [client: string, query: string, body: Json])[] = [
  ['claude-code', '', { ...CLAUDE, hook_event_name: 'PreToolUse' }],
  ['codex', '?event=PreToolUse', { ...CLAUDE, hook_event_name: 'PreToolUse' }],
  ['cursor', '', { ...CLAUDE, hook_event_name: 'preToolUse' }],
  ['copilot', '?event=preToolUse', { sessionId: 's', toolName: 'tollgate_canary', toolArgs: {} }],
  [
    'opencode',
    '',
    { event: 'tool.execute.before', session: 's', call: 't', tool: 'tollgate_canary', args: {} },
  ],
]

test.each(PAYLOADS)(
  '%s: the canary is denied with its receipt, also under a policy that allows everything',
  async (client, query, body) => {
    const rig = await createApiRig({ policy: ALL })
    const order = { scope: 'door', target: 'hook', seconds: 600 }
    expect((await rig.ask('admin', 'POST', '/v1/observe', order)).status).toBe(200)
    const { status, json } = await rig.ask('agent', 'POST', `/v1/hooks/${client}${query}`, body)
    expect(status).toBe(200)
    const decisions = rig.receipts().filter((receipt) => receipt.kind === 'decision')
    expect(decisions).toMatchObject([{ tool: 'builtin/canary', verdict: 'DENY', rung: 'schema' }])
    expect(JSON.stringify(json)).toMatch(/"deny".*Receipt: [0-9a-f]{64}/)
  },
)
