import { describe, expect, it } from 'vitest'
import {
  cosignCheckpoint,
  EvidenceError,
  formatTrust,
  formatVkey,
  noteKey,
  parseTrust,
  sealCheckpoint,
  sha256,
  toBase64,
  toHex,
  type Json,
} from '../src/index.ts'
import { fixedKey } from './ledger.ts'

const LEDGER = 'ledger.example/demo'
const [ours, others, first, second] = await Promise.all(['ours', 'others', 'first', 'second'].map(fixedKey))
if (!ours || !others || !first || !second) throw new Error('four keys were made')
const key = formatVkey(noteKey(LEDGER, ours.publicKey))
const spare = formatVkey(noteKey(LEDGER, others.publicKey))
const witness = formatVkey(noteKey('witness-1.example', first.publicKey, 4))
const another = formatVkey(noteKey('witness-2.example', second.publicKey, 4))
const head = { origin: LEDGER, size: 3, root: sha256('root') }
const checkpoint = await sealCheckpoint(head, [ours])
const FILE = { tollgate_trust: 1, ledger: LEDGER, keys: [key] } as const

function parse(fields: Readonly<Record<string, Json>>): ReturnType<typeof parseTrust> {
  return parseTrust(JSON.stringify({ ...FILE, ...fields }))
}

/** Expects the file to be refused for this reason. */
async function refuses(input: Readonly<Record<string, Json>> | string, reason: string): Promise<void> {
  const fault = await (typeof input === 'string' ? parseTrust(input) : parse(input)).catch((e: unknown) => e)
  expect(fault).toBeInstanceOf(EvidenceError)
  expect(fault).toMatchObject({ code: 'TRUST_MALFORMED', message: expect.stringContaining(reason) as string })
}

describe('a trust file', () => {
  it('names a ledger and its keys', async () => {
    const trust = await parse({ keys: [key, spare] })
    expect(trust.ledger).toBe(LEDGER)
    expect(trust.keys.map((each) => each.key.id)).toEqual([ours.publicKey.id, others.publicKey.id])
    expect(trust).toMatchObject({ witnesses: [], quorum: 0 })
    expect(trust.checkpoint).toBeUndefined()
  })

  it('names witnesses and their quorum', async () => {
    const trust = await parse({ witnesses: [witness, another], quorum: 1 })
    expect(trust.witnesses.map(({ name }) => name)).toEqual(['witness-1.example', 'witness-2.example'])
    expect(trust.quorum).toBe(1)
  })

  it('pins a checkpoint that its keys signed', async () => {
    const trust = await parse({ checkpoint })
    expect(trust.checkpoint).toMatchObject({ origin: LEDGER, size: 3, root: head.root })
  })

  it('is read as text or as bytes', async () => {
    const text = JSON.stringify(FILE)
    expect((await parseTrust(new TextEncoder().encode(text))).ledger).toBe((await parseTrust(text)).ledger)
  })

  it('is read as it was written', async () => {
    const trust = await parse({ witnesses: [witness, another], quorum: 2, checkpoint })
    const again = await parseTrust(formatTrust({ ...trust, checkpoint }))
    expect(again).toEqual(trust)
    const { ledger, keys, witnesses, quorum } = await parse({})
    const plain = { ledger, keys, witnesses, quorum }
    expect(await parseTrust(formatTrust(plain))).toEqual(plain)
  })

  describe('of version 2', () => {
    const ranged = (...keys: readonly Json[]): Readonly<Record<string, Json>> => ({ tollgate_trust: 2, keys })

    it('has the range of each key', async () => {
      const { ledger, keys, witnesses, quorum } = await parse(
        ranged({ vkey: key, from: 0, until: 9 }, { vkey: spare, from: 8 }),
      )
      const trust = { ledger, keys, witnesses, quorum }
      expect(trust.keys.map(({ from, until }) => [from, until])).toEqual([
        [0, 9],
        [8, undefined],
      ])
      expect(JSON.parse(formatTrust(trust))).toMatchObject(
        ranged({ vkey: key, from: 0, until: 9 }, { vkey: spare, from: 8 }),
      )
      expect(await parseTrust(formatTrust(trust))).toEqual(trust)
    })

    it('pins a checkpoint only of a key that was valid at its size', async () => {
      for (const range of [{ from: 0 }, { from: 3 }, { from: 0, until: 4 }])
        expect((await parse({ ...ranged({ vkey: key, ...range }), checkpoint })).checkpoint?.size).toBe(3)
      for (const range of [{ from: 4 }, { from: 0, until: 3 }])
        await refuses({ ...ranged({ vkey: key, ...range }), checkpoint }, 'not valid at size 3')
    })

    it('refuses keys of version 1, empty ranges and other fields', async () => {
      await refuses({ tollgate_trust: 2 }, '`keys`')
      await refuses({ keys: [{ vkey: key, from: 0 }] }, '`keys`')
      await refuses(ranged({ vkey: key, from: 3, until: 3 }), '`until`')
      await refuses(ranged({ vkey: key }), '`keys`')
      await refuses(ranged({ vkey: key, from: -1 }), '`keys`')
      await refuses(ranged({ vkey: key, from: 0, to: 3 }), '`keys`')
      await refuses(ranged({ vkey: key, from: 0, until: 3 }, { vkey: key, from: 5 }), 'twice')
    })
  })

  it('is written in one form', () => {
    const keys = [noteKey(LEDGER, ours.publicKey)]
    expect(formatTrust({ ledger: LEDGER, keys, witnesses: [], quorum: 0 })).toBe(
      `{\n  "tollgate_trust": 1,\n  "ledger": "${LEDGER}",\n  "keys": [\n    "${key}"\n  ]\n}\n`,
    )
  })
})

describe('a trust file is refused', () => {
  it.each(['', 'trust me', '[]', 'null', '"x"', '{}', `{"tollgate_trust":1`, `${JSON.stringify(FILE)}{}`])(
    'if it is `%s`',
    (text) => refuses(text, 'the trust file is not valid'),
  )

  it('if it has a duplicate JSON key', () =>
    refuses(`{"tollgate_trust":1,"ledger":"a","ledger":"${LEDGER}","keys":["${key}"]}`, 'not strict JSON'))

  it('if it is of another version', async () => {
    await refuses({ tollgate_trust: 3 }, '`tollgate_trust`')
    await refuses({ tollgate_trust: '1' }, '`tollgate_trust`')
  })

  it('if it has an unknown field', () => refuses({ comment: 'x' }, '`comment`'))

  it('if `ledger` is not the name of a ledger', async () => {
    for (const ledger of ['', 'a b', 'a+b', 'a\nb', 'x'.repeat(121), 7, null])
      await refuses({ ledger }, '`ledger`')
  })

  it('if it has no keys or no usable key', async () => {
    await refuses({ keys: [] }, '`keys` is empty')
    await refuses({ keys: 'x' }, '`keys`')
    await refuses({ keys: [7] }, '`keys`')
    await refuses({ keys: ['x'] }, 'a key cannot be used')
    await refuses({ keys: Array.from({ length: 17 }, () => key) }, '`keys`')
  })

  it('if the hint of a key does not match the key', () =>
    refuses({ keys: [key.replace(/\+[0-9a-f]{8}\+/, '+00000000+')] }, 'does not match its key'))

  it('if a key is weak', () => {
    const weak = Uint8Array.of(1, 1, ...new Uint8Array(31))
    const hint = toHex(sha256(new Uint8Array([...new TextEncoder().encode(`${LEDGER}\n`), ...weak]))).slice(
      0,
      8,
    )
    return refuses({ keys: [`${LEDGER}+${hint}+${toBase64(weak)}`] }, 'not of full order')
  })

  it('if a key of the ledger has another name', () =>
    refuses(
      { keys: [formatVkey(noteKey('ledger.example/other', ours.publicKey))] },
      'does not have the name in `ledger`',
    ))

  it('if a key has the wrong type', async () => {
    await refuses({ keys: [formatVkey(noteKey(LEDGER, ours.publicKey, 4))] }, 'wrong type')
    const signer = formatVkey(noteKey('witness-1.example', first.publicKey, 1))
    await refuses({ witnesses: [signer], quorum: 1 }, 'wrong type')
  })

  it('if it has one key twice, in any role and under any name', async () => {
    await refuses({ keys: [key, key] }, 'twice')
    await refuses({ witnesses: [witness, witness], quorum: 1 }, 'twice')
    const alias = formatVkey(noteKey('witness-3.example', first.publicKey, 4))
    await refuses({ witnesses: [witness, alias], quorum: 2 }, 'twice')
    const sameName = formatVkey(noteKey('witness.example/w1', (await fixedKey('namesake')).publicKey, 4))
    const named = formatVkey(noteKey('witness.example/w1', (await fixedKey('first')).publicKey, 4))
    await refuses({ witnesses: [named, sameName], quorum: 2 }, 'the same name')
    const itself = formatVkey(noteKey('witness-4.example', ours.publicKey, 4))
    await refuses({ witnesses: [itself], quorum: 1 }, 'twice')
  })

  it('if it names witnesses and no quorum', () => refuses({ witnesses: [witness] }, '`quorum` is missing'))

  it('if the quorum cannot be reached', async () => {
    await refuses({ witnesses: [witness], quorum: 2 }, '`quorum` is larger')
    await refuses({ quorum: 1 }, '`quorum` is larger')
    for (const quorum of [-1, 0.5, 65, '1', null]) await refuses({ witnesses: [witness], quorum }, '`quorum`')
  })

  it('if its checkpoint is not valid', async () => {
    const refusedFor = (text: string, reason: string): Promise<void> => refuses({ checkpoint: text }, reason)
    await refusedFor('', '`checkpoint` is not valid')
    await refusedFor(checkpoint.replace('\n3\n', '\n4\n'), '`checkpoint` is not valid')
    await refusedFor(await sealCheckpoint(head, [others]), 'no known key of the ledger signed')
    await refusedFor(
      await sealCheckpoint({ ...head, origin: 'ledger.example/other' }, [ours]),
      'not of the expected one',
    )
    await refuses({ checkpoint: 7 }, '`checkpoint`')
  })

  it('if a cosignature under its checkpoint is invalid', async () => {
    const wrong = { name: 'witness-1.example', key: first }
    const cosigned = await cosignCheckpoint(checkpoint, wrong, 1)
    const moved = cosigned.replace('\n3\n', '\n4\n')
    const resigned =
      (await sealCheckpoint({ ...head, size: 4 }, [ours])) + moved.slice(moved.lastIndexOf('— '))
    await refuses({ checkpoint: resigned, witnesses: [witness], quorum: 0 }, 'cosignature')
  })
})
