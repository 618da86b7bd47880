// Browser calls of the client, against the real gateway: the page, the plan, and an observation with a token of its own.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '@tollgate/evidence'
import { createClient, type Client, type PageObservation, type ToolCall } from '../src/index.ts'
import { startGateway, type RealGateway } from './gateway.ts'

const POLICY = `tollgate: 1
name: pages
principals: { 'agent:demo': { tier: standard } }
tools:
  'browser/click': { effect: write, browser: true }
  'browser/read': { effect: read, browser: true }
rules: [{ id: pages, allow: 'browser/*' }]
gates:
  browser: { domains: [shop.example], findings: { VISIBLE_INSTRUCTION: record, '*': escalate } }
  egress: { allow: [shop.example] }
`
const PAGE: PageObservation = {
  url: 'https://shop.example/cart',
  dom_hash: 'a'.repeat(64),
  visual_text_hash: 'b'.repeat(64),
  sentinel_risk: 12,
  sentinel_findings: [],
}
const PLAN = `sha256:${'c'.repeat(64)}`
const CLICK: ToolCall = { tool: 'browser/click', arguments: { locator: '#buy' } }

let gateway: RealGateway
let agent: Client
let admin: Client
let sentinel: Client

beforeAll(async () => {
  gateway = await startGateway()
  const { url, adminToken } = gateway
  admin = createClient({ url, token: adminToken })
  agent = createClient({ url, token: gateway.agentToken, session: 'pages' })
  sentinel = createClient({ url, token: await gateway.issue('sentinel', 'sentinel:one') })
  await admin.policy.activate(POLICY)
})
afterAll(() => gateway.stop())

async function pageOf(receipt: string | null): Promise<unknown> {
  const { receipt: found } = await agent.receipts.get(receipt ?? '')
  return found.kind === 'decision' ? [found.door, found.browser] : undefined
}

describe('a browser call', () => {
  it('is decided as one, and its receipt has the page and the plan', async () => {
    const { verdict, receipt } = await agent.evaluate({ ...CLICK, observation: PAGE, planner_ref: PLAN })
    expect(verdict).toBe('ALLOW')
    const { url: _, ...seen } = PAGE
    expect(await pageOf(receipt)).toMatchObject([
      'browser',
      { ...seen, planner_ref: PLAN, page_host: 'shop.example', destination_host: 'shop.example' },
    ])
  })

  const denied: readonly (readonly [what: string, part: Partial<ToolCall>, reason: string])[] = [
    ['no page', { planner_ref: PLAN }, 'COGNITIVE_FIREWALL_INVALID_URL'],
    [
      'a page of another site',
      { observation: { ...PAGE, url: 'https://evil.example/' } },
      'COGNITIVE_FIREWALL_DOMAIN_DENY',
    ],
    [
      'another destination',
      { observation: PAGE, destination: 'https://evil.example/' },
      'COGNITIVE_FIREWALL_DOMAIN_DENY',
    ],
    ['no risk', { observation: { url: PAGE.url } }, 'COGNITIVE_FIREWALL_SENTINEL_DENY'],
    ['a great risk', { observation: { ...PAGE, sentinel_risk: 95 } }, 'COGNITIVE_FIREWALL_SENTINEL_DENY'],
    ['no plan', { observation: PAGE }, 'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED'],
    ['a blank plan', { observation: PAGE, planner_ref: ' ' }, 'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED'],
    [
      'a used observation',
      { observation: PAGE, observation_id: 'd'.repeat(64), planner_ref: PLAN },
      'COGNITIVE_FIREWALL_SENTINEL_DENY',
    ],
  ]
  it.each(denied)('is denied with %s', async (_, part, reason_code) => {
    expect(await agent.evaluate({ ...CLICK, ...part })).toMatchObject({ verdict: 'DENY', reason_code })
  })

  it('of a read needs only the page, and becomes stricter with `side_effect`', async () => {
    const read = { ...CLICK, tool: 'browser/read', observation: { url: PAGE.url } }
    expect(await agent.evaluate(read)).toMatchObject({ verdict: 'ALLOW' })
    expect(await agent.evaluate({ ...read, side_effect: true })).toMatchObject({ verdict: 'DENY' })
  })

  it('without a member about the page goes through the door for HTTP', async () => {
    const { receipt, verdict } = await agent.evaluate(CLICK)
    expect([verdict, await pageOf(receipt)]).toMatchObject(['DENY', ['http', {}]])
  })

  it('records the hash of a plan that is a text', async () => {
    const { receipt } = await agent.evaluate({ ...CLICK, observation: PAGE, planner_ref: 'buy the book' })
    expect(await pageOf(receipt)).toMatchObject([
      'browser',
      { planner_ref: `sha256:${sha256Hex('buy the book')}` },
    ])
  })
})

describe('a guarded browser call', () => {
  it('sends the page and the plan of its options', async () => {
    const click = agent.guard('browser/click', () => 'clicked')
    expect(await click({ locator: '#buy' }, { observation: PAGE, planner_ref: PLAN })).toBe('clicked')
    await expect(click({ locator: '#buy' }, { observation: PAGE })).rejects.toMatchObject({
      reason_code: 'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED',
    })
  })

  it('observes the page again after a person has answered', async () => {
    const seen: string[] = []
    const click = agent.guard('browser/click', () => void seen.push('clicked'), {
      approval: { wait: 20_000, onWaiting: ({ id }) => void admin.approvals.approve(id) },
    })
    const observe = () => {
      seen.push('observed')
      return { observation: { ...PAGE, sentinel_findings: ['OTHER_NAME'] } }
    }
    await click({ locator: '#ask' }, { observe, planner_ref: PLAN })
    expect(seen).toEqual(['observed', 'observed', 'clicked'])
  })

  it('does not run if the page of the approval is another one', async () => {
    let asked = 0
    const click = agent.guard('browser/click', () => expect.fail('it ran'), {
      approval: { wait: 20_000, onWaiting: ({ id }) => void admin.approvals.approve(id) },
    })
    const observe = () => ({
      observation: { ...PAGE, dom_hash: sha256Hex(String(asked++)), sentinel_findings: ['OTHER_NAME'] },
    })
    const waited = click({ locator: '#swap' }, { observe, planner_ref: PLAN })
    await expect(waited).rejects.toMatchObject({ reason_code: 'APPROVAL_INVALID' })
    expect(asked).toBe(2)
  })

  it('does not run if the page cannot be observed', async () => {
    const click = agent.guard('browser/click', () => expect.fail('it ran'))
    const observe = () => Promise.reject(new Error('the page is gone'))
    await expect(click({}, { observe, planner_ref: PLAN })).rejects.toThrow('the page is gone')
  })

  it('is proved with its page: an ALLOW for another page does not count', async () => {
    const { url, agentToken: token, trust } = gateway
    const call = { observation: PAGE, planner_ref: PLAN }
    const proved = createClient({ url, token }).guard('browser/click', () => 'clicked', { trust })
    expect(await proved({ locator: '#buy' }, call)).toBe('clicked')
    // Between client and gateway, the answer to a request about another page.
    const swapped = createClient({
      ...{ url, token },
      fetch: (to, init) =>
        fetch(to, {
          ...init,
          body: (init.body as string | undefined)?.replace(/a{64}/, 'e'.repeat(64)) ?? null,
        }),
    }).guard('browser/click', () => expect.fail('it ran'), { trust })
    await expect(swapped({ locator: '#buy' }, call)).rejects.toMatchObject({ code: 'receipt-unproven' })
  })
})

describe('an observation with a token of its own', () => {
  it('counts for one call on its page', async () => {
    const observation_id = await sentinel.postObservation(PAGE)
    const call = { ...CLICK, observation_id, observation: { url: PAGE.url }, planner_ref: PLAN }
    const { verdict, receipt } = await agent.evaluate(call)
    expect([verdict, await pageOf(receipt)]).toMatchObject(['ALLOW', ['browser', { sentinel_risk: 12 }]])
    expect(await agent.evaluate(call)).toMatchObject({ reason_code: 'COGNITIVE_FIREWALL_SENTINEL_DENY' })
  })

  it('cannot be posted by an agent', async () => {
    await expect(agent.postObservation(PAGE)).rejects.toMatchObject({ code: 'role-forbidden' })
  })
})
