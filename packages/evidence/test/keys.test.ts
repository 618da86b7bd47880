import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, fromHex, toBase64, toHex, utf8 } from '../src/bytes.ts'
import { nodeEd25519, webEd25519 } from '../src/ed25519.ts'
import { sha256, sha256Hex } from '../src/hash.ts'
import { nodeCrypto, webCrypto, type NodeCrypto, type WebCrypto } from '../src/host.ts'
import { importPublicKey, importSigningKey, verifySignature, type PublicKey } from '../src/keys.ts'
import { isFullOrderPoint, isReducedScalar } from '../src/curve.ts'
import { loadPortable } from './bytes-portable.ts'
import { add, bytesOf, decodePoint, encodePoint, L, littleEndian, signWithR, times } from './keys-curve.ts'
import { RFC8032 } from './keys-rfc8032.ts'
import { outcomeOf, outcomeOfAsync, seedOf, signingKey } from './samples.ts'
import { runs } from './runs.ts'

const portable = await loadPortable()
const paths = [
  { path: 'Node', importPublicKey, importSigningKey, verifySignature },
  { path: 'WebCrypto', ...portable },
]

/** Expects the public key to be refused with this code, as bytes and as base64. */
function refuses(code: string, key: Uint8Array): void {
  expect(
    outcomeOf(() => importPublicKey(key)),
    toHex(key),
  ).toBe(code)
  expect(
    outcomeOf(() => importPublicKey(toBase64(key))),
    toHex(key),
  ).toBe(code)
}

function bytes(hex: string): Uint8Array {
  const value = fromHex(hex)
  if (!value) throw new TypeError('not hexadecimal')
  return value
}

describe.each(paths)('RFC 8032, 7.1, on $path', (path) => {
  it.each(RFC8032)('signs and verifies $name', async ({ seed, key, message, signature }) => {
    const signing = await path.importSigningKey(bytes(seed))
    expect(toHex(signing.publicKey.bytes)).toBe(key)
    expect(toHex(await signing.sign(bytes(message)))).toBe(signature)
    const known = path.importPublicKey(bytes(key))
    expect(await path.verifySignature(known, bytes(message), bytes(signature))).toBe(true)
    expect(await path.verifySignature(known, concat(bytes(message), bytes('00')), bytes(signature))).toBe(
      false,
    )
  })
})

describe('public keys', () => {
  it('are the same from bytes and from base64', async () => {
    const { publicKey } = await signingKey()
    const again = importPublicKey(toBase64(publicKey.bytes))
    expect(toHex(again.bytes)).toBe(toHex(publicKey.bytes))
    expect(again.id).toBe(publicKey.id)
  })

  it('have the SHA-256 of their bytes as their id', async () => {
    const { publicKey } = await signingKey()
    expect(publicKey.id).toBe(sha256Hex(publicKey.bytes))
    expect(Object.isFrozen(publicKey)).toBe(true)
  })

  it('are 32 bytes', () => {
    for (const length of [0, 31, 33, 64])
      expect(outcomeOf(() => importPublicKey(new Uint8Array(length).fill(9)))).toBe('KEY_MALFORMED')
  })

  it('keep a copy of the bytes they were made from', async () => {
    const original = (await signingKey()).publicKey.bytes.slice()
    const given = Uint8Array.from(original)
    const key = importPublicKey(given)
    given.fill(0)
    expect(toHex(key.bytes)).toBe(toHex(original))
  })

  // `Buffer.slice`, unlike `Uint8Array.slice`, does not copy.
  it('keep a copy of the bytes they were made from, also of a Buffer', async () => {
    const original = (await signingKey()).publicKey.bytes.slice()
    const given = Buffer.from(original)
    const key = importPublicKey(given)
    given.fill(0)
    expect(toHex(key.bytes)).toBe(toHex(original))
  })

  it('are refused with KEY_MALFORMED if they are not the base64 of 32 bytes', () => {
    for (const text of ['', 'AAAA', 'not base64', toBase64(new Uint8Array(31))])
      expect(outcomeOf(() => importPublicKey(text))).toBe('KEY_MALFORMED')
  })

  it('are refused if they are not canonical base64', async () => {
    const text = toBase64((await signingKey()).publicKey.bytes)
    for (const other of [
      text.slice(0, -1),
      `${text}\n`,
      ` ${text}`,
      text.replace('=', ''),
      `${text.slice(0, -2)}~=`,
    ])
      expect(outcomeOf(() => importPublicKey(other))).toBe('KEY_MALFORMED')
  })
})

// Every point of order 1, 2, 4 and 8, in its canonical encoding.
const TORSION = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
].map(bytes)

describe('weak public keys', () => {
  it('are refused if they have small order', () => {
    for (const point of TORSION) {
      expect(times(8n, decodePoint(point))).toEqual({ x: 0n, y: 1n })
      refuses('KEY_WEAK', point)
    }
  })

  it('are refused if they have small order in another encoding', () => {
    const others = [
      '0100000000000000000000000000000000000000000000000000000000000080',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
      'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    ]
    for (const point of others) refuses('KEY_WEAK', bytes(point))
  })

  it('are refused if they have mixed order: a good key plus a point of small order', async () => {
    const good = decodePoint((await signingKey()).publicKey.bytes)
    for (const torsion of TORSION.slice(1).map(decodePoint)) {
      const mixed = add(good, torsion)
      expect(times(L, mixed)).not.toEqual({ x: 0n, y: 1n })
      refuses('KEY_WEAK', encodePoint(mixed))
    }
  })

  it('are refused if y is not below the field’s prime', () => {
    for (let above = 0n; above < 19n; above++)
      for (const sign of [0n, 1n]) refuses('KEY_WEAK', bytesOf(2n ** 255n - 19n + above + (sign << 255n)))
  })

  it('are refused if they are not a point', () => {
    const points = [2n, 7n, 8n].map(bytesOf)
    for (const point of points) {
      expect(() => decodePoint(point)).toThrow('not a point')
      refuses('KEY_WEAK', point)
    }
  })

  it('do not include multiples and negatives of a good key', async () => {
    const good = decodePoint((await signingKey()).publicKey.bytes)
    for (const point of [times(2n, good), times(12345n, good), times(L - 1n, good)])
      expect(toHex(importPublicKey(encodePoint(point)).bytes)).toBe(toHex(encodePoint(point)))
  })

  it('are the same on the portable path', () => {
    for (const point of TORSION) expect(() => portable.importPublicKey(point)).toThrow('not of full order')
  })
})

describe.each(paths)('signatures on $path', (path) => {
  const message = utf8('a message')

  it('are refused if S is not below the group order', async () => {
    const key = await path.importSigningKey(seedOf(1))
    const signature = await key.sign(message)
    expect(await path.verifySignature(key.publicKey, message, signature)).toBe(true)
    const S = littleEndian(signature.subarray(32))
    for (const other of [S + L, S + 2n * L, S + 8n * L, L, 2n ** 256n - 1n]) {
      const forged = concat(signature.subarray(0, 32), bytesOf(other))
      expect(await path.verifySignature(key.publicKey, message, forged)).toBe(false)
    }
  })

  it('are 64 bytes', async () => {
    const key = await path.importSigningKey(seedOf(1))
    const signature = await key.sign(message)
    expect(signature.length).toBe(64)
    for (const other of [
      signature.subarray(0, 63),
      concat(signature, new Uint8Array(1)),
      new Uint8Array(),
      concat(signature, signature),
    ])
      expect(await path.verifySignature(key.publicKey, message, other)).toBe(false)
  })

  it('never throw, for any bytes', async () => {
    const { publicKey } = await path.importSigningKey(seedOf(1))
    for (const byte of [0, 1, 0x7f, 0x80, 0xff])
      for (const length of [32, 64, 65])
        expect(await path.verifySignature(publicKey, message, new Uint8Array(length).fill(byte))).toBe(false)
  })

  it('are valid for one key and one message', async () => {
    const [one, other] = [await path.importSigningKey(seedOf(1)), await path.importSigningKey(seedOf(2))]
    const signature = await one.sign(message)
    expect(await path.verifySignature(one.publicKey, message, signature)).toBe(true)
    expect(await path.verifySignature(other.publicKey, message, signature)).toBe(false)
    expect(await path.verifySignature(one.publicKey, utf8('a massage'), signature)).toBe(false)
    expect(await path.verifySignature(one.publicKey, new Uint8Array(), signature)).toBe(false)
  })

  it('are checked without the cofactor', async () => {
    const { publicKey, sign } = await path.importSigningKey(seedOf(1))
    expect(await path.verifySignature(publicKey, message, await sign(message))).toBe(true)
    for (const torsion of TORSION.slice(1)) {
      const upToCofactor = signWithR(torsion, seedOf(1), publicKey.bytes, message)
      expect(await path.verifySignature(publicKey, message, upToCofactor)).toBe(false)
    }
  })

  // The equation holds for it. Some runtimes accept it and others do not.
  it('are refused if R is the neutral element', async () => {
    const { publicKey } = await path.importSigningKey(seedOf(1))
    const exact = signWithR(bytes('01'.padEnd(64, '0')), seedOf(1), publicKey.bytes, message)
    expect(await path.verifySignature(publicKey, message, exact)).toBe(false)
  })

  it('are refused if R is in another encoding', async () => {
    const { publicKey } = await path.importSigningKey(seedOf(1))
    for (const neutral of [`01${'00'.repeat(30)}80`, `ee${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(31)}`]) {
      const signature = signWithR(bytes(neutral), seedOf(1), publicKey.bytes, message)
      expect(await path.verifySignature(publicKey, message, signature)).toBe(false)
    }
  })

  it('need an imported key', async () => {
    const key = await path.importSigningKey(seedOf(1))
    const signature = await key.sign(message)
    const { id, bytes: raw } = key.publicKey
    const made: PublicKey[] = [{ id, bytes: raw }, { ...key.publicKey }, structuredClone(key.publicKey)]
    for (const hand of made)
      await expect(path.verifySignature(hand, message, signature)).rejects.toThrow(
        new TypeError('the key is not from importPublicKey'),
      )
  })
})

describe('the strict rules', () => {
  it('apply before the runtime checks a signature', async () => {
    const asked: Uint8Array[] = []
    const credulous = {
      importKey: () => Promise.resolve({ type: 'public' }),
      verify: (_algorithm: string, _key: unknown, signature: Uint8Array) => {
        asked.push(signature)
        return Promise.resolve(true)
      },
    }
    const keys = await loadPortable(credulous)
    const publicKey = keys.importPublicKey((await signingKey()).publicKey.bytes)
    const check = (S: bigint, R = new Uint8Array(32)): Promise<boolean> =>
      keys.verifySignature(publicKey, new Uint8Array(), concat(R, bytesOf(S)))
    for (const S of [0n, 1n, L - 1n]) expect(await check(S)).toBe(true)
    expect(asked.length).toBe(3)
    for (const S of [L, L + 1n, 2n ** 253n, 2n ** 255n, 2n ** 256n - 1n]) expect(await check(S)).toBe(false)
    for (const length of [31, 33]) expect(await check(1n, new Uint8Array(length))).toBe(false)
    expect(asked.length).toBe(3)
  })

  it('recognise a scalar below the group order', () => {
    for (const scalar of [0n, 1n, L - 1n, L - 256n, 2n ** 252n])
      expect(isReducedScalar(bytesOf(scalar))).toBe(true)
    for (const scalar of [L, L + 1n, L + 256n, 2n * L, 2n ** 253n])
      expect(isReducedScalar(bytesOf(scalar))).toBe(false)
  })

  it('recognise a point of full order in 32 bytes', async () => {
    const { bytes: good } = (await signingKey()).publicKey
    expect(isFullOrderPoint(good)).toBe(true)
    for (const other of [good.subarray(0, 31), concat(good, Uint8Array.of(0)), new Uint8Array()])
      expect(isFullOrderPoint(other)).toBe(false)
  })
})

describe('the two paths', () => {
  it('sign alike and give the same result for changed signatures', async () => {
    const change = fc.array(fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 255 })), { maxLength: 3 })
    const law = async (seed: Uint8Array, message: Uint8Array, changes: [number, number][]): Promise<void> => {
      const [node, web] = [await importSigningKey(seed), await portable.importSigningKey(seed)]
      expect(web.publicKey.id).toBe(node.publicKey.id)
      const signature = await node.sign(message)
      expect(toHex(await web.sign(message))).toBe(toHex(signature))
      const changed = Uint8Array.from(signature)
      for (const [at, bits] of changes) changed[at] = (changed[at] ?? 0) ^ bits
      const same = toHex(changed) === toHex(signature)
      expect(await verifySignature(node.publicKey, message, changed)).toBe(same)
      expect(await portable.verifySignature(web.publicKey, message, changed)).toBe(same)
    }
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const property = fc.asyncProperty(seed, fc.uint8Array({ maxLength: 80 }), change, law)
    await fc.assert(property, { seed: 41, numRuns: runs(250) })
  })

  it('find every flipped bit of a signature', async () => {
    const message = utf8('a message')
    const [node, web] = [await importSigningKey(seedOf(3)), await portable.importSigningKey(seedOf(3))]
    const signature = await node.sign(message)
    for (let bit = 0; bit < 512; bit++) {
      const flipped = Uint8Array.from(signature)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await verifySignature(node.publicKey, message, flipped)).toBe(false)
      expect(await portable.verifySignature(web.publicKey, message, flipped)).toBe(false)
    }
  })

  it('both fail on a runtime without crypto', async () => {
    const bare = await loadPortable(null)
    await expect(bare.importSigningKey(seedOf(1))).rejects.toMatchObject({ code: 'KEY_UNAVAILABLE' })
    const { publicKey } = await signingKey()
    expect(() => bare.importPublicKey(publicKey.bytes)).toThrow('no WebCrypto')
  })
})

// A seed without a pattern, so that any copy of it can be found.
const SEED = sha256('a seed to look for')

/** Whether a text contains the seed in hexadecimal, base64, base64url, decimal or raw form. */
function shows(text: string): boolean {
  const packed = text.replaceAll(/\s/g, '')
  const start = SEED.subarray(0, 12)
  const forms = [
    Buffer.from(start).toString('hex'),
    toBase64(start),
    Buffer.from(start).toString('base64url'),
  ]
  return (
    forms.some((form) => packed.toLowerCase().includes(form.toLowerCase())) ||
    packed.includes(Array.from(start).join(',')) ||
    text.includes(Buffer.from(start).toString('latin1'))
  )
}

function shownAs(value: unknown): string {
  return inspect(value, { depth: 10, showHidden: true, maxArrayLength: null, getters: true })
}

describe('private keys', () => {
  it('are found by this check if they are shown', () => {
    for (const leak of [
      SEED,
      Buffer.from(SEED),
      toHex(SEED),
      toBase64(SEED),
      { a: [{ seed: SEED }] },
      new Error(toHex(SEED)),
    ])
      expect(shows(shownAs(leak))).toBe(true)
    expect(shows(JSON.stringify(Array.from(SEED)))).toBe(true)
    expect(shows(Buffer.from(SEED).toString('base64url'))).toBe(true)
  })

  it.each(paths)('are never shown on $path', async (path) => {
    const key = await path.importSigningKey(SEED.slice())
    const views = [
      shownAs(key),
      shownAs(key.sign),
      JSON.stringify(key),
      Reflect.apply(String, undefined, [key]),
      String(key.sign),
      shownAs({ ...key }),
    ]
    for (const view of views) {
      expect(view.length).toBeGreaterThan(0)
      expect(shows(view), view).toBe(false)
    }
    expect(Reflect.ownKeys(key).sort()).toEqual(['publicKey', 'sign'])
    expect(Object.isFrozen(key)).toBe(true)
  })

  it('cannot be cloned, and the error does not show them', async () => {
    const key = await importSigningKey(SEED.slice())
    const fault = faultOf(() => structuredClone(key))
    expect(fault).toBeInstanceOf(Error)
    expect(shows(shownAs(fault))).toBe(false)
  })

  it('must be seeds of 32 bytes, and a refusal does not show them', async () => {
    for (const seed of [
      SEED.subarray(0, 31),
      concat(SEED, SEED.subarray(0, 1)),
      concat(SEED, SEED),
      new Uint8Array(),
    ]) {
      expect(await outcomeOfAsync(importSigningKey(seed))).toBe('KEY_MALFORMED')
      const fault: unknown = await importSigningKey(seed).catch((reason: unknown) => reason)
      expect(shows(shownAs(fault))).toBe(false)
    }
  })

  it('are not shown when the runtime cannot import them', async () => {
    const talkative = {
      importKey: () => Promise.reject(new Error(`bad key ${toHex(SEED)} ${toBase64(SEED)}`)),
    } as unknown as WebCrypto
    const fault: unknown = await webEd25519(talkative)
      .signer(SEED.slice())
      .catch((reason: unknown) => reason)
    expect(fault).toMatchObject({ code: 'KEY_UNAVAILABLE' })
    expect(shows(shownAs(fault))).toBe(false)
  })

  it('leave no copy of the seed in the bytes given to Node', async () => {
    const handed: Uint8Array[] = []
    const crypto = required(nodeCrypto)
    const watched: NodeCrypto = {
      ...crypto,
      createPrivateKey: (key) => {
        handed.push(key.key)
        return crypto.createPrivateKey(key)
      },
    }
    await nodeEd25519(watched).signer(SEED.slice())
    expect(handed.length).toBe(1)
    for (const der of handed) expect(shows(shownAs(der))).toBe(false)
  })

  it('leave no copy of the seed in the bytes given to WebCrypto', async () => {
    const handed: Uint8Array[] = []
    const crypto = required(webCrypto)
    const watched = {
      importKey: (...args: Parameters<WebCrypto['importKey']>) => {
        handed.push(args[1])
        return crypto.importKey(...args)
      },
      exportKey: (...args: Parameters<WebCrypto['exportKey']>) => crypto.exportKey(...args),
    } as unknown as WebCrypto
    await webEd25519(watched).signer(SEED.slice())
    expect(handed.length).toBe(2)
    for (const der of handed) expect(shows(shownAs(der))).toBe(false)
  })

  it('are not extractable from WebCrypto', async () => {
    const used: CryptoKey[] = []
    const crypto = required(webCrypto)
    const watched = {
      importKey: (...args: Parameters<WebCrypto['importKey']>) => crypto.importKey(...args),
      exportKey: (...args: Parameters<WebCrypto['exportKey']>) => crypto.exportKey(...args),
      sign: (...args: Parameters<WebCrypto['sign']>) => {
        used.push(args[1] as CryptoKey)
        return crypto.sign(...args)
      },
    } as unknown as WebCrypto
    const { sign } = await webEd25519(watched).signer(SEED.slice())
    await sign(utf8('a message'))
    expect(used.map(({ extractable, usages }) => [extractable, usages])).toEqual([[false, ['sign']]])
  })

  it('are refused by a runtime that does not export their public key', async () => {
    for (const x of [undefined, '', 'AAAA', 'not base64url!']) {
      const mute = {
        importKey: () => Promise.resolve({ type: 'private' }),
        exportKey: () => Promise.resolve({ x }),
      } as unknown as WebCrypto
      expect(await outcomeOfAsync(webEd25519(mute).signer(SEED.slice()))).toBe('KEY_UNAVAILABLE')
    }
  })

  it('do not change or keep the seed they are given', async () => {
    const seed = SEED.slice()
    const key = await importSigningKey(seed)
    expect(toHex(seed)).toBe(toHex(SEED))
    seed.fill(0)
    const signature = await key.sign(utf8('after'))
    expect(await verifySignature(key.publicKey, utf8('after'), signature)).toBe(true)
  })
})

function faultOf(work: () => unknown): unknown {
  try {
    work()
  } catch (fault) {
    return fault
  }
  return undefined
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('this host lacks it')
  return value
}
