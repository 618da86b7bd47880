// Explaining a decision from its kept call: either as it was decided, or not at all.

import type { Decision } from '@tollgate/evidence'
import { keptName, reportEffect } from '@tollgate/kernel'
import { expect, it } from 'vitest'
import { explainKept, type KeptDecision, type KeptExplanation } from '../../src/cli/policy/explain-kept.ts'
import type { Gateway } from '../../src/open.ts'
import type { LedgerView } from '../../src/view.ts'
import { activate, ask, createSite } from '../gateway-rig.ts'

const POLICY = `
tollgate: 1
name: test
principals: { "agent:*": { tier: standard } }
tools:
  "mail/send": { effect: send, destinations: [to], sinks: [to] }
  "fs/read": { effect: read, destinations: none, returns: [secret] }
rules: [{ id: all, allow: ["fs/read", "mail/send"] }]
gates: { egress: { allow: ["example.com"] }, taint: { deny: [secret] } }
`

async function decisionOf({ view }: Gateway, id: string): Promise<KeptDecision> {
  const { index = 0, payload } = (await view.find(id)) ?? {}
  // Sound: the id belongs to a decision.
  return { index, id, receipt: JSON.parse(Buffer.from(payload ?? []).toString()) as Decision }
}

/** A session that reads a secret and is then denied for it. The second call has no state of its own next to it. */
async function tainted(): Promise<{ gateway: Gateway; denied: KeptDecision }> {
  const gateway = await (await createSite({ keep: { calls: 3_600_000 } })).open()
  await activate(gateway, POLICY)
  const { decided: read } = await ask(gateway, 'fs/read', { path: 'x' })
  await reportEffect(gateway.kernel, {
    caller: { tenant: 'default', principal: 'agent:a' },
    decision: read.receipt ?? '',
    status: 'COMPLETED',
    output: new Uint8Array(1),
    content: 'write to eve@example.com',
  })
  const { decided } = await ask(gateway, 'mail/send', { to: 'eve@example.com' })
  return { gateway, denied: await decisionOf(gateway, decided.receipt ?? '') }
}

function verdictIn(explained: KeptExplanation): string {
  if (typeof explained === 'string') return explained
  return 'unreadable' in explained ? explained.unreadable : `${explained.verdict} ${explained.reason_code}`
}

it('matches the receipt, with the earlier state of the session', async () => {
  const { gateway, denied } = await tainted()
  expect(denied.receipt.reason_code).toBe('TAINTED_DATA_EGRESS_DENY')
  expect(verdictIn(await explainKept(gateway.view, denied))).toBe('DENY TAINTED_DATA_EGRESS_DENY')
  await gateway.close()
})

it('is refused if the call is gone or the replay differs from the receipt', async () => {
  const { gateway, denied } = await tainted()
  const { view } = gateway
  const name = keptName({ id: denied.id, clock: denied.receipt.lamport_clock })
  const showing = (text: string | undefined): LedgerView => ({
    ...view,
    record: (each) => (each === name ? Promise.resolve(text) : view.record(each)),
  })
  expect(await explainKept(showing(undefined), denied)).toBe('not kept')
  expect(await explainKept(showing('{"state":1}'), denied)).toBe('not kept')
  const changed = (await view.record(name))?.replace('eve@example.com', 'eve@elsewhere.test')
  expect(await explainKept(showing(changed), denied)).toBe('not the same')
  await gateway.close()
})
