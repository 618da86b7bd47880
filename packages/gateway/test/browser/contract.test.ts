// The contracts of docs/browser-guard.md, sent to the API as the page shows them: each code of the order of denial has a body that
// gets it, and a body that differs from it only in what the page says.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parseJson, sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { findRoute } from '../../src/api/routes.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'

const PAGE = readFileSync(new URL('../../../../docs/browser-guard.md', import.meta.url), 'utf8')

const POLICY = `
tollgate: 1
name: contract
tools:
  browser/click: { effect: write, browser: true }
rules: [{ id: clicks, allow: browser/* }]
gates:
  browser: { domains: [shop.example.com], max-sentinel-risk: 70 }
  egress: { allow: [shop.example.com] }
`

/** The bodies that the page shows, with digits for its dots. */
function bodies(): readonly JsonObject[] {
  return [...PAGE.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, text = '']) => {
    const value = parseJson(text.replaceAll(/…[^"]*…/g, '0'.repeat(64)))
    // Sound: a test of the documents checks that these are bodies.
    return value as JsonObject
  })
}

/** The body of a call with its own observation. */
function example(): JsonObject & { readonly observation: JsonObject } {
  const found = bodies().find((body) => 'destination' in body)
  if (!found) throw new Error('the page shows no body')
  return found as JsonObject & { readonly observation: JsonObject }
}

async function evaluated(rig: ApiRig, body: Json): Promise<string> {
  const { json } = await rig.ask('agent', 'POST', '/v1/browser/evaluate', body)
  return `${String(json.verdict)} ${String(json.reason_code)}`
}

describe('the contract of a browser program', () => {
  it('is answered with ALLOW as the page shows it', async () => {
    const rig = await createApiRig({ policy: POLICY })
    expect(await evaluated(rig, example())).toBe('ALLOW RULE_ALLOWED')
  })

  it('needs an observation by its own token, if the page shows one', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const body = bodies().find((each) => 'observation_id' in each)
    const { observation } = example()
    const posted = await rig.ask('sentinel', 'POST', '/v1/browser/observations', observation)
    expect(await evaluated(rig, { ...body, observation_id: String(posted.json.id) })).toBe(
      'ALLOW RULE_ALLOWED',
    )
    expect(await evaluated(rig, { ...body })).toBe('DENY COGNITIVE_FIREWALL_SENTINEL_DENY')
  })

  const { observation, planner_ref, ...rest } = example()
  it.each<readonly [string, string, JsonObject]>([
    ['INVALID_URL', 'an address with credentials', { destination: 'https://a@shop.example.com/' }],
    ['INVALID_URL', 'another scheme', { observation: { ...observation, url: 'file:///etc/passwd' } }],
    ['DOMAIN_DENY', 'another page', { observation: { ...observation, url: 'https://evil.test/' } }],
    ['DOMAIN_DENY', 'another destination', { destination: 'https://evil.test/' }],
    ['SENTINEL_DENY', 'a higher risk', { observation: { ...observation, sentinel_risk: 71 } }],
    ['SENTINEL_DENY', 'no risk', { observation: without(observation, 'sentinel_risk') }],
    ['SENTINEL_DENY', 'no hash', { observation: without(observation, 'dom_hash') }],
    ['PLANNER_REF_REQUIRED', 'a blank plan', { planner_ref: ' ' }],
  ])('gets `COGNITIVE_FIREWALL_%s` for %s', async (code, _, change) => {
    const rig = await createApiRig({ policy: POLICY })
    const body = { ...rest, observation, planner_ref: planner_ref ?? '', ...change }
    expect(await evaluated(rig, body)).toBe(`DENY COGNITIVE_FIREWALL_${code}`)
  })

  it('has a planner reference in its receipt only as a digest', async () => {
    const rig = await createApiRig({ policy: POLICY })
    await evaluated(rig, { ...rest, observation, planner_ref: 'first buy, then pay' })
    const receipts = JSON.stringify(rig.store.entries.map(({ receipt }) => receipt))
    expect(receipts).toContain(`sha256:${sha256Hex('first buy, then pay')}`)
    expect(receipts).not.toContain('first buy')
  })
})

function without(from: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([each]) => each !== name))
}

describe('the table of the page', () => {
  const rows = [...PAGE.matchAll(/^\|.*\|$/gm)]
    .map(([row]) => row)
    .filter((row) => row.includes('`npm run test:'))

  it('has files and tests that exist', () => {
    expect(rows).toHaveLength(5)
    for (const row of rows) {
      const [folder] = /packages\/[^`]+/.exec(row) ?? []
      expect(existsSync(new URL(`../../../../${folder ?? ''}`, import.meta.url)), row).toBe(true)
      const [, kind, path = ''] = /`npm run test:(unit|compat) -- ([^`]+)`/.exec(row) ?? []
      const ending = kind === 'compat' ? '.compat.ts' : '.test.ts'
      const all = readdirSync(new URL('../../..', import.meta.url), { recursive: true, encoding: 'utf8' })
      const found = all.filter((file) => `packages/${file}`.includes(path) && file.endsWith(ending))
      expect(found, row).not.toEqual([])
    }
  })

  it('has routes of the API', () => {
    const routes = rows.flatMap((row) => [...row.matchAll(/`(GET|POST) ([^`]+)`/g)])
    expect(routes).toHaveLength(2)
    for (const [, method = '', path = ''] of routes) expect(() => findRoute(method, path)).not.toThrow()
  })
})
