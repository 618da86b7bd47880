// Makes the decision of the examples in `docs/formats.md` again, and compares the hashes in its receipt with the texts on the page.

import { canonicalize, sha256Hex, type Decision, type SessionChange } from '@tollgate/evidence'
import { beforeAll, describe, expect, it } from 'vitest'
import { linesIn, valueIn } from '../../../evidence/test/doc-page.ts'
import { setScope } from '../../src/admin.ts'
import { compileSchema } from '../../src/detection.ts'
import { createRig, type Rig } from '../rig.ts'

const POLICY = `tools:
  web/click: { effect: write, browser: true, destinations: none }
rules: [{ id: clicking, allow: web/click }]
gates:
  browser: { domains: [shop.example] }
  egress: { allow: [shop.example] }
  taint: {}
`

const OBSERVATION = {
  url: 'https://shop.example/cart',
  dom_hash: sha256Hex('dom'),
  visual_text_hash: sha256Hex('text'),
  sentinel_risk: 5,
  sentinel_findings: ['NEW_FORM'],
}

const OWNER = { tenant: 'default', principal: 'agent:ci', session: 's1' }

let rig: Rig
let decision: Decision
let opened: SessionChange

beforeAll(async () => {
  rig = await createRig({ policy: POLICY })
  const scope = { effects: ['write'], tools: ['web/*'], sinks: ['shop.example'], by: 'user' } as const
  await setScope(rig.kernel, { ...OWNER, scope, by: 'user:olga', as: 'host' })
  opened = rig.last('session')
  await rig.authorize({
    tool: 'web/click',
    args: { button: 'Next' },
    sources: [{ source_channel: 'USER', text: 'Show the next page.' }],
    browser: {
      observation: OBSERVATION,
      planner_ref: sha256Hex('plan'),
      side_effect: true,
      destination: 'https://shop.example/next',
    },
  })
  decision = rig.last('decision')
})

/** Expects the text of an example to have the hash of the example, and of the receipt. */
function commits(
  example: string,
  [text, hash]: readonly [string, string],
  inReceipt: string | undefined,
): void {
  expect(inReceipt).toBe(valueIn(example, hash))
  expect(sha256Hex(linesIn(example, text))).toBe(inReceipt)
}

describe('the examples of a decision', () => {
  it('have the ladder', () => {
    commits('ladder', ['text', 'ladder'], decision.ladder)
  })

  it('have the evidence', () => {
    commits('evidence', ['text', 'evidence'], decision.evidence)
  })

  it('have the state before and after it', () => {
    commits('state', ['before', 'state_hash'], decision.state_hash)
    commits('state', ['before', 'state_hash'], opened.next_state_hash)
    commits('state', ['after', 'next_state_hash'], decision.next_state_hash)
    commits('state', ['centroid', 'session_centroid_hash'], decision.session_centroid_hash)
    const lines = linesIn('state', 'after').split('\n')
    expect(lines.map((line) => canonicalize(JSON.parse(line)))).toEqual(lines)
  })

  it('have the scope', () => {
    commits('scope', ['text', 'scope_hash'], decision.scope_hash)
    commits('scope', ['text', 'scope_hash'], opened.scope_hash)
  })

  it('have the page', () => {
    commits('page', ['text', 'seen_hash'], decision.browser?.seen_hash)
  })
})

describe('the evidence of a call', () => {
  it('has every optional part at its place', async () => {
    const schema = { type: 'object' }
    const place = { cwd: '/proj', paths: { '/proj/a': null } }
    const demanded = {
      hash: sha256Hex('schema'),
      text: JSON.stringify(schema),
      schema: compileSchema(schema),
    }
    await rig.authorize({
      ...{ tool: 'web/click', principal: 'agent:other', session_id: 's2', approval: 'a1', delegation: 'd1' },
      ...{
        author: 'server:files',
        demanded,
        context: { environment: 'prod', tenant: 'default', workspace: 'w' },
      },
      sources: [{ source_channel: 'TOOL_OUTPUT', text: 'one' }],
      place,
      browser: {},
    })
    const { policy_hash, args_hash, state_hash, ladder, time, evidence } = rig.last('decision')
    const call = ['default', 'agent:ci', 'agent:other', 's2', 'mcp', 'enforced', 'web/click', 'a1']
    const world = ['prod', 'default', 'w', null, policy_hash, args_hash, state_hash, ladder, time]
    const optional = ['d1', demanded.hash, 'author', 'server:files', 'place']
    const sources = [JSON.stringify(place), 'TOOL_OUTPUT', 'one']
    const page = Array.from({ length: 8 }, () => null)
    expect(sha256Hex(JSON.stringify([...call, ...world, ...optional, ...sources, ...page]))).toBe(evidence)
  })
})

describe('the data record of a session', () => {
  it('has the form of the page', () => {
    const record = rig.store.records.get(`provenance\n${Object.values(OWNER).join('\n')}`) ?? ''
    expect(sha256Hex(record)).toBe(decision.provenance_hash)
    expect(record).toMatch(
      /^\{"entries":"(?:[0-9a-f]{12}[sopfr])+","full":false,"key":"[0-9a-f]{64}","labels":\[\]\}$/,
    )
  })
})
