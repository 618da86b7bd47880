// Activating policies while calls arrive: each call is decided by exactly one policy, the newest.

import { parseReceipt, type Decision, type Receipt } from '@tollgate/evidence'
import { authorize } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { createApiRig } from '../api/rig.ts'
import { createSite } from '../gateway-rig.ts'

/** A policy whose parts all have its number: the rule, the effect class of the tool, and the gate settings. */
function numbered(number: number): Policy {
  const effect = number % 2 === 0 ? 'read' : 'write'
  const parsed = parsePolicy(`
tollgate: 1
name: p${number}
principals: { "agent:*": { tier: standard } }
tools: { "notes/do": { effect: ${effect}, destinations: [to] } }
rules:
  - { id: denied-${number}, deny: "notes/do", when: 'has(args.n) && int(args.n) % 3 == 0' }
  - { id: allowed-${number}, allow: "notes/do", when: 'effect == "${effect}"' }
gates: { egress: { allow: ["host-${number}.example"] } }
`)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  return parsed.policy
}

const POLICIES = Array.from({ length: 25 }, (_, i) => numbered(i))
const CALLERS = 24

describe('under load', () => {
  it('no call is decided by parts of two policies, and none by an outdated one', async () => {
    const site = await createSite({ keep: { calls: 3_600_000 } })
    const gateway = await site.open()
    const { kernel } = gateway
    let over = false
    const call = async (caller: number): Promise<void> => {
      for (let n = 0; !over; n++) {
        await authorize(kernel, {
          caller: { tenant: 'default', principal: `agent:${caller}` },
          door: 'http',
          assurance: 'advised',
          tool: 'notes/do',
          args: { n, to: `https://host-${n % POLICIES.length}.example/` },
        })
      }
    }
    const calling = Array.from({ length: CALLERS }, (_, i) => call(i))
    for (const policy of POLICIES) {
      await activatePolicy(kernel, policy, 'user:test')
      // The answer has arrived, so the next call must use it.
      const { decided } = await authorize(kernel, {
        caller: { tenant: 'default', principal: 'agent:watch' },
        door: 'http',
        assurance: 'advised',
        tool: 'notes/do',
        args: {},
      })
      expect(decided.rule).toBe(`allowed-${policy.name.slice(1)}`)
    }
    over = true
    await Promise.all(calling)
    const decisions = checkOrder(await receiptsOf(gateway.view))
    expect(decisions).toBeGreaterThan(POLICIES.length * 3)
    await gateway.close()
  })

  it('a policy with mistakes changes nothing, even if it is sent often', async () => {
    const rig = await createApiRig()
    const { json: before } = await rig.ask('admin', 'GET', '/v1/policy')
    const size = rig.receipts().length
    const sent = Array.from({ length: 10 }, (_, i) =>
      rig.ask('admin', 'POST', '/v1/policy', { text: `tollgate: 1\nname: bad${i}\nrules: [{}]` }),
    )
    for (const { status, text } of await Promise.all(sent)) {
      expect(status).toBe(422)
      expect(text).toContain('mistakes')
    }
    const { json: after } = await rig.ask('admin', 'GET', '/v1/policy')
    expect(after.hash).toBe(before.hash)
    expect(rig.receipts()).toHaveLength(size)
  })
})

async function receiptsOf(view: {
  size(): Promise<number>
  envelopes(start: number, end: number): Promise<readonly Uint8Array[]>
}): Promise<readonly Receipt[]> {
  const size = await view.size()
  const receipts: Receipt[] = []
  while (receipts.length < size) {
    const page = await view.envelopes(receipts.length, receipts.length + 1000)
    receipts.push(...page.map((envelope) => parseReceipt(envelope).receipt))
  }
  return receipts
}

/** Each decision has the newest policy before it and matches it. Returns the number of decisions. */
function checkOrder(receipts: readonly Receipt[]): number {
  let inForce: Policy | undefined
  let decisions = 0
  for (const receipt of receipts) {
    if (receipt.kind === 'policy') inForce = POLICIES.find(({ hash }) => hash === receipt.policy_hash)
    if (receipt.kind !== 'decision') continue
    decisions++
    checkDecision(receipt, inForce)
  }
  return decisions
}

function checkDecision(decision: Decision, inForce: Policy | undefined): void {
  if (!inForce) {
    expect(decision.reason_code).toBe('NO_POLICY_DEFINED')
    return
  }
  const number = Number(inForce.name.slice(1))
  expect(decision.policy_hash).toBe(inForce.hash)
  expect(decision.effect_class).toBe(number % 2 === 0 ? 'read' : 'write')
  if (decision.rule !== undefined)
    expect(['denied', 'allowed'].map((word) => `${word}-${number}`)).toContain(decision.rule)
}
