import { beforeAll, describe, expect, it } from 'vitest'
import { concat, fromBase64, toBase64, toHex, utf8 } from '../src/bytes.ts'
import { canonicalBytes, canonicalize } from '../src/canonical.ts'
import { sha256Hex } from '../src/hash.ts'
import { verifySignature, type SigningKey } from '../src/keys.ts'
import { EFFECT_CLASSES, NO_HASH, type Decision, type Kind, type Receipt } from '../src/kinds.ts'
import { KINDS, SHAPES } from '../src/shapes.ts'
import {
  encodeReceipt,
  MAX_ENVELOPE_BYTES,
  MAX_PAYLOAD_BYTES,
  openReceipt,
  parseReceipt,
  PAYLOAD_TYPE,
  sealEncoded,
  sealReceipt,
  signatureHolds,
} from '../src/receipt.ts'
import { REASONS, VERDICTS } from '../src/reasons.ts'
import { bytesOf, L, littleEndian } from './keys-curve.ts'
import { hashOf, outcomeOf, outcomeOfAsync, sampleOf, signingKey } from './samples.ts'

let key: SigningKey
let other: SigningKey

beforeAll(async () => {
  key = await signingKey(1)
  other = await signingKey(2)
})

type Changes = Readonly<Record<string, unknown>>

/** A correctly signed envelope of any payload, as a malicious writer with a valid key can send it. */
async function envelopeOf(
  payload: Uint8Array | string,
  signer = key,
  keyId = signer.publicKey.id,
): Promise<string> {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload
  const signature = await signer.sign(
    concat(utf8(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${bytes.length} `), bytes),
  )
  const signatures = `[{"keyid":"${keyId}","sig":"${toBase64(signature)}"}]`
  return `{"payload":"${toBase64(bytes)}","payloadType":"${PAYLOAD_TYPE}","signatures":${signatures}}`
}

/** Expects the same outcome when the changed sample is encoded and when it is read. */
async function check(kind: Kind, changes: Changes, code = 'accepted'): Promise<void> {
  const receipt = sampleOf(kind, key.publicKey, changes)
  const title = `${kind} ${JSON.stringify(changes).slice(0, 200)}`
  expect(
    outcomeOf(() => encodeReceipt(receipt)),
    title,
  ).toBe(code)
  const envelope = await envelopeOf(canonicalBytes(receipt))
  expect(await outcomeOfAsync(openReceipt(envelope, () => key.publicKey)), title).toBe(code)
}

/** The sample without one field. */
function without(kind: Kind, field: string): Receipt {
  return Object.fromEntries(
    Object.entries(sampleOf(kind, key.publicKey)).filter(([name]) => name !== field),
  ) as unknown as Receipt
}

/** The code for a wrong or missing field. Version and kind have their own codes. */
function codeFor(field: string): string {
  if (field === 'v') return 'RECEIPT_VERSION_UNKNOWN'
  return field === 'kind' ? 'RECEIPT_KIND_UNKNOWN' : 'RECEIPT_MALFORMED'
}

describe.each(KINDS.map((kind) => ({ kind })))('a receipt of kind $kind', ({ kind }) => {
  it('opens as it was sealed', async () => {
    const receipt = sampleOf(kind, key.publicKey)
    const sealed = await sealReceipt(receipt, key)
    const opened = await openReceipt(sealed.envelope, (id) =>
      id === key.publicKey.id ? key.publicKey : undefined,
    )
    expect(canonicalize(opened.receipt)).toBe(canonicalize(receipt))
    expect(opened.receipt).toEqual(receipt)
    expect(opened.id).toBe(sealed.id)
    expect(toHex(opened.payload)).toBe(toHex(sealed.payload))
    expect(opened.keyId).toBe(key.publicKey.id)
    expect(sealed.id).toBe(sha256Hex(canonicalize(receipt)))
  })

  it('is refused without any of its required fields', () => {
    const fields = SHAPES[kind]
    expect(fields.length).toBeGreaterThan(11)
    for (const { name, optional } of fields)
      if (!optional)
        expect(
          outcomeOf(() => encodeReceipt(without(kind, name))),
          name,
        ).toBe(codeFor(name))
  })

  it('is refused with an invalid field', () => {
    const wrong = [null, [null], { a: 1 }, -1, 1.5, '', '\u0007', 'x'.repeat(1000), 'x\ny']
    for (const { name } of SHAPES[kind])
      for (const value of wrong) {
        const receipt = sampleOf(kind, key.publicKey, { [name]: value })
        expect(
          outcomeOf(() => encodeReceipt(receipt)),
          `${name}: ${JSON.stringify(value)}`,
        ).toBe(codeFor(name))
      }
  })

  it('is refused with an unknown field', async () => {
    for (const name of ['extra', 'Verdict', 'constructor', 'toString', 'kind ', ''])
      await check(kind, { [name]: 1 }, 'RECEIPT_MALFORMED')
    const withProto = canonicalize(sampleOf(kind, key.publicKey)).replace('{', '{"__proto__":1,')
    expect(outcomeOf(() => parseReceipt(withProto))).toBe('RECEIPT_MALFORMED')
    expect(await outcomeOfAsync(openReceipt(await envelopeOf(withProto), () => key.publicKey))).toBe(
      'RECEIPT_MALFORMED',
    )
  })

  it('is refused with a message that names the kind and the field', () => {
    const refusal = (changes: Changes): (() => unknown) => {
      const receipt = sampleOf(kind, key.publicKey, changes)
      return () => encodeReceipt(receipt)
    }
    expect(() => encodeReceipt(without(kind, 'time'))).toThrow(`${kind}: \`time\` is missing`)
    expect(refusal({ time: 'now' })).toThrow(`${kind}: \`time\` is not a timestamp`)
    expect(refusal({ extra: 1 })).toThrow(`${kind}: it has an unknown field \`extra\``)
    expect(refusal({ ['x'.repeat(50)]: 1 })).toThrow(`\`${'x'.repeat(40)}\``)
  })
})

describe('samples', () => {
  it('have every optional field that the others allow', () => {
    const absent = KINDS.flatMap((kind) => {
      const sample = sampleOf(kind, key.publicKey)
      return SHAPES[kind].flatMap(({ name }) => (Object.hasOwn(sample, name) ? [] : [`${kind}.${name}`]))
    })
    expect(absent).toEqual(['decision.asks', 'effect.cause', 'session.because', 'session.trust'])
  })

  it('cover 15 kinds', () => {
    expect([...KINDS].sort()).toEqual([
      'approval',
      'blocked',
      'decision',
      'delegation',
      'effect',
      'freeze',
      'genesis',
      'key',
      'observe',
      'pin',
      'policy',
      'quota',
      'recovery',
      'session',
      'token',
    ])
  })

  it('stay valid without an optional field, unless another field requires it', () => {
    const demanded = KINDS.flatMap((kind) =>
      SHAPES[kind]
        .filter(({ optional }) => optional)
        .filter(({ name }) => outcomeOf(() => encodeReceipt(without(kind, name))) !== 'accepted')
        .map(({ name }) => `${kind}.${name}`),
    )
    expect(demanded).toEqual([
      'decision.approval',
      'decision.expires',
      'effect.effect_hash',
      'freeze.target',
      'key.of',
      'session.by',
      'session.decisions',
      'session.next_state_hash',
      'session.scope',
      'session.scope_hash',
      'observe.until',
    ])
  })
})

describe('the envelope', () => {
  it('is DSSE: canonical JSON, and a signature over the pre-authentication encoding', async () => {
    const { envelope, payload } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    const text = new TextDecoder().decode(envelope)
    const parsed = JSON.parse(text) as {
      payload: string
      payloadType: string
      signatures: { keyid: string; sig: string }[]
    }
    expect(canonicalize(parsed)).toBe(text)
    expect(parsed.payloadType).toBe('application/vnd.tollgate.receipt+json;v=1')
    expect(toHex(fromBase64(parsed.payload) ?? new Uint8Array())).toBe(toHex(payload))
    const [signature] = parsed.signatures
    expect(parsed.signatures.length).toBe(1)
    expect(signature?.keyid).toBe(key.publicKey.id)
    const preAuthentication = concat(
      utf8(`DSSEv1 41 application/vnd.tollgate.receipt+json;v=1 ${payload.length} `),
      payload,
    )
    const bytes = fromBase64(signature?.sig ?? '') ?? new Uint8Array()
    expect(await verifySignature(key.publicKey, preAuthentication, bytes)).toBe(true)
    expect(await envelopeOf(payload)).toBe(text)
  })

  it('opens from text as from bytes', async () => {
    const { envelope } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    const text = new TextDecoder().decode(envelope)
    expect(parseReceipt(text)).toEqual(parseReceipt(envelope))
    expect(parseReceipt(new Uint8Array(envelope))).toEqual(parseReceipt(text))
  })

  it('is refused in any other form', async () => {
    const text = await envelopeOf(canonicalBytes(sampleOf('policy', key.publicKey)))
    const { payload, payloadType, signatures } = JSON.parse(text) as Record<string, unknown>
    const [signature] = signatures as { keyid: string; sig: string }[]
    const spellings = [
      ` ${text}`,
      `${text}\n`,
      `\ufeff${text}`,
      text.replace('":"', '": "'),
      text.replaceAll('/', '\\/'),
      text.replace('"payload"', '"\\u0070ayload"'),
      text.replace('{"keyid"', '{ "keyid"'),
      text.slice(0, -1),
      text.slice(1),
      JSON.stringify({ payloadType, payload, signatures }),
      JSON.stringify({
        payload,
        payloadType,
        signatures: [{ sig: signature?.sig, keyid: signature?.keyid }],
      }),
      JSON.stringify({ payload, payloadType, signatures: [signature, signature] }),
      JSON.stringify({ payload, payloadType, signatures: [] }),
      JSON.stringify({ payload, payloadType, signatures: [{ sig: signature?.sig }] }),
      JSON.stringify({ payload, payloadType, signatures, extra: 1 }),
      JSON.stringify({ payload, payloadType: `${PAYLOAD_TYPE} `, signatures }),
      JSON.stringify({ payload, payloadType: 'application/vnd.in-toto+json', signatures }),
      JSON.stringify({ payload, signatures }),
      JSON.stringify([text]),
      '',
      '{}',
      'null',
    ]
    for (const spelling of spellings) {
      expect(
        outcomeOf(() => parseReceipt(spelling)),
        spelling,
      ).toBe('RECEIPT_MALFORMED')
      expect(
        outcomeOf(() => parseReceipt(utf8(spelling))),
        spelling,
      ).toBe('RECEIPT_MALFORMED')
    }
  })

  it('is refused if payload or signature is not canonical base64', async () => {
    const receipt = sampleOf('policy', key.publicKey)
    const text = await envelopeOf(canonicalBytes(receipt))
    const parts = /^\{"payload":"([^"]*)".*"sig":"([^"]*)"/.exec(text)
    const [payload = '', signature = ''] = parts?.slice(1) ?? []
    const respelled = [
      text.replace(payload, `${payload}\n`),
      text.replace(payload, `${payload}=`),
      text.replace(payload, payload.replace(/.{4}$/, '$&AAAA').slice(0, -3)),
      text.replace(signature, signature.slice(0, -1)),
      text.replace(signature, signature.replace(/.==$/, '~==')),
      text.replace(
        signature,
        `${signature.slice(0, -3)}${signature.at(-3) === 'A' ? 'B' : `${signature.at(-3) ?? ''}x`}==`,
      ),
      text.replace(signature, toBase64(new Uint8Array(63))),
      text.replace(signature, toBase64(new Uint8Array(65))),
      text.replace(signature, ''),
      text.replace(payload, payload.replaceAll('a', 'é')),
    ]
    for (const other of respelled)
      expect(
        outcomeOf(() => parseReceipt(other)),
        other,
      ).toBe('RECEIPT_MALFORMED')
  })

  it('is refused for another version, with its number in the message', async () => {
    const text = await envelopeOf(canonicalBytes(sampleOf('policy', key.publicKey)))
    for (const version of ['2', '17']) {
      const newer = text.replace('json;v=1"', `json;v=${version}"`)
      expect(outcomeOf(() => parseReceipt(newer))).toBe('RECEIPT_VERSION_UNKNOWN')
      expect(() => parseReceipt(newer)).toThrow(`\`${version}\``)
    }
  })

  it('must name the key of the payload', async () => {
    const payload = canonicalBytes(sampleOf('policy', key.publicKey))
    const swapped = await envelopeOf(payload, other)
    expect(await outcomeOfAsync(openReceipt(swapped, () => other.publicKey))).toBe('RECEIPT_MALFORMED')
    const capital = await envelopeOf(payload, key, key.publicKey.id.toUpperCase())
    expect(outcomeOf(() => parseReceipt(capital))).toBe('RECEIPT_MALFORMED')
  })

  it('is refused beyond its size limit before anything else', () => {
    expect([MAX_PAYLOAD_BYTES, MAX_ENVELOPE_BYTES]).toEqual([16_384, 22_248])
    expect(outcomeOf(() => parseReceipt('x'.repeat(MAX_ENVELOPE_BYTES + 1)))).toBe('RECEIPT_TOO_LARGE')
    expect(outcomeOf(() => parseReceipt(new Uint8Array(MAX_ENVELOPE_BYTES + 1)))).toBe('RECEIPT_TOO_LARGE')
    expect(outcomeOf(() => parseReceipt('x'.repeat(MAX_ENVELOPE_BYTES)))).toBe('RECEIPT_MALFORMED')
  })

  it('can contain a payload of the maximum size and no larger one', async () => {
    const filled = (length: number): string => `"${'x'.repeat(length - 2)}"`
    const largest = await envelopeOf(filled(MAX_PAYLOAD_BYTES))
    expect(largest.length).toBeLessThanOrEqual(MAX_ENVELOPE_BYTES)
    expect(outcomeOf(() => parseReceipt(largest))).toBe('RECEIPT_MALFORMED') // not an object
    const larger = await envelopeOf(filled(MAX_PAYLOAD_BYTES + 1))
    expect(larger.length).toBeLessThanOrEqual(MAX_ENVELOPE_BYTES)
    expect(outcomeOf(() => parseReceipt(larger))).toBe('JSON_TOO_LARGE')
  })

  it('can contain the largest receipt that the fields allow', async () => {
    const wide = (length: number): string => '\uffff'.repeat(length)
    const hashes = (count: number): string[] => Array.from({ length: count }, (_, i) => hashOf(`cause ${i}`))
    const receipt = sampleOf('decision', key.publicKey, {
      ledger: '\ufffd'.repeat(120),
      tenant: wide(256),
      writer: 'x'.repeat(63),
      seq: Number.MAX_SAFE_INTEGER,
      lamport_clock: Number.MAX_SAFE_INTEGER,
      causes: hashes(16),
      principal: wide(256),
      session: { id: wide(256), seq: Number.MAX_SAFE_INTEGER },
      tool: wide(256),
      rule: wide(100),
      trajectory_risk_score: '-9999999999.9999',
      browser: {
        sentinel_risk: 100,
        sentinel_findings: Array.from({ length: 32 }, (_, i) => `F${String(i).padStart(63, '0')}`),
        dom_hash: NO_HASH,
        visual_text_hash: NO_HASH,
        planner_ref: wide(256),
        page_host: wide(260),
        destination_host: wide(260),
        planner_derived: true,
        target_state: 'other-origin',
        target_hash: NO_HASH,
        without_egress: true,
        seen_hash: NO_HASH,
      },
    })
    const { envelope, payload } = await sealReceipt(receipt, key)
    expect(payload.length).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES)
    expect((await openReceipt(envelope, () => key.publicKey)).receipt).toEqual(receipt)
  })
})

describe('the payload', () => {
  it('is refused in any form but the canonical one', async () => {
    const text = canonicalize(sampleOf('pin', key.publicKey))
    const { v, ...rest } = JSON.parse(text) as Record<string, unknown>
    const spellings: [string, string][] = [
      [` ${text}`, 'JSON_NOT_CANONICAL'],
      [`${text}\n`, 'JSON_NOT_CANONICAL'],
      [text.replace(',', ', '), 'JSON_NOT_CANONICAL'],
      [text.replace('mail/send', 'mail\\/send'), 'JSON_NOT_CANONICAL'],
      [text.replace('mail/send', 'm\\u0061il/send'), 'JSON_NOT_CANONICAL'],
      [text.replace('"seq":0', '"seq":0.0'), 'JSON_NOT_CANONICAL'],
      [text.replace('"v":1', '"v":1e0'), 'JSON_NOT_CANONICAL'],
      [JSON.stringify({ v, ...rest }), 'JSON_NOT_CANONICAL'],
      [text.replace('{', '{"by":"user:olga",'), 'JSON_DUPLICATE_KEY'],
      [text.replace('"seq":0', '"seq":-0'), 'JSON_NUMBER_REFUSED'],
      [text.replace('mail/send', '\\ud800'), 'JSON_LONE_SURROGATE'],
      [text.slice(0, -1), 'JSON_MALFORMED'],
      ['', 'JSON_MALFORMED'],
    ]
    for (const [payload, code] of spellings) {
      const envelope = await envelopeOf(payload)
      expect(
        outcomeOf(() => parseReceipt(envelope)),
        payload,
      ).toBe(code)
    }
    const notUtf8 = await envelopeOf(Uint8Array.of(0x22, 0xff, 0x22))
    expect(outcomeOf(() => parseReceipt(notUtf8))).toBe('JSON_NOT_UTF8')
  })

  it('is refused if it is not an object', async () => {
    for (const payload of ['null', '[]', '1', '"x"', 'true', '[{"v":1}]']) {
      const envelope = await envelopeOf(payload)
      expect(
        outcomeOf(() => parseReceipt(envelope)),
        payload,
      ).toBe('RECEIPT_MALFORMED')
    }
  })

  it('is refused for an unknown version, with its name in the message', async () => {
    for (const v of [0, 2, 99, '1', '2', true, null, [1]])
      await check('policy', { v }, 'RECEIPT_VERSION_UNKNOWN')
    expect(() => encodeReceipt(sampleOf('policy', key.publicKey, { v: 2 }))).toThrow('unknown version `2`')
    expect(outcomeOf(() => encodeReceipt({} as Receipt))).toBe('RECEIPT_VERSION_UNKNOWN')
  })

  it('is refused for an unknown kind, with its name in the message', async () => {
    for (const kind of [
      'teapot',
      'Decision',
      'decision ',
      '',
      'constructor',
      '__proto__',
      'toString',
      1,
      null,
      ['decision'],
    ])
      await check('policy', { kind }, 'RECEIPT_KIND_UNKNOWN')
    expect(() => encodeReceipt(sampleOf('policy', key.publicKey, { kind: 'teapot' }))).toThrow(
      'unknown kind `teapot`',
    )
    const long = sampleOf('policy', key.publicKey, { kind: 'x'.repeat(5000) })
    expect(() => encodeReceipt(long)).toThrow(`unknown kind \`${'x'.repeat(40)}\``)
  })

  // The message can go to a terminal, and an attacker could put an escape sequence into it.
  it('is refused with a message without control characters, for any kind and field name', () => {
    const escape = '\u001b[2J\u009b1m'
    for (const changes of [{ kind: escape }, { [escape]: 1 }, { v: escape }]) {
      const receipt = sampleOf('policy', key.publicKey, changes)
      expect(() => encodeReceipt(receipt)).toThrow(/^[^\p{Cc}]*$/u)
    }
  })

  it('is checked and written in one read', () => {
    let readings = 0
    const shifty = { ...sampleOf('freeze', key.publicKey) }
    Object.defineProperty(shifty, 'by', { enumerable: true, get: () => (readings++ === 0 ? 'user:a' : 0) })
    const { payload } = encodeReceipt(shifty)
    expect(Buffer.from(payload).toString()).toContain('"by":"user:a"')
  })

  it('is written as canonical JSON writes it, for every kind', () => {
    for (const kind of KINDS) {
      const receipt = sampleOf(kind, key.publicKey)
      expect(Buffer.from(encodeReceipt(receipt).payload).toString()).toBe(canonicalize(receipt))
    }
  })

  it('of one kind is not valid for another', async () => {
    for (const kind of KINDS)
      for (const claimed of KINDS)
        if (claimed !== kind) await check(kind, { kind: claimed }, 'RECEIPT_MALFORMED')
  })

  it('is a plain object with only its own fields', () => {
    class Fancy {
      readonly v = 1
    }
    const receipt = sampleOf('policy', key.publicKey)
    const { tenant, ...rest } = receipt
    const inherits = Object.assign(Object.create({ tenant }) as object, rest, { extra: 1 })
    for (const value of [Object.assign(new Fancy(), receipt), Object.create(receipt), inherits])
      expect(outcomeOf(() => encodeReceipt(value as Receipt))).toBe('RECEIPT_MALFORMED')
    expect(encodeReceipt({ ...receipt, [Symbol('s')]: 1 }).id).toBe(encodeReceipt(receipt).id)
    expect(outcomeOf(() => encodeReceipt(sampleOf('decision', key.publicKey, { rule: undefined })))).toBe(
      'RECEIPT_MALFORMED',
    )
    expect(outcomeOf(() => encodeReceipt(sampleOf('policy', key.publicKey, { name: '\ud800' })))).toBe(
      'JSON_LONE_SURROGATE',
    )
  })
})

describe('fields', () => {
  it('of text have length limits', async () => {
    for (const [kind, field, max] of [
      ['policy', 'tenant', 256],
      ['policy', 'writer', 63],
      ['policy', 'name', 256],
      ['policy', 'ledger', 120],
      ['decision', 'rule', 100],
      ['decision', 'tool', 256],
      ['freeze', 'because', 500],
      ['recovery', 'because', 500],
      ['key', 'of', 63],
    ] as const) {
      await check(kind, { [field]: 'x'.repeat(max) })
      await check(kind, { [field]: 'x'.repeat(max + 1) }, 'RECEIPT_MALFORMED')
      await check(kind, { [field]: '' }, 'RECEIPT_MALFORMED')
    }
  })

  it('of text have no control characters', async () => {
    for (const character of ['\u0000', '\n', '\u001f', '\u007f', '\u0085', '\u009f'])
      await check('policy', { name: `a${character}b` }, 'RECEIPT_MALFORMED')
    await check('policy', { name: 'Käse & "Brot" \\ 😂' })
  })

  it('of writers are valid parts of a path', async () => {
    for (const writer of ['a', '0', 'gateway-1.eu', 'a-.-b']) await check('policy', { writer })
    for (const writer of ['A', '-a', '.a', '..', 'a b', 'a/b', 'a_b', 'é', 'a\n'])
      await check('policy', { writer }, 'RECEIPT_MALFORMED')
  })

  it('of an origin are valid names of a ledger', async () => {
    for (const ledger of ['a b', 'a+b', '', ' ', 'a\u00a0b'])
      await check('policy', { ledger }, 'RECEIPT_MALFORMED')
  })

  it('of counts are whole, not negative, and bounded', async () => {
    for (const seq of [0, 1, Number.MAX_SAFE_INTEGER]) await check('policy', { seq })
    for (const seq of [-1, 0.5, '0', true, 1e21]) await check('policy', { seq }, 'RECEIPT_MALFORMED')
    await check('decision', { risk_accumulation_window: 10_000 })
    await check('decision', { risk_accumulation_window: 10_001 }, 'RECEIPT_MALFORMED')
  })

  it('of hashes are 64 lower-case digits', async () => {
    const good = hashOf('x')
    for (const hash of [
      good.toUpperCase(),
      good.slice(1),
      `${good}0`,
      `${good}\n`,
      'g'.repeat(64),
      ` ${good.slice(1)}`,
    ])
      await check('policy', { policy_hash: hash }, 'RECEIPT_MALFORMED')
  })

  it('of timestamps are real days and times in one form', async () => {
    const good = [
      '2026-01-31T23:59:59.999Z',
      '2024-02-29T00:00:00.000Z',
      '2000-02-29T00:00:00.000Z',
      '2026-04-30T12:00:00.000Z',
    ]
    for (const time of good) {
      await check('policy', { time })
      expect(new Date(time).toISOString()).toBe(time)
    }
    const bad = [
      ...[
        '2026-02-29T00:00:00.000Z',
        '1900-02-29T00:00:00.000Z',
        '2026-04-31T00:00:00.000Z',
        '2026-13-01T00:00:00.000Z',
      ],
      ...[
        '2026-00-01T00:00:00.000Z',
        '2026-01-00T00:00:00.000Z',
        '2026-01-32T00:00:00.000Z',
        '2026-01-01T24:00:00.000Z',
      ],
      ...[
        '2026-01-01T23:60:00.000Z',
        '2026-01-01T23:59:60.000Z',
        '2026-01-01T00:00:00Z',
        '2026-01-01T00:00:00.00Z',
      ],
      ...[
        '2026-01-01T00:00:00.000',
        '2026-01-01T00:00:00.000+00:00',
        '2026-01-01 00:00:00.000Z',
        '2026-01-01t00:00:00.000z',
      ],
      ...[
        '+002026-01-01T00:00:00.000Z',
        '26-01-01T00:00:00.000Z',
        '2026-01-01T00:00:00.000Z\n',
        '2026-1-1T00:00:00.000Z',
      ],
    ]
    for (const time of bad) await check('policy', { time }, 'RECEIPT_MALFORMED')
  })

  it('of timestamps know the length of every month', () => {
    const outcome = (year: number, month: number, day: number): string => {
      const [m, d] = [month, day].map((part) => String(part).padStart(2, '0'))
      const receipt = sampleOf('policy', key.publicKey, {
        time: `${year}-${m ?? ''}-${d ?? ''}T00:00:00.000Z`,
      })
      return outcomeOf(() => encodeReceipt(receipt))
    }
    for (const year of [1900, 1999, 2000, 2023, 2024, 2100])
      for (let month = 1; month <= 12; month++) {
        const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
        expect(outcome(year, month, last), `${year}-${month}`).toBe('accepted')
        expect(outcome(year, month, last + 1), `${year}-${month}`).toBe('RECEIPT_MALFORMED')
      }
  })

  it('of decimals have four places', async () => {
    for (const score of ['0.0000', '0.3800', '12.0000', '-1.5000', '9999999999.9999'])
      await check('decision', { trajectory_risk_score: score })
    for (const score of [
      '0',
      '0.38',
      '0.38000',
      '.3800',
      '00.3800',
      '+0.3800',
      '0,3800',
      '1e0',
      '0.3800 ',
      '12345678901.0000',
      0.38,
    ])
      await check('decision', { trajectory_risk_score: score }, 'RECEIPT_MALFORMED')
  })

  it('of keys are 32 bytes in base64', async () => {
    const good = toBase64(key.publicKey.bytes)
    for (const text of [
      good.slice(0, -1),
      `${good}=`,
      toBase64(new Uint8Array(31)),
      toBase64(new Uint8Array(33)),
      `${'A'.repeat(42)}B=`,
    ])
      await check('key', { public_key: text }, 'RECEIPT_MALFORMED')
  })

  it('of causes are at most 16, each once', async () => {
    const causes = Array.from({ length: 17 }, (_, i) => hashOf(`cause ${i}`))
    await check('policy', { causes: causes.slice(1) })
    await check('policy', { causes }, 'RECEIPT_MALFORMED')
    await check('policy', { causes: [hashOf('a'), hashOf('b'), hashOf('a')] }, 'RECEIPT_MALFORMED')
    await check('policy', { causes: [hashOf('a'), 'b'] }, 'RECEIPT_MALFORMED')
  })

  it('of closed lists are words of the list', async () => {
    await check('decision', { door: 'window' }, 'RECEIPT_MALFORMED')
    await check('decision', { rung: 'signing' }, 'RECEIPT_MALFORMED')
    await check('decision', { effect_class: 'destroy' }, 'RECEIPT_MALFORMED')
    await check('decision', { verdict: 'allow' }, 'RECEIPT_MALFORMED')
    await check('token', { role: 'root' }, 'RECEIPT_MALFORMED')
    await check('genesis', { commit: 'raw' }, 'RECEIPT_MALFORMED')
  })

  it('of reasons are codes of the table', async () => {
    for (const code of ['NO_SUCH_CODE', 'rule_allowed', 'constructor', '__proto__', 'toString', ''])
      await check('decision', { reason_code: code }, 'RECEIPT_MALFORMED')
  })

  it('inside other fields are checked in the same way', async () => {
    const { session, browser } = sampleOf('decision', key.publicKey)
    await check('decision', { session: { ...session, extra: 1 } }, 'RECEIPT_MALFORMED')
    await check('decision', { session: { id: 's1' } }, 'RECEIPT_MALFORMED')
    await check('decision', { session: { ...session, seq: -1 } }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { sentinel_findings: [] } })
    await check('decision', { browser: {} }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { ...browser, page: 'text' } }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { ...browser, destination_host: 'x'.repeat(260) } })
    await check(
      'decision',
      { browser: { ...browser, destination_host: 'x'.repeat(261) } },
      'RECEIPT_MALFORMED',
    )
    await check('decision', { browser: { ...browser, page_host: 'x'.repeat(261) } }, 'RECEIPT_MALFORMED')
    for (const name of ['seen_hash', 'approved_hash'])
      await check('decision', { browser: { ...browser, [name]: 'a page' } }, 'RECEIPT_MALFORMED')
    await check('approval', { because: 'x'.repeat(500) })
    for (const because of ['', 'x'.repeat(501), 'two\nlines'])
      await check('approval', { because }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { ...browser, sentinel_risk: 101 } }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { ...browser, sentinel_findings: ['lower'] } }, 'RECEIPT_MALFORMED')
    await check('decision', { browser: { ...browser, sentinel_findings: ['A', 'A'] } }, 'RECEIPT_MALFORMED')
    const findings = Array.from({ length: 33 }, (_, i) => `F${i}`)
    await check('decision', { browser: { ...browser, sentinel_findings: findings.slice(1) } })
    await check('decision', { browser: { ...browser, sentinel_findings: findings } }, 'RECEIPT_MALFORMED')
    await check('genesis', { succeeds: { ledger: 'lost' } }, 'RECEIPT_MALFORMED')
  })
})

describe('contradictions', () => {
  const denied = { verdict: 'DENY', reason_code: 'NO_RULE_MATCHED' }

  /** The sample decision as an enforced one: no `expires`, and `approval` only with a matching reason. */
  async function checkEnforced(changes: Changes, code = 'accepted'): Promise<void> {
    const { approval, elevation, next_scope_hash, browser, ...bare } = without(
      'decision',
      'expires',
    ) as Decision
    const reason = changes.reason_code ?? bare.reason_code
    const approved = reason === 'APPROVAL_GRANTED' ? { approval, elevation, next_scope_hash, browser } : {}
    const observed = reason === 'OBSERVE_MODE_ALLOWED' ? { rule: 'observe', effect_class: 'read' } : {}
    const advised = {
      door: 'hook',
      assurance: 'advised',
      rung: 'policy',
      expires: '2026-02-01T00:15:00.000Z',
    }
    const receipt = {
      ...bare,
      ...approved,
      ...observed,
      ...(reason === 'ASKED_IN_CLIENT' ? advised : { assurance: 'enforced' }),
      ...changes,
    } as unknown as Receipt
    expect(
      outcomeOf(() => encodeReceipt(receipt)),
      JSON.stringify(changes),
    ).toBe(code)
    const envelope = await envelopeOf(canonicalBytes(receipt))
    expect(outcomeOf(() => parseReceipt(envelope))).toBe(code)
  }

  it('a decision has the verdict of its reason, for every code and every verdict', async () => {
    for (const [code, { verdict }] of Object.entries(REASONS))
      for (const claimed of VERDICTS)
        await checkEnforced(
          { verdict: claimed, reason_code: code },
          claimed === verdict ? 'accepted' : 'RECEIPT_MALFORMED',
        )
  })

  it('a decision expires if it is an advised ALLOW, and only then', async () => {
    const expires = '2026-02-01T00:00:59.000Z'
    await check('decision', {})
    await checkEnforced({ assurance: 'advised', expires })
    await checkEnforced({ assurance: 'advised' }, 'RECEIPT_MALFORMED')
    await checkEnforced({})
    await checkEnforced({ expires }, 'RECEIPT_MALFORMED')
    for (const assurance of ['enforced', 'advised']) {
      await checkEnforced({ ...denied, assurance })
      await checkEnforced({ ...denied, assurance, expires }, 'RECEIPT_MALFORMED')
    }
  })

  it('a freeze has `denials` only when it is lifted', async () => {
    await check('freeze', { frozen: false, denials: 12 })
    await check('freeze', { frozen: true, denials: 12 }, 'RECEIPT_MALFORMED')
  })

  it('a `blocked` receipt names hosts first, then counts', async () => {
    await check('blocked', {})
    await check('blocked', { requests: 23 })
    await check('blocked', { requests: 22 }, 'RECEIPT_MALFORMED')
    await check('blocked', { hosts: [] }, 'RECEIPT_MALFORMED')
    await check('blocked', { hosts: ['collect.example'] }, 'RECEIPT_MALFORMED')
    await check('blocked', { pages: 2 }, 'RECEIPT_MALFORMED')
    expect(outcomeOf(() => encodeReceipt(without('blocked', 'page_host')))).toBe('accepted')
  })

  it('a decision without a policy is a DENY', async () => {
    await checkEnforced({ policy_hash: NO_HASH }, 'RECEIPT_MALFORMED')
    await checkEnforced({ ...denied, policy_hash: NO_HASH })
    const escalated = { verdict: 'ESCALATE', reason_code: 'TOOL_NOT_PINNED' }
    await checkEnforced(escalated)
    await checkEnforced({ ...escalated, policy_hash: NO_HASH }, 'RECEIPT_MALFORMED')
  })

  it('a decision names an approval for APPROVAL_GRANTED and no other reason', async () => {
    const approval = hashOf('approval')
    expect(outcomeOf(() => encodeReceipt(without('decision', 'approval')))).toBe('RECEIPT_MALFORMED')
    await checkEnforced({ reason_code: 'APPROVAL_GRANTED', approval })
    for (const [code, { verdict }] of Object.entries(REASONS))
      if (code !== 'APPROVAL_GRANTED')
        await checkEnforced({ verdict, reason_code: code, approval }, 'RECEIPT_MALFORMED')
  })

  it('only the policy leaves the answer to a client, at the hook door and advised', async () => {
    const asked = { reason_code: 'ASKED_IN_CLIENT' }
    await checkEnforced(asked)
    for (const other of [{ door: 'sdk' }, { rung: 'egress' }, { assurance: 'enforced' }])
      await checkEnforced({ ...asked, ...other }, 'RECEIPT_MALFORMED')
  })

  it('a decision has `asks` only with ESCALATE', async () => {
    const asks = ['egress EGRESS_APPROVAL_REQUIRED', 'taint TAINT_APPROVAL_REQUIRED personal']
    await checkEnforced({ verdict: 'ESCALATE', reason_code: 'EGRESS_APPROVAL_REQUIRED', asks })
    await checkEnforced({ asks }, 'RECEIPT_MALFORMED')
    await checkEnforced({ ...denied, asks }, 'RECEIPT_MALFORMED')
  })

  it('a decision has `approved_hash` only with an approval', async () => {
    const { browser } = sampleOf('decision', key.publicKey)
    await checkEnforced({ browser })
    await checkEnforced({ ...denied, browser }, 'RECEIPT_MALFORMED')
    await checkEnforced({ ...denied, browser: { sentinel_findings: [], seen_hash: NO_HASH } })
  })

  it('a decision raises a tier only with an approval at the step `privilege`', async () => {
    const elevation = { tier: 'elevated', until: '2026-02-01T00:15:00.000Z' }
    await checkEnforced({ elevation })
    await checkEnforced({ rung: 'policy', elevation }, 'RECEIPT_MALFORMED')
    await checkEnforced({ ...denied, elevation }, 'RECEIPT_MALFORMED')
  })

  it('a decision names the rule `observe` exactly if observe mode allowed it, and never for an excluded effect class', async () => {
    const observed = { reason_code: 'OBSERVE_MODE_ALLOWED', verdict: 'ALLOW', rule: 'observe' }
    for (const effect_class of EFFECT_CLASSES) {
      const never = ['delete', 'pay', 'admin'].includes(effect_class)
      await checkEnforced({ ...observed, effect_class }, never ? 'RECEIPT_MALFORMED' : 'accepted')
    }
    await checkEnforced({ ...observed, rule: 'reading' }, 'RECEIPT_MALFORMED')
    await checkEnforced({ rule: 'observe' }, 'RECEIPT_MALFORMED')
    await checkEnforced({ ...denied, rule: 'observe' }, 'RECEIPT_MALFORMED')
  })

  it('observe mode is limited to one day and to existing doors', () => {
    const observe = (changes: Changes): string =>
      outcomeOf(() => encodeReceipt({ ...sampleOf('observe', key.publicKey), ...changes }))
    const time = '2026-01-31T12:00:00.000Z'
    expect(observe({ time, until: '2026-02-01T12:00:00.000Z' })).toBe('accepted')
    expect(observe({ time, until: '2026-02-01T12:00:00.001Z' })).toBe('RECEIPT_MALFORMED')
    expect(observe({ scope: 'door', target: 'mcp' })).toBe('accepted')
    expect(observe({ scope: 'door', target: 'window' })).toBe('RECEIPT_MALFORMED')
    expect(observe({ scope: 'session' })).toBe('RECEIPT_MALFORMED')
  })

  it('an effect has a cause if it is UNKNOWN, a hash if it is COMPLETED, and is late only if it ended', () => {
    const { effect_hash, late, ...bare } = sampleOf('effect', key.publicKey)
    const effect = (changes: Changes): string => outcomeOf(() => encodeReceipt({ ...bare, ...changes }))
    for (const [changes, code] of [
      [{ status: 'COMPLETED', effect_hash, late }, 'accepted'],
      [{ status: 'COMPLETED', effect_hash }, 'accepted'],
      [{ status: 'COMPLETED' }, 'RECEIPT_MALFORMED'],
      [{ status: 'COMPLETED', effect_hash, cause: 'lost' }, 'RECEIPT_MALFORMED'],
      [{ status: 'FAILED' }, 'accepted'],
      [{ status: 'FAILED', effect_hash, late }, 'accepted'],
      [{ status: 'FAILED', cause: 'timeout' }, 'RECEIPT_MALFORMED'],
      [{ status: 'UNKNOWN', cause: 'crash' }, 'accepted'],
      [{ status: 'UNKNOWN' }, 'RECEIPT_MALFORMED'],
      [{ status: 'UNKNOWN', cause: 'crash', effect_hash }, 'RECEIPT_MALFORMED'],
      [{ status: 'UNKNOWN', cause: 'crash', late }, 'RECEIPT_MALFORMED'],
      [{ status: 'CANCELLED' }, 'accepted'],
      [{ status: 'CANCELLED', effect_hash }, 'RECEIPT_MALFORMED'],
      [{ status: 'CANCELLED', late }, 'RECEIPT_MALFORMED'],
      [{ status: 'CANCELLED', cause: 'lost' }, 'RECEIPT_MALFORMED'],
      [{ status: 'COMPLETED', effect_hash, late: false }, 'RECEIPT_MALFORMED'],
    ] as const)
      expect(effect(changes), JSON.stringify(changes)).toBe(code)
  })

  it('a session receipt has all members of a scope or none, and the number of decisions', () => {
    const { scope_hash, scope, next_state_hash, by, decisions, ...rest } = sampleOf('session', key.publicKey)
    const whole = { scope_hash, scope, next_state_hash, by, decisions }
    const [because, trust] = ['A person has looked at it.', '500.0000']
    const outcome = (changes: Changes): string => outcomeOf(() => encodeReceipt({ ...rest, ...changes }))
    for (const [changes, code] of [
      [{ op: 'open' }, 'accepted'],
      [{ op: 'open', scope_hash }, 'accepted'],
      [{ op: 'open', ...whole }, 'accepted'],
      [{ op: 'scope', ...whole }, 'accepted'],
      [{ op: 'close', decisions }, 'accepted'],
      [{ op: 'close', decisions, by, because }, 'accepted'],
      [{ op: 'reset', next_state_hash, decisions, by, because }, 'accepted'],
      [{ op: 'trust', trust, by, because }, 'accepted'],
      [{ op: 'close', decisions, because }, 'RECEIPT_MALFORMED'],
      [{ op: 'reset', next_state_hash, decisions, by }, 'RECEIPT_MALFORMED'],
      [{ op: 'reset', decisions, by, because }, 'RECEIPT_MALFORMED'],
      [{ op: 'reset', next_state_hash, decisions, by, because, trust }, 'RECEIPT_MALFORMED'],
      [{ op: 'trust', by, because }, 'RECEIPT_MALFORMED'],
      [{ op: 'trust', trust, by }, 'RECEIPT_MALFORMED'],
      [{ op: 'scope', ...whole, because }, 'RECEIPT_MALFORMED'],
      [{ op: 'open', decisions }, 'RECEIPT_MALFORMED'],
      [{ op: 'open', by }, 'RECEIPT_MALFORMED'],
      [{ op: 'scope' }, 'RECEIPT_MALFORMED'],
      [{ op: 'scope', scope_hash }, 'RECEIPT_MALFORMED'],
      [{ op: 'close' }, 'RECEIPT_MALFORMED'],
      [{ op: 'close', ...whole }, 'RECEIPT_MALFORMED'],
    ] as const)
      expect(outcome(changes), JSON.stringify(changes)).toBe(code)
  })

  it('only a granted approval widens a scope, and only a decision with an approval does', () => {
    expect(
      outcomeOf(() => encodeReceipt({ ...sampleOf('approval', key.publicKey), answer: 'REFUSED' })),
    ).toBe('RECEIPT_MALFORMED')
    const { approval, ...decision } = sampleOf('decision', key.publicKey)
    expect(approval).toBeDefined()
    expect(outcomeOf(() => encodeReceipt({ ...decision, reason_code: 'RULE_ALLOWED' }))).toBe(
      'RECEIPT_MALFORMED',
    )
  })

  it.each([
    ['freeze', 'target', { scope: 'all' }, { scope: 'session' }],
    ['key', 'of', { role: 'ledger' }, { role: 'writer' }],
    ['observe', 'until', { on: false }, { on: true }],
  ] as const)('a %s receipt has `%s` exactly when it needs it', (kind, field, forbids, needs) => {
    const outcome = (receipt: Receipt, changes: Changes): string =>
      outcomeOf(() => encodeReceipt({ ...receipt, ...changes }))
    const sample = sampleOf(kind, key.publicKey)
    expect(outcome(sample, needs)).toBe('accepted')
    expect(outcome(sample, forbids)).toBe('RECEIPT_MALFORMED')
    expect(outcome(without(kind, field), forbids)).toBe('accepted')
    expect(outcome(without(kind, field), needs)).toBe('RECEIPT_MALFORMED')
  })
})

describe('signatures', () => {
  it('must be made by the key that the receipt names', async () => {
    const receipt = sampleOf('policy', key.publicKey)
    const envelope = await envelopeOf(canonicalBytes(receipt), other, key.publicKey.id)
    expect(await outcomeOfAsync(openReceipt(envelope, () => key.publicKey))).toBe('RECEIPT_SIGNATURE_WRONG')
    expect(await signatureHolds(parseReceipt(envelope), key.publicKey)).toBe(false)
    const { envelope: good } = await sealReceipt(receipt, key)
    expect(await outcomeOfAsync(openReceipt(good, () => other.publicKey))).toBe('RECEIPT_SIGNATURE_WRONG')
  })

  it('need a known key', async () => {
    const { envelope } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    expect(await outcomeOfAsync(openReceipt(envelope, () => undefined))).toBe('KEY_UNAVAILABLE')
    await expect(openReceipt(envelope, () => undefined)).rejects.toThrow(key.publicKey.id)
  })

  it('are not made by a key that the receipt does not name', async () => {
    const receipt = sampleOf('policy', key.publicKey)
    expect(await outcomeOfAsync(sealReceipt(receipt, other))).toBe('RECEIPT_MALFORMED')
    expect(await outcomeOfAsync(sealEncoded(encodeReceipt(receipt), other))).toBe('RECEIPT_MALFORMED')
  })

  it('can be made after encoding, with the same result', async () => {
    const receipt = sampleOf('decision', key.publicKey)
    const later = await sealEncoded(encodeReceipt(receipt), key)
    const once = await sealReceipt(receipt, key)
    expect(toHex(later.envelope)).toBe(toHex(once.envelope))
    expect(later.id).toBe(once.id)
  })

  it('are invalid for another payload type', async () => {
    const payload = canonicalBytes(sampleOf('policy', key.publicKey))
    const type = 'application/vnd.tollgate.receipt+json;v=2'
    const foreign = await key.sign(concat(utf8(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload))
    const text = await envelopeOf(payload)
    const swapped = text.replace(/"sig":"[^"]*"/, `"sig":"${toBase64(foreign)}"`)
    expect(await outcomeOfAsync(openReceipt(swapped, () => key.publicKey))).toBe('RECEIPT_SIGNATURE_WRONG')
    const bare = text.replace(/"sig":"[^"]*"/, `"sig":"${toBase64(await key.sign(payload))}"`)
    expect(await outcomeOfAsync(openReceipt(bare, () => key.publicKey))).toBe('RECEIPT_SIGNATURE_WRONG')
  })

  it('have one form: S plus the group order is refused', async () => {
    const { envelope } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    const { signature } = parseReceipt(envelope)
    const twin = concat(signature.subarray(0, 32), bytesOf(littleEndian(signature.subarray(32)) + L))
    const text = new TextDecoder().decode(envelope).replace(toBase64(signature), toBase64(twin))
    expect(await outcomeOfAsync(openReceipt(text, () => key.publicKey))).toBe('RECEIPT_SIGNATURE_WRONG')
  })

  it('find every flipped bit of an envelope', async () => {
    const { envelope } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    for (let bit = 0; bit < envelope.length * 8; bit++) {
      const flipped = Uint8Array.from(envelope)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const outcome = await outcomeOfAsync(openReceipt(flipped, () => key.publicKey))
      expect(outcome, `bit ${bit}`).not.toBe('accepted')
    }
  })

  it('are refused on every truncation of an envelope', async () => {
    const { envelope } = await sealReceipt(sampleOf('policy', key.publicKey), key)
    for (let length = 0; length < envelope.length; length++)
      expect(outcomeOf(() => parseReceipt(envelope.subarray(0, length)))).toBe('RECEIPT_MALFORMED')
  })
})
