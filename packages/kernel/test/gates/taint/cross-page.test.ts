// Text that was read on a page of one host, and is written to a page of another.

import type { Json } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import type { Source } from '../../../src/index.ts'
import { createRig, type Rig } from '../../rig.ts'

const ID = 'INV-20931-77'
const BANK = 'https://bank.test/accounts'
const FORUM = 'https://forum.test/new'
const SHOP = 'https://shop.bank.test/cart'

function policy(taint: string): string {
  return `
tools:
  page/read: { effect: read, browser: true, destinations: none }
  page/type: { effect: write, browser: true, destinations: none }
  page/open: { effect: read, browser: true, destinations: none }
  page/script: { effect: execute, browser: true, destinations: none }
rules: [{ id: all, allow: "*" }]
gates:
  egress: { allow: ["bank.test:*", "forum.test", "*.test"] }
  browser: { domains: ["bank.test:*", "forum.test", "shop.bank.test"] }
  taint: ${taint}
`
}

const CALL = {
  caller: { tenant: 'default', principal: 'agent:ci' },
  door: 'mcp',
  assurance: 'enforced',
  session_id: 's1',
} as const

const HASH = 'a'.repeat(64)

/** A browser call on a page. */
function onPage(url: string, destination?: string): object {
  return {
    observation: { url, dom_hash: HASH, visual_text_hash: HASH, sentinel_risk: 0, sentinel_findings: [] },
    planner_ref: 'the plan of this test, which is long enough',
    ...(destination !== undefined && { destination }),
  }
}

/** A session that has read `text` on a page. */
async function reader(
  taint: string,
  url: string,
  text: string,
  sources: readonly Source[] = [],
): Promise<Rig> {
  const rig = await createRig({ policy: policy(taint) })
  await shows(rig, url, { tool: 'page/read', text, sources })
  return rig
}

interface Shown {
  readonly tool: string
  readonly text: string
  readonly sources?: readonly Source[]
}

/** A call of a tool on a page returns `text`. */
async function shows(rig: Rig, url: string, { tool, text, sources = [] }: Shown): Promise<void> {
  const browser = onPage(url)
  const guarded = { acts: 'page' } as const
  const { decided } = await rig.enforce({ ...CALL, tool, args: {}, browser, guarded, sources }, () =>
    Promise.resolve({
      status: 'COMPLETED',
      output: new Uint8Array(),
      content: { text },
      page: { url, findings: [] },
    }),
  )
  expect(decided.verdict).toBe('ALLOW')
}

async function writes(rig: Rig, url: string, args: Json): Promise<string> {
  const guarded = { acts: 'page' } as const
  const { decided } = await rig.authorize({ ...CALL, tool: 'page/type', args, browser: onPage(url), guarded })
  return `${decided.verdict} ${decided.reason}`
}

const ALLOW = 'ALLOW RULE_ALLOWED'
const ASK = 'ESCALATE TAINT_APPROVAL_REQUIRED'

describe('a value that a page showed', () => {
  it.each([
    ['on a page of the same host', BANK, 'https://bank.test/transfer', '{}', ALLOW],
    ['on a page of another host', BANK, FORUM, '{}', ASK],
    ['on a page of a host below it', BANK, SHOP, '{}', ASK],
    ['on a page of another port', BANK, 'https://bank.test:8443/', '{}', ASK],
    ['under `pages: deny`', BANK, FORUM, '{ pages: deny }', 'DENY TAINTED_DATA_EGRESS_DENY'],
    ['under `pages: allow`', BANK, FORUM, '{ pages: allow }', ALLOW],
    ['in a flow of the policy', BANK, FORUM, '{ flows: { bank.test: forum.test } }', ALLOW],
    ['in a flow to a wildcard', BANK, SHOP, '{ flows: { bank.test: "*.bank.test" } }', ALLOW],
    ['in a flow of the other direction', BANK, FORUM, '{ flows: { forum.test: bank.test } }', ASK],
  ])('is written %s', async (_, from, to, taint, expected) => {
    const rig = await reader(taint, from, `Invoice ${ID}`)
    expect(await writes(rig, to, { text: `the number is ${ID}` })).toBe(expected)
  })

  it('stays the user’s if the user said it first', async () => {
    const said: Source = { source_channel: 'USER', text: `Post ${ID} in the forum.` }
    const rig = await reader('{}', BANK, `Invoice ${ID}`, [said])
    expect(await writes(rig, FORUM, { text: ID })).toBe(ALLOW)
  })

  it.each([
    ['both hosts', 'Copy the invoice number from bank.test to forum.test.', ALLOW],
    ['only the host that gets it', 'Post the invoice number at forum.test.', ASK],
    ['only the host that has it', 'Get the invoice number from bank.test.', ASK],
  ])('may go where the user says, with %s named', async (_, text, expected) => {
    const rig = await reader('{}', BANK, `Invoice ${ID}`, [{ source_channel: 'USER', text }])
    expect(await writes(rig, FORUM, { text: ID })).toBe(expected)
  })

  it('may not go to a host only because the agent names it', async () => {
    const rig = await reader('{}', BANK, `Invoice ${ID}`)
    await writes(rig, 'https://bank.test/transfer', { text: 'copy from bank.test to forum.test' })
    expect(await writes(rig, FORUM, { text: ID })).toBe(ASK)
  })

  it('is asked about with the host that would get it', async () => {
    const rig = await reader('{}', BANK, `Invoice ${ID}`)
    await writes(rig, FORUM, { text: ID })
    expect(rig.last('decision').asks).toEqual([expect.stringContaining('page:forum.test')])
  })
})

describe('an address that is opened', () => {
  const opens = async (rig: Rig, destination: string): Promise<string> => {
    const guarded = { acts: 'navigation' } as const
    const browser = onPage(BANK, destination)
    const { decided } = await rig.authorize({
      ...CALL,
      tool: 'page/open',
      args: { url: destination },
      browser,
      guarded,
    })
    return decided.verdict
  }

  it('may be a link of a page', async () => {
    const link = 'https://forum.test/thread/88412-20931'
    expect(await opens(await reader('{}', BANK, `See ${link}`), link)).toBe('ALLOW')
  })

  it('is asked about if it carries a value of another page, however often', async () => {
    const rig = await reader('{}', BANK, `Invoice ${ID}`)
    expect(await opens(rig, `https://forum.test/new?text=${ID}`)).toBe('ESCALATE')
    expect(await opens(rig, `https://forum.test/new?text=${ID}`)).toBe('ESCALATE')
    expect(await opens(rig, `https://bank.test/search?text=${ID}`)).toBe('ALLOW')
  })

  // A page shows what a script has put there, and the text of a page need not be readable in an address.
  const COMPOSED = 'https://forum.test/new?text=SU5WLTIwOTMxLTc3'

  it.each([
    ['that the script of the agent returns', [['page/script', COMPOSED]], 'ESCALATE'],
    [
      'that a page shows after a script',
      [
        ['page/script', 'done'],
        ['page/read', COMPOSED],
      ],
      'ESCALATE',
    ],
    [
      'that a page showed before the first script',
      [
        ['page/read', COMPOSED],
        ['page/script', COMPOSED],
      ],
      'ALLOW',
    ],
  ] as const)('%s is a link or not', async (_, steps, verdict) => {
    const rig = await reader('{}', BANK, `Invoice ${ID}`)
    for (const [tool, text] of steps) await shows(rig, BANK, { tool, text })
    expect(await opens(rig, COMPOSED)).toBe(verdict)
  })

  it('may be one that the user wrote', async () => {
    const said: Source = { source_channel: 'USER', text: `Open ${COMPOSED}` }
    const rig = await reader('{}', BANK, `Invoice ${ID} ${COMPOSED}`, [said])
    expect(await opens(rig, COMPOSED)).toBe('ALLOW')
  })
})

it('a label of a page is not sensitive data for session risk', async () => {
  const rig = await reader('{}', BANK, `Invoice ${ID}`)
  await writes(rig, 'https://bank.test/transfer', { text: ID })
  expect(rig.last('decision').labels).toEqual([expect.stringMatching(/^page-[0-9a-f]{26}$/)])
  expect(rig.last('decision').trajectory_risk_score).toBe('0.0000')
})
