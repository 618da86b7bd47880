import { beforeAll, describe, expect, it } from 'vitest'
import { concat, toBase64, toHex, utf8 } from '../src/bytes.ts'
import { canonicalBytes, canonicalize } from '../src/canonical.ts'
import {
  DELEGATION_PAYLOAD_TYPE,
  openDelegation,
  signDelegation,
  type DelegationStatement,
} from '../src/delegation.ts'
import { sha256Hex } from '../src/hash.ts'
import type { SigningKey } from '../src/keys.ts'
import { EFFECT_CLASSES } from '../src/kinds.ts'
import { openReceipt, parseReceipt, PAYLOAD_TYPE, sealReceipt } from '../src/receipt.ts'
import { bytesOf, L, littleEndian } from './keys-curve.ts'
import { hashOf, ORIGIN, outcomeOf, outcomeOfAsync, sampleOf, signingKey } from './samples.ts'

let key: SigningKey
let other: SigningKey

beforeAll(async () => {
  key = await signingKey(1)
  other = await signingKey(2)
})

const FULL = {
  v: 1,
  ledger: ORIGIN,
  tenant: 'tenant-a',
  delegator: 'agent:planner',
  delegate: 'agent:worker',
  tools: ['fs/*', 'mail/send'],
  effects: ['read', 'send'],
  until: '2026-02-02T00:00:00.000Z',
  depth: 2,
  parent: hashOf('parent'),
  session: 's1',
  nonce: 'n-1',
} as const satisfies DelegationStatement

type Changes = Readonly<Record<string, unknown>>

function statementWith(changes: Changes): DelegationStatement {
  // Tests of refusals break the type on purpose.
  return { ...FULL, ...changes }
}

function without(field: string): DelegationStatement {
  // Tests of refusals break the type on purpose.
  return Object.fromEntries(
    Object.entries(FULL).filter(([name]) => name !== field),
  ) as unknown as DelegationStatement
}

/** A correctly signed envelope of any payload, as a malicious delegator with a valid key can send it. */
async function envelopeOf(
  payload: Uint8Array | string,
  type: string = DELEGATION_PAYLOAD_TYPE,
  signer = key,
): Promise<string> {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload
  const signature = await signer.sign(concat(utf8(`DSSEv1 ${type.length} ${type} ${bytes.length} `), bytes))
  const signatures = `[{"keyid":"${signer.publicKey.id}","sig":"${toBase64(signature)}"}]`
  return `{"payload":"${toBase64(bytes)}","payloadType":"${type}","signatures":${signatures}}`
}

function open(envelope: Uint8Array | string, under = key): Promise<string> {
  return outcomeOfAsync(openDelegation(envelope, () => under.publicKey))
}

/** The outcome for a statement. It must be the same when it is signed and when it is opened. */
async function check(statement: DelegationStatement, code = 'accepted'): Promise<void> {
  const title = JSON.stringify(statement).slice(0, 300)
  expect(await outcomeOfAsync(signDelegation(statement, key)), title).toBe(code)
  expect(await open(await envelopeOf(canonicalBytes(statement))), title).toBe(code)
}

describe('a delegation', () => {
  it('opens as it was signed, from bytes and from text', async () => {
    const signed = await signDelegation(FULL, key)
    const text = new TextDecoder().decode(signed.envelope)
    for (const envelope of [signed.envelope, text]) {
      const asked: DelegationStatement[] = []
      const opened = await openDelegation(envelope, (statement) => {
        asked.push(statement)
        return key.publicKey
      })
      expect(opened).toEqual({ id: signed.id, statement: FULL, keyId: key.publicKey.id, envelope: text })
      expect(asked).toEqual([FULL])
    }
    expect(signed.id).toBe(sha256Hex(canonicalize(FULL)))
    expect(signed.statement).toEqual(FULL)
  })

  it('is a DSSE envelope that any DSSE reader can check', async () => {
    const { envelope } = await signDelegation(FULL, key)
    expect(new TextDecoder().decode(envelope)).toBe(await envelopeOf(canonicalBytes(FULL)))
    expect(JSON.parse(new TextDecoder().decode(envelope))).toMatchObject({
      payloadType: 'application/vnd.tollgate.delegation+json;v=1',
      signatures: [{ keyid: key.publicKey.id }],
    })
  })

  it('needs no effects, no session and no parent', async () => {
    await check(without('effects'))
    await check(without('session'))
    await check(statementWith({ parent: null, depth: 0, tools: ['*'] }))
    await check(statementWith({ effects: [...EFFECT_CLASSES], depth: 8 }))
    await check(statementWith({ delegate: 'agent:größer 🦆', nonce: 'ñ' }))
  })

  it('has the same bytes every time it is signed', async () => {
    const [one, two] = [await signDelegation(FULL, key), await signDelegation({ ...FULL }, key)]
    expect(toHex(one.envelope)).toBe(toHex(two.envelope))
    const next = await signDelegation({ ...FULL, nonce: 'n-2' }, key)
    expect(next.id).not.toBe(one.id)
  })
})

describe('a statement is refused', () => {
  it('without any of its required fields', async () => {
    for (const field of Object.keys(FULL)) {
      const may = field === 'effects' || field === 'session'
      await check(without(field), may ? 'accepted' : 'DELEGATION_MALFORMED')
    }
  })

  const long = 'x'.repeat(257)
  const wrong: readonly (readonly [string, readonly unknown[]])[] = [
    ['v', [0, 2, '1', true, null]],
    ['ledger', ['', 'a b', 'a+b', 'x'.repeat(121), 1, null]],
    ['tenant', ['', long, 'a\nb', 1, null]],
    ['delegator', ['', long, 'a\u0000', 'a\u0085', {}, null]],
    ['delegate', ['', long, 'a\u007f', ['agent:worker'], null]],
    ['tools', [[], '*', [''], [long], ['a\n'], ['a', 'a'], [1], [null], manyTools(65), {}, null]],
    ['effects', [[], 'read', ['Read'], ['read', 'read'], ['reading'], [...EFFECT_CLASSES, 'x'], null]],
    ['until', ['', '2026-02-30T00:00:00.000Z', '2026-02-02T00:00:00Z', '2026-02-02', 0, null]],
    ['depth', [-1, 9, 0.5, '1', null, true]],
    ['parent', ['', 'ab', hashOf('x').toUpperCase(), `${hashOf('x')}0`, 0, false, [hashOf('x')]]],
    ['session', ['', long, 'a\r', 1, null]],
    ['nonce', ['', 'x'.repeat(65), 'a\n', 1, null]],
    ['more', ['anything']],
    ['kind', ['delegation']],
  ]
  it.each(wrong)('with a wrong `%s`', async (field, values) => {
    for (const value of values) await check(statementWith({ [field]: value }), 'DELEGATION_MALFORMED')
  })

  it('with a field that is undefined, a class instance, or half of a surrogate pair', async () => {
    const refused = async (statement: object): Promise<string> =>
      outcomeOfAsync(signDelegation(statement as DelegationStatement, key))
    expect(await refused({ ...FULL, session: undefined })).toBe('DELEGATION_MALFORMED')
    expect(await refused(Object.assign(new Date(0), FULL))).toBe('DELEGATION_MALFORMED')
    expect(await refused({ ...FULL, nonce: '\ud800' })).toBe('JSON_LONE_SURROGATE')
    expect(await refused([])).toBe('DELEGATION_MALFORMED')
  })

  it('if it is too large, signed or in an envelope', async () => {
    const large = statementWith({ tools: manyTools(64).map((tool) => tool.padEnd(256, 'x')) })
    expect(await outcomeOfAsync(signDelegation(large, key))).toBe('DELEGATION_MALFORMED')
    await expect(signDelegation(large, key)).rejects.toThrow('16384')
    expect(await open(await envelopeOf(canonicalBytes(large)))).not.toBe('accepted')
    expect(await open('x'.repeat(1 << 20))).toBe('DELEGATION_MALFORMED')
    expect(await open(new Uint8Array(1 << 20))).toBe('DELEGATION_MALFORMED')
  })

  it('with a message that names the field and not its value', async () => {
    const secret = statementWith({ nonce: 'hunter2\n' })
    await expect(signDelegation(secret, key)).rejects.toThrow('`nonce` is not text of 1 to 64 characters')
    await expect(signDelegation(secret, key)).rejects.not.toThrow('hunter2')
  })
})

function manyTools(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `tool-${i}`)
}

describe('an envelope is refused', () => {
  it('if its payload is not canonical', async () => {
    const text = canonicalize(FULL)
    const spellings: readonly (readonly [string, string])[] = [
      [` ${text}`, 'JSON_NOT_CANONICAL'],
      [`${text}\n`, 'JSON_NOT_CANONICAL'],
      [text.replace('"depth":2', '"depth":2.0'), 'JSON_NOT_CANONICAL'],
      [text.replace('"depth":2', '"depth":2,"depth":2'), 'JSON_DUPLICATE_KEY'],
      [text.replace('"depth":2', '"depth":1,"d\\u0065pth":2'), 'JSON_DUPLICATE_KEY'],
      [text.replace('{"delegate":', '{"__proto__":{},"delegate":'), 'DELEGATION_MALFORMED'],
      [text.replace('fs/*', 'fs\\/*'), 'JSON_NOT_CANONICAL'],
      [`${text}{}`, 'JSON_MALFORMED'],
      [text.slice(0, -1), 'JSON_MALFORMED'],
      ['', 'JSON_MALFORMED'],
      ['null', 'DELEGATION_MALFORMED'],
      ['[]', 'DELEGATION_MALFORMED'],
    ]
    for (const [payload, code] of spellings) {
      expect(await open(await envelopeOf(payload)), payload.slice(-80)).toBe(code)
    }
    expect(await open(await envelopeOf(Uint8Array.of(0x22, 0xff, 0x22)))).toBe('JSON_NOT_UTF8')
  })

  it('with extra bytes before, after or between its parts', async () => {
    const text = await envelopeOf(canonicalBytes(FULL))
    const sig = /"sig":"[^"]*"/.exec(text)?.[0] ?? ''
    for (const strange of [
      `${text}\n`,
      ` ${text}`,
      `${text}${text}`,
      text.replace('","payloadType"', '", "payloadType"'),
      text.replace('"keyid"', '"keyId"'),
      text.replace(`{"keyid":"${key.publicKey.id}",${sig}}`, ''),
      text.replace(']}', `,{"keyid":"${key.publicKey.id}",${sig}}]}`),
      text.replace(';v=1', ';v=2'),
      '',
      '{}',
    ])
      expect(await open(strange), strange.slice(0, 80)).toBe('DELEGATION_MALFORMED')
  })

  it('if any bit of it is flipped', async () => {
    const { envelope } = await signDelegation({ ...FULL, tools: ['*'] }, key)
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const flipped = Uint8Array.from(envelope)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await open(flipped), `bit ${bit}`).not.toBe('accepted')
    }
  })

  it('if it is truncated anywhere', async () => {
    const { envelope } = await signDelegation(FULL, key)
    for (let length = 0; length < envelope.length; length++)
      expect(await open(envelope.subarray(0, length))).toBe('DELEGATION_MALFORMED')
  })

  it('if another key signed it, for any named key', async () => {
    const foreign = await envelopeOf(canonicalBytes(FULL), DELEGATION_PAYLOAD_TYPE, other)
    expect(await open(foreign)).toBe('DELEGATION_SIGNATURE_WRONG')
    expect(await open(foreign.replace(other.publicKey.id, key.publicKey.id))).toBe(
      'DELEGATION_SIGNATURE_WRONG',
    )
    const mine = await envelopeOf(canonicalBytes(FULL))
    expect(await open(mine.replace(key.publicKey.id, other.publicKey.id))).toBe('DELEGATION_SIGNATURE_WRONG')
    expect(await open(mine)).toBe('accepted')
  })

  it('if no key of its delegator is known', async () => {
    const { envelope } = await signDelegation(FULL, key)
    expect(await outcomeOfAsync(openDelegation(envelope, () => undefined))).toBe('KEY_UNAVAILABLE')
  })

  it('if its signature is a valid one plus the group order', async () => {
    const text = await envelopeOf(canonicalBytes(FULL))
    const sig = /"sig":"([^"]*)"/.exec(text)?.[1] ?? ''
    const signature = Uint8Array.from(Buffer.from(sig, 'base64'))
    const twin = concat(signature.subarray(0, 32), bytesOf(littleEndian(signature.subarray(32)) + L))
    expect(await open(text.replace(sig, toBase64(twin)))).toBe('DELEGATION_SIGNATURE_WRONG')
  })

  it('only for its bytes at the call: later changes of the buffer have no effect', async () => {
    const { envelope, id } = await signDelegation(FULL, key)
    const shared = Uint8Array.from(envelope)
    const opening = openDelegation(shared, () => key.publicKey)
    shared.fill(0x20)
    const opened = await opening
    expect(opened.id).toBe(id)
    expect(opened.envelope).toBe(new TextDecoder().decode(envelope))
  })
})

describe('types are not confused', () => {
  it('a receipt is not a delegation', async () => {
    const { envelope } = await sealReceipt(sampleOf('delegation', key.publicKey), key)
    expect(await open(envelope)).toBe('DELEGATION_MALFORMED')
    const text = new TextDecoder().decode(envelope)
    expect(await open(text.replace(PAYLOAD_TYPE, DELEGATION_PAYLOAD_TYPE))).toBe('DELEGATION_MALFORMED')
  })

  it('a delegation is not a receipt', async () => {
    const { envelope } = await signDelegation(FULL, key)
    expect(outcomeOf(() => parseReceipt(envelope))).toBe('RECEIPT_MALFORMED')
    const text = new TextDecoder().decode(envelope).replace(DELEGATION_PAYLOAD_TYPE, PAYLOAD_TYPE)
    expect(await outcomeOfAsync(openReceipt(text, () => key.publicKey))).toBe('RECEIPT_KIND_UNKNOWN')
  })

  it('a statement signed under another type is not valid', async () => {
    const asReceipt = await envelopeOf(canonicalBytes(FULL), PAYLOAD_TYPE)
    expect(await open(asReceipt.replace(PAYLOAD_TYPE, DELEGATION_PAYLOAD_TYPE))).toBe(
      'DELEGATION_SIGNATURE_WRONG',
    )
    const bare = toBase64(await key.sign(canonicalBytes(FULL)))
    const text = await envelopeOf(canonicalBytes(FULL))
    expect(await open(text.replace(/"sig":"[^"]*"/, `"sig":"${bare}"`))).toBe('DELEGATION_SIGNATURE_WRONG')
  })
})
