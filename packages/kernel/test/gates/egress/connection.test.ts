// The rule for the connections of a guarded browser, and for the addresses behind its hostnames.

import { describe, expect, it } from 'vitest'
import {
  mayConnect,
  mayHavePage,
  mayReach,
  readHttpUrl,
  type BrowserPage,
  type Target,
} from '../../../src/detection.ts'
import { policyOf } from '../../rig.ts'

const POLICY = policyOf(`
rules: []
gates:
  browser: { domains: [shop.test, '*.shop.test', other.test, '127.0.0.1:8080'] }
  egress:
    allow: [shop.test, cdn.test, 'cdn.test:8443', intranet.test, '*.wide.test', 10.1.0.0/16, '127.0.0.1:8080', dual.test, 'localhost:3000']
    ask: [partner.test, other.test]
    deny: [ads.shop.test, 10.1.9.0/24, 8.8.8.0/24]
`)

function at(url: string): Target {
  const found = readHttpUrl(url)
  if (!found) throw new Error(url)
  return found
}

const page = (url: string, site: string): BrowserPage => ({ at: at(url), site })
const SHOP = page('https://www.shop.test/', 'shop.test')

describe('a connection of a guarded browser', () => {
  it.each<[string, boolean, readonly BrowserPage[], readonly string[]]>([
    ['https://shop.test/', true, [], []],
    ['http://cdn.test/', true, [], []],
    ['https://cdn.test:8443/', true, [], []],
    ['https://cdn.test:8444/', false, [], []],
    ['https://evil.test/', false, [SHOP], []],
    // The site of an open page in `domains`.
    ['https://img.shop.test/', false, [], []],
    ['https://img.shop.test/', true, [SHOP], []],
    ['https://img.shop.test:8443/', false, [SHOP], []],
    ['https://notshop.test/', false, [SHOP], []],
    ['https://ads.shop.test/', false, [SHOP], []],
    ['https://img.foreign.test/', false, [page('https://foreign.test/', 'foreign.test')], []],
    // Without a registrable domain, the host alone.
    ['https://other.test/', true, [page('https://other.test/', '')], []],
    ['https://x.other.test/', false, [page('https://other.test/', '')], []],
    // `ask` needs the approval of exactly this destination.
    ['https://partner.test/', false, [SHOP], []],
    ['https://partner.test/', true, [], ['https://partner.test/']],
    ['https://partner.test:444/', false, [], ['https://partner.test/']],
    ['https://other.test/', false, [], ['https://partner.test/']],
    // An approval does not change the lists.
    ['https://evil.test/', false, [], ['https://evil.test/']],
    ['https://ads.shop.test/', false, [], ['https://ads.shop.test/']],
  ])('to %s is allowed: %s (pages %j, approved %j)', (url, allowed, pages, approved) => {
    expect(mayConnect(POLICY, at(url), { pages, approved: approved.map(at) })).toBe(allowed)
  })

  it('needs no look at the pages if no page in `domains` can be of its site', () => {
    const needs = (url: string): boolean => mayHavePage(POLICY, at(url))
    expect(needs('https://img.shop.test/')).toBe(true)
    expect(needs('https://evil.test/')).toBe(false)
    expect(needs('https://test/')).toBe(false)
    expect(
      mayHavePage(policyOf("rules: []\ngates: { browser: { domains: ['*'] } }"), at('https://evil.test/')),
    ).toBe(true)
  })

  it('goes nowhere without a policy, and not to an unreadable host', () => {
    const empty = policyOf('rules: []')
    expect(mayConnect(empty, at('https://shop.test/'), { pages: [SHOP], approved: [] })).toBe(false)
    const all = policyOf("rules: []\ngates: { egress: { allow: ['*'] }, browser: { domains: ['*'] } }")
    const nowhere = { scheme: 'https', host: '', port: 443 }
    expect(mayConnect(all, nowhere, { pages: [{ at: nowhere, site: '' }], approved: [] })).toBe(false)
  })
})

describe('an address of an allowed host', () => {
  it.each<[string, string, boolean]>([
    ['https://cdn.test/', '93.184.216.34', true],
    ['https://cdn.test/', '2606:2800:220:1::1', true],
    ['https://cdn.test/', '8.8.8.8', false],
    // A hostname that the policy names may be in a private network.
    ['https://intranet.test/', '10.2.3.4', true],
    ['https://intranet.test/', '192.168.1.1', true],
    ['https://intranet.test/', 'fd12::1', true],
    ['https://intranet.test/', '10.1.9.1', false],
    ['https://a.wide.test/', '10.2.3.4', false],
    ['https://a.wide.test/', '10.1.3.4', true],
    // Never this machine, its link or a metadata service, unless the address itself is named.
    ...[
      ...[
        '127.0.0.1',
        '127.9.9.9',
        '0.0.0.0',
        '169.254.169.254',
        '100.100.100.200',
        '168.63.129.16',
        '224.0.0.1',
      ],
      ...['255.255.255.255', '192.0.0.1', '198.18.0.1', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
      ...[
        '::ffff:127.0.0.1',
        '::ffff:7f00:1',
        '64:ff9b::7f00:1',
        '2002:7f00:1::',
        '::127.0.0.1',
        'fd00:ec2::254',
      ],
      ...['fec0::1', '2001:db8::1', '2001::1', '64:ff9b:1::1', 'nonsense', ''],
    ].map((address): [string, string, boolean] => ['https://intranet.test/', address, false]),
    ['http://127.0.0.1:8080/', '127.0.0.1', true],
    ['http://localhost:3000/', '127.0.0.1', true],
    ['http://localhost:3000/', '::1', true],
    ['http://localhost:3000/', '169.254.1.1', false],
    ['http://localhost:3001/', '127.0.0.1', false],
    ['http://app.localhost:3000/', '127.0.0.1', false],
    ['http://127.0.0.1:8080/', '::ffff:127.0.0.1', true],
    ['http://dual.test/', '127.0.0.1', false],
    ['https://cdn.test/', '64:ff9b::5db8:d822', true],
  ])('%s at %s is allowed: %s', (url, address, allowed) => {
    expect(mayReach(POLICY, at(url), address)).toBe(allowed)
  })

  it('is not named by `*`', () => {
    const all = policyOf("rules: []\ngates: { egress: { allow: ['*'] } }")
    expect(mayReach(all, at('https://cdn.test/'), '93.184.216.34')).toBe(true)
    for (const address of ['10.0.0.1', '127.0.0.1', '::1']) {
      expect(mayReach(all, at('https://cdn.test/'), address)).toBe(false)
    }
  })
})
