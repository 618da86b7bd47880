// All techniques by which a page sends requests, in a guarded Chromium.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { activatePolicy, setFreeze } from '@tollgate/kernel/admin'
import { findChromium, startChromium } from '../../src/browser/chromium.ts'
import { GOOD, openTestTab, startCounter, startRig, tryTechnique, type EgressRig } from './egress-rig.ts'
import { policyOf } from '../../../kernel/test/rig.ts'
import { tlsFiles } from '../serve/serve-rig.ts'
import { COMMON, RARE } from './egress-techniques.ts'

const path = findChromium()

describe.skipIf(path === undefined)('a guarded browser', () => {
  let rig: EgressRig
  beforeAll(async () => {
    rig = await startRig(path ?? '')
  })
  afterAll(async () => {
    expect({ connections: rig.evil.connections, paths: rig.evil.paths }).toEqual({
      connections: 0,
      paths: [],
    })
    await rig.close()
  })

  test.each([...COMMON, ...RARE].map((each) => [each.name, each] as const))(
    'sends nothing by %s',
    async (_, technique) => {
      await tryTechnique(rig, technique)
    },
  )

  test('loads pages with TLS, and follows no redirect from them to another host', async () => {
    const { cert, key } = tlsFiles()
    const secure = await startCounter(GOOD, { cert: readFileSync(cert), key: readFileSync(key) })
    const { kernel } = rig.rig
    const before = kernel.policies.get('default')
    const allowed = `[ 'secure.test:${secure.port}', '127.0.0.1:${secure.port}' ]`
    await activatePolicy(kernel, policyOf(`rules: []\ngates: { egress: { allow: ${allowed} } }`), 'user:olga')
    const origin = `https://secure.test:${secure.port}`
    expect(await rig.tab.open(`${origin}/page`)).toBe('')
    expect(await rig.tab.evaluate(`fetch('/other').then((r) => r.status)`)).toBe(200)
    const evil = encodeURIComponent(`https://evil.test:${rig.evil.port}/`)
    expect(await rig.tab.evaluate(`fetch('/redirect?to=${evil}').then(String, () => 'failed')`)).toBe(
      'failed',
    )
    expect(
      await rig.tab.evaluate(`new Promise((done) => {
      const socket = new WebSocket('wss://evil.test:${rig.evil.port}/')
      socket.onerror = () => done('failed')
    })`),
    ).toBe('failed')
    expect(await rig.tab.open(`${origin}/redirect?to=${evil}`)).toContain('net::ERR_TUNNEL')
    if (before) await activatePolicy(kernel, before, 'user:olga')
    await secure.close()
  })

  const streamed = async (): Promise<() => Promise<unknown>> => {
    await rig.tab.open(`${rig.origin}/page`)
    await rig.tab.evaluate(`new Promise((done) => {
      const stream = new EventSource('/stream')
      stream.onopen = done
      window.lost = new Promise((gone) => (stream.onerror = () => (stream.close(), gone('lost'))))
    }).then(String)`)
    return () => rig.tab.evaluate('window.lost')
  }
  const frozen = (scope: 'all' | 'principal', on: boolean): Promise<unknown> =>
    setFreeze(rig.rig.kernel, {
      scope,
      ...(scope === 'principal' && { target: 'agent:ci' }),
      frozen: on,
      by: 'user:olga',
    })

  test.each(['all', 'principal'] as const)('loses all connections when %s is frozen', async (scope) => {
    const lost = await streamed()
    const before = rig.good.paths.length
    await frozen(scope, true)
    expect(await lost()).toBe('lost')
    expect(await rig.tab.open(`${rig.origin}/page`)).toContain('net::ERR_')
    expect(rig.good.paths).toHaveLength(before)
    await frozen(scope, false)
    expect(await rig.tab.open(`${rig.origin}/page`)).toBe('')
  })

  test('of another egress, or without one that guards it, reaches nothing', async () => {
    const { good, egress, origin } = rig
    const other = await startChromium(path ?? '', egress.flags)
    const tab = await openTestTab(other.cdp)
    const before = good.connections
    expect(await tab.open(`${origin}/page`)).toContain('net::ERR_')
    expect(good.connections).toBe(before)
    await other.close()
  })

  test('has no connection after the ledger failed', async () => {
    rig.rig.kernel.ledger.poison(new Error('disk'))
    expect(await rig.tab.open(`${rig.origin}/page`)).toContain('net::ERR_')
  })

  test('has no connection after its egress was closed', async () => {
    await rig.egress.close()
    expect(await rig.tab.open(`${rig.origin}/page`)).toContain('net::ERR_')
  })
})
