import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '@tollgate/evidence'
import { IssuerKeys, REFRESH_MS, RETRY_MS, VALID_MS } from '../../src/sign-in/issuer-keys.ts'
import { SignInRefusal } from '../../src/sign-in/refusal.ts'
import {
  createIssuer,
  curveKey,
  documentAt,
  edwardsKey,
  ISSUER,
  jwkOf,
  NOW,
  rsaKey,
  type TestIssuer,
  type TestKey,
} from './issuer.ts'

let first: TestKey
let second: TestKey

beforeAll(() => {
  ;[first, second] = [curveKey('1'), curveKey('2')]
})

interface Rig {
  readonly issuer: TestIssuer
  readonly keys: IssuerKeys
  readonly clock: { time: number }
  /** Whether a key is found, or the kind of the refusal. */
  readonly find: (kid: string | undefined, alg?: 'RS256' | 'ES256') => Promise<string>
}

function createRig(...jwks: readonly JsonObject[]): Rig {
  const issuer = createIssuer(...jwks)
  const clock = { time: NOW }
  const keys = new IssuerKeys({
    issuer: ISSUER,
    fetch: issuer.fetch,
    now: () => clock.time,
    log: () => undefined,
  })
  return {
    ...{ issuer, keys, clock },
    find: (kid, alg = 'ES256') =>
      keys.find({ kid, alg }).then(
        () => 'found',
        (fault: unknown) => (fault instanceof SignInRefusal ? fault.kind : 'thrown'),
      ),
  }
}

function down(): never {
  throw new Error('`https://issuer.example` cannot be reached')
}

const DISCOVERY_AND_KEYS = 2

describe('the keys of the issuer', () => {
  it('are fetched once for many tokens, also at the same time', async () => {
    const { issuer, find } = createRig(jwkOf(first))
    expect(await Promise.all([find('1'), find('1'), find('2')])).toEqual(['found', 'found', 'invalid'])
    expect(await find('1')).toBe('found')
    expect(issuer.fetched).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`])
  })

  it('are fetched again for an unknown key, at most every ten seconds', async () => {
    const { issuer, clock, find } = createRig(jwkOf(first))
    await find('1')
    clock.time += RETRY_MS
    const flood = await Promise.all(Array.from({ length: 1000 }, (_, i) => find(`unknown-${i}`)))
    expect(new Set(flood)).toEqual(new Set(['invalid']))
    for (let i = 0; i < 100; i++) await find(`later-${i}`)
    expect(issuer.fetched).toHaveLength(2 * DISCOVERY_AND_KEYS)
  })

  it('follow a rotation: the new key is found, the removed one is not', async () => {
    const { issuer, keys, clock, find } = createRig(jwkOf(first))
    await find('1')
    const old = await keys.find({ kid: '1', alg: 'ES256' })
    issuer.keys = [jwkOf(second)]
    clock.time += RETRY_MS
    expect(await find('2')).toBe('found')
    expect([await find('1'), keys.has(old.id)]).toEqual(['invalid', false])
  })

  it('follow a key that is replaced under the same name', async () => {
    const { issuer, keys, clock } = createRig(jwkOf(first))
    const old = await keys.find({ kid: '1', alg: 'ES256' })
    issuer.keys = [jwkOf({ ...second, kid: '1' })]
    clock.time += REFRESH_MS + 1
    // The old keys answer while the new ones are fetched.
    expect(keys.has(old.id)).toBe(true)
    await expect.poll(() => keys.has(old.id)).toBe(false)
    expect((await keys.find({ kid: '1', alg: 'ES256' })).id).not.toBe(old.id)
  })

  it('survive an outage for an hour, and not longer', async () => {
    const { issuer, keys, clock, find } = createRig(jwkOf(first))
    const { id } = await keys.find({ kid: '1', alg: 'ES256' })
    issuer.fault = down
    clock.time += VALID_MS
    expect([await find('1'), keys.has(id)]).toEqual(['found', true])
    clock.time += 1
    expect([await find('1'), keys.has(id)]).toEqual(['unavailable', false])
    expect(keys.state).toMatchObject({
      keys: 1,
      fetched: NOW,
      fault: expect.stringContaining('cannot be reached') as unknown,
    })
    issuer.fault = undefined
    clock.time += RETRY_MS
    expect([await find('1'), keys.has(id)]).toEqual(['found', true])
    expect(keys.state.fault).toBeUndefined()
  })

  it('are not asked for more often while the issuer does not answer', async () => {
    const { issuer, clock, find } = createRig(jwkOf(first))
    issuer.fault = down
    for (let i = 0; i < 20; i++) expect(await find('1')).toBe('unavailable')
    expect(issuer.fetched).toHaveLength(1)
    clock.time += RETRY_MS
    await find('1')
    expect(issuer.fetched).toHaveLength(2)
  })

  it('are not valid for longer if the clock is set back', async () => {
    const { issuer, clock, find } = createRig(jwkOf(first))
    await find('1')
    issuer.fault = down
    clock.time -= 86_400_000
    expect(await find('1')).toBe('unavailable')
  })

  it('hold up only the requests that need them while the issuer is slow', async () => {
    const { issuer, keys, clock, find } = createRig(jwkOf(first))
    await find('1')
    let answer: (json: JsonObject) => void = () => undefined
    issuer.fault = () => new Promise((resolve) => (answer = resolve))
    clock.time += REFRESH_MS + 1
    expect(await find('1')).toBe('found')
    issuer.fault = undefined
    answer(documentAt('/openid-configuration', []))
    await expect.poll(() => keys.state.fetched).toBe(clock.time)
  })
})

const REFUSED: readonly (readonly [what: string, answer: (url: string) => JsonObject, why: string])[] = [
  [
    'a discovery document of another issuer',
    (url) => ({ ...documentAt(url, []), issuer: 'https://evil.example' }),
    'another `issuer`',
  ],
  ['no address of keys', () => ({ issuer: ISSUER }), '`jwks_uri`'],
  ['keys without TLS', () => ({ issuer: ISSUER, jwks_uri: 'http://issuer.example/keys' }), '`jwks_uri`'],
  ['keys in a file', () => ({ issuer: ISSUER, jwks_uri: 'file:///etc/passwd' }), '`jwks_uri`'],
  ['no list of keys', (url) => (url.endsWith('/keys') ? {} : documentAt(url, [])), 'no list'],
  ['an empty list', (url) => documentAt(url, []), 'no key for'],
  [
    'too many keys',
    (url) =>
      documentAt(
        url,
        Array.from({ length: 65 }, () => jwkOf(first)),
      ),
    'more than 64',
  ],
  [
    'only a shared secret',
    (url) => documentAt(url, [{ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256', kid: '1' }]),
    'no key for',
  ],
]

describe('a key set', () => {
  it.each(REFUSED)('is refused: %s', async (_, answer, why) => {
    const { issuer, keys, find } = createRig()
    issuer.fault = answer
    expect(await find('1')).toBe('unavailable')
    expect(keys.state.fault).toContain(why)
  })

  it('is used without the keys that are not for signatures', async () => {
    const weak = jwkOf(rsaKey('weak', 'RS256', 1024))
    const broken = { ...jwkOf(first), kid: 'broken', x: 'AAAA' }
    const secret = { ...(second.privateKey.export({ format: 'jwk' }) as JsonObject), kid: 'secret' }
    const others = [
      ...[weak, broken, secret, { ...jwkOf(first), kid: 'encrypting', use: 'enc' }],
      ...[
        { ...jwkOf(first), kid: 'signing', key_ops: ['sign'] },
        { ...jwkOf(first), kid: 7 },
      ],
      ...[jwkOf(first), jwkOf(second, { kid: 'twice' }), jwkOf(first, { kid: 'twice' })],
    ]
    const { keys, find } = createRig(...others)
    expect(await find('1')).toBe('found')
    for (const kid of ['weak', 'broken', 'secret', 'encrypting', 'signing', 'twice']) {
      expect([kid, await find(kid), await find(kid, 'RS256')]).toEqual([kid, 'invalid', 'invalid'])
    }
    expect(keys.state.keys).toBe(3)
  })

  it('serves a token without a `kid` only if one key fits', async () => {
    expect(await createRig(jwkOf(first), jwkOf(edwardsKey('e'))).find(undefined)).toBe('found')
    expect(await createRig(jwkOf(first), jwkOf(second)).find(undefined)).toBe('invalid')
  })
})
