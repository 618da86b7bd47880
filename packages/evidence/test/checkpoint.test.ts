import { beforeAll, describe, expect, it } from 'vitest'
import { concat, toBase64, toHex, utf8 } from '../src/bytes.ts'
import {
  cosignCheckpoint,
  isOrigin,
  openCheckpoint,
  parseCheckpoint,
  sealCheckpoint,
  type CheckpointKeys,
} from '../src/checkpoint.ts'
import { sha256 } from '../src/hash.ts'
import type { SigningKey } from '../src/keys.ts'
import { formatNote, noteKey, parseNote, parseVkey, signNote, type NoteSignature } from '../src/note.ts'
import { ORIGIN, outcomeOf, outcomeOfAsync, signingKey } from './samples.ts'

const HEAD = { origin: ORIGIN, size: 12, root: sha256('root') }
const TEXT = `${ORIGIN}\n12\n${toBase64(HEAD.root)}\n`
const TIME = 1_769_903_999

let ledger: SigningKey
let witness: SigningKey
let stranger: SigningKey
let keys: CheckpointKeys
let sealed: string
let cosigned: string

beforeAll(async () => {
  ledger = await signingKey(1)
  witness = await signingKey(2)
  stranger = await signingKey(3)
  keys = {
    ledger: [noteKey(ORIGIN, ledger.publicKey)],
    witnesses: [noteKey('witness.example/w1', witness.publicKey, 4)],
  }
  sealed = await sealCheckpoint(HEAD, [ledger])
  cosigned = await cosignCheckpoint(sealed, { name: 'witness.example/w1', key: witness }, TIME)
})

/** Expects the checkpoint to be refused with this code, as text and as bytes. */
async function refuses(code: string, checkpoint: string, under = keys): Promise<void> {
  expect(await outcomeOfAsync(openCheckpoint(checkpoint, under)), checkpoint).toBe(code)
  expect(await outcomeOfAsync(openCheckpoint(utf8(checkpoint), under))).toBe(code)
}

/** The checkpoint with its signature lines changed. */
function withSignatures(
  checkpoint: string,
  change: (signatures: readonly NoteSignature[]) => readonly NoteSignature[],
): string {
  const note = parseNote(checkpoint)
  return formatNote({ ...note, signatures: change(note.signatures) })
}

function flipped(bytes: Uint8Array, at = bytes.length - 1): Uint8Array {
  return Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte))
}

describe('a sealed checkpoint', () => {
  it('is the text of C2SP tlog-checkpoint and a signature line', () => {
    expect(sealed.startsWith(`${TEXT}\n— ${ORIGIN} `)).toBe(true)
    expect(parseNote(sealed).text).toBe(TEXT)
  })

  it('opens under the key that sealed it', async () => {
    const opened = await openCheckpoint(sealed, keys)
    expect({ ...opened, root: toHex(opened.root) }).toEqual({
      origin: ORIGIN,
      size: 12,
      root: toHex(HEAD.root),
      signedBy: [ledger.publicKey.id],
      cosignedBy: [],
      unknown: 0,
    })
    expect(await openCheckpoint(utf8(sealed), keys)).toEqual(opened)
  })

  it('opens for the empty ledger and for the largest', async () => {
    for (const size of [0, 1, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      const checkpoint = await sealCheckpoint({ ...HEAD, size }, [ledger])
      expect((await openCheckpoint(checkpoint, keys)).size).toBe(size)
    }
  })

  it('opens for a ledger with the longest name', async () => {
    const origin = 'x'.repeat(120)
    const checkpoint = await sealCheckpoint({ ...HEAD, origin }, [ledger])
    expect((await openCheckpoint(checkpoint, { ledger: [noteKey(origin, ledger.publicKey)] })).origin).toBe(
      origin,
    )
  })

  it('names every ledger key that signed', async () => {
    const both = await sealCheckpoint(HEAD, [ledger, stranger])
    const known = { ledger: [noteKey(ORIGIN, stranger.publicKey), noteKey(ORIGIN, ledger.publicKey)] }
    expect((await openCheckpoint(both, known)).signedBy).toEqual([ledger.publicKey.id, stranger.publicKey.id])
    expect(await openCheckpoint(both, keys)).toMatchObject({ signedBy: [ledger.publicKey.id], unknown: 1 })
  })

  it('is not made for a ledger with an invalid name', async () => {
    for (const origin of ['', 'a b', 'a+b', 'a\nb', 'x'.repeat(121)]) {
      expect(isOrigin(origin)).toBe(false)
      expect(await outcomeOfAsync(sealCheckpoint({ ...HEAD, origin }, [ledger]))).toBe('CHECKPOINT_MALFORMED')
    }
  })
})

describe('a published checkpoint', () => {
  // A static CT log of transparency.dev, with a signature of another type and four cosignatures.
  const published = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
`
  const known = {
    ledger: [
      'arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f',
    ].map(parseVkey),
    witnesses: [
      'transparency.dev/DEV:witness-little-garden+d8042a87+BCtusOxINQNUTN5Oj8HObRkh2yHf/MwYaGX4CPdiVEPM',
      'witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO',
      'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2',
      'witness.stagemole.eu+67f7aea0+BEqSG3yu9YrmcM3BHvQYTxwFj3uSWakQepafafpUqklv',
    ].map(parseVkey),
  }

  it('opens under the published keys of its log and its witnesses', async () => {
    const opened = await openCheckpoint(published, known)
    expect(opened.size).toBe(1_432_088_532)
    expect(opened.signedBy).toEqual(known.ledger.map(({ key }) => key.id))
    expect(opened.cosignedBy).toEqual(known.witnesses.map(({ name }) => ({ name, time: 0x6a122120 })))
    expect(opened.unknown).toBe(1)
  })

  it('is refused when anything in its text is changed', async () => {
    await refuses('NOTE_SIGNATURE_WRONG', published.replace('1432088532', '1432088533'), known)
    await refuses('NOTE_SIGNATURE_WRONG', published.replace('U7WM', 'V7WM'), known)
  })
})

describe('parsing', () => {
  const line = `— ${ORIGIN} AAAAAAE=\n`
  const textOf = (...lines: readonly string[]): string => `${lines.join('\n')}\n\n${line}`
  const root = toBase64(HEAD.root)

  function malformed(...checkpoints: readonly string[]): void {
    for (const checkpoint of checkpoints)
      expect(
        outcomeOf(() => parseCheckpoint(checkpoint)),
        checkpoint,
      ).toBe('CHECKPOINT_MALFORMED')
  }

  it('reads a head without verifying it', () => {
    const { origin, size, root: read, note } = parseCheckpoint(textOf(ORIGIN, '12', root))
    expect([origin, size, toHex(read)]).toEqual([ORIGIN, 12, toHex(HEAD.root)])
    expect(note.signatures.length).toBe(1)
  })

  it('refuses sizes in any other form', () => {
    for (const size of ['0', '1', '10', '9007199254740991'])
      expect(parseCheckpoint(textOf(ORIGIN, size, root)).size).toBe(Number(size))
    const sizes = [
      '',
      '00',
      '01',
      '+1',
      '-1',
      '-0',
      '1.0',
      '1e3',
      '0x1',
      ' 1',
      '1 ',
      '1_000',
      '１',
      'NaN',
      'Infinity',
    ]
    malformed(...sizes.map((size) => textOf(ORIGIN, size, root)))
    malformed(
      ...['9007199254740992', '10000000000000000', '18446744073709551616'].map((size) =>
        textOf(ORIGIN, size, root),
      ),
    )
  })

  it('refuses a root that is not 32 bytes in base64', () => {
    const roots = [
      toBase64(HEAD.root.subarray(1)),
      toBase64(concat(HEAD.root, HEAD.root)),
      toHex(HEAD.root),
      root.slice(0, -1),
    ]
    malformed(
      ...['', ...roots, ` ${root}`, `${root} `, root.replace('=', '')].map((other) =>
        textOf(ORIGIN, '12', other),
      ),
    )
  })

  it('refuses an origin that cannot name a key', () => {
    malformed(...['', ' ', 'a b', 'a+b', 'go.sum database tree'].map((origin) => textOf(origin, '12', root)))
  })

  it('refuses extension lines and missing lines', () => {
    malformed(
      textOf(ORIGIN, '12', root, 'extension'),
      textOf(ORIGIN, '12', root, ''),
      textOf(ORIGIN, '12'),
      textOf(ORIGIN),
    )
    malformed(textOf('', ORIGIN, '12', root), textOf(ORIGIN, '', '12', root))
  })

  it('refuses anything but a note', () => {
    for (const checkpoint of ['', TEXT, `${TEXT}\n`, sealed.replaceAll('\n', '\r\n'), sealed.slice(0, -1)])
      expect(outcomeOf(() => parseCheckpoint(checkpoint))).toBe('NOTE_MALFORMED')
  })
})

describe('signatures', () => {
  it('bind the origin, the size and the root', async () => {
    await refuses('NOTE_SIGNATURE_WRONG', sealed.replace('\n12\n', '\n13\n'))
    await refuses('NOTE_SIGNATURE_WRONG', sealed.replace(toBase64(HEAD.root), toBase64(flipped(HEAD.root))))
    const renamed = sealed.replace(`${ORIGIN}\n`, `${ORIGIN}x\n`)
    await refuses('CHECKPOINT_ORIGIN_WRONG', renamed)
    await refuses('NOTE_UNSIGNED', renamed, { ledger: [noteKey(`${ORIGIN}x`, ledger.publicKey)] })
  })

  it('of unknown keys are ignored and counted, also under a known name or hint', async () => {
    const { hint } = noteKey(ORIGIN, ledger.publicKey)
    const more = withSignatures(sealed, (signatures) => [
      { name: 'someone.else', hint, bytes: new Uint8Array(64) },
      { name: ORIGIN, hint: '00000000', bytes: new Uint8Array(3) },
      ...signatures,
      { name: 'someone.else', hint: '00000001', bytes: new Uint8Array(2500) },
      { name: 'someone.else', hint: '00000001', bytes: new Uint8Array(2500) },
    ])
    expect(await openCheckpoint(more, keys)).toMatchObject({ signedBy: [ledger.publicKey.id], unknown: 4 })
  })

  it('of a known key that are invalid make the checkpoint invalid', async () => {
    const { hint } = noteKey(ORIGIN, ledger.publicKey)
    const spoil = (bytes: Uint8Array): string => withSignatures(sealed, () => [{ name: ORIGIN, hint, bytes }])
    const good = parseNote(sealed).signatures[0]?.bytes ?? new Uint8Array()
    for (const bytes of [
      flipped(good),
      flipped(good, 0),
      good.subarray(0, 63),
      concat(good, Uint8Array.of(0)),
      new Uint8Array(64),
    ])
      await refuses('NOTE_SIGNATURE_WRONG', spoil(bytes))
    const both = await sealCheckpoint(HEAD, [ledger, stranger])
    const known = { ledger: [noteKey(ORIGIN, ledger.publicKey), noteKey(ORIGIN, stranger.publicKey)] }
    const half = withSignatures(both, (lines) =>
      lines.map((line, i) => (i === 1 ? { ...line, bytes: flipped(line.bytes) } : line)),
    )
    await refuses('NOTE_SIGNATURE_WRONG', half, known)
  })

  it('of a known key that come twice make the checkpoint invalid', async () => {
    await refuses(
      'NOTE_SIGNATURE_WRONG',
      withSignatures(sealed, (lines) => [...lines, ...lines]),
    )
    await refuses(
      'NOTE_SIGNATURE_WRONG',
      withSignatures(cosigned, (lines) => [...lines, ...lines.slice(1)]),
    )
  })

  it('are needed from a ledger key', async () => {
    await refuses('NOTE_UNSIGNED', await sealCheckpoint(HEAD, [stranger]))
    await refuses(
      'NOTE_UNSIGNED',
      withSignatures(cosigned, (lines) => lines.slice(1)),
    )
  })

  it('are at most 64', async () => {
    const { hint } = noteKey('other', stranger.publicKey)
    const others = (count: number): NoteSignature[] =>
      Array.from({ length: count }, () => ({ name: 'other', hint, bytes: new Uint8Array(64) }))
    const full = withSignatures(sealed, (lines) => [...lines, ...others(63)])
    expect((await openCheckpoint(full, keys)).unknown).toBe(63)
    await refuses(
      'NOTE_MALFORMED',
      withSignatures(sealed, (lines) => [...lines, ...others(64)]),
    )
  })

  it('must come from the expected ledger', async () => {
    await refuses('CHECKPOINT_ORIGIN_WRONG', sealed, {
      ledger: [noteKey('another.ledger', ledger.publicKey)],
    })
    await refuses('CHECKPOINT_ORIGIN_WRONG', sealed, { ledger: [] })
    await refuses('CHECKPOINT_ORIGIN_WRONG', sealed, { ledger: [], witnesses: keys.ledger })
  })

  it('in the form of a cosignature do not count for the ledger', async () => {
    const under = { ledger: [noteKey(ORIGIN, ledger.publicKey, 4)] }
    await refuses('NOTE_UNSIGNED', sealed, under)
    const cosignedOnly = withSignatures(
      await cosignCheckpoint(sealed, { name: ORIGIN, key: ledger }, TIME),
      (lines) => lines.slice(1),
    )
    await refuses('NOTE_UNSIGNED', cosignedOnly, under)
  })

  it('of a witness do not count for the ledger, for any algorithm of its key', async () => {
    const text = parseNote(sealed).text
    const forged = formatNote({ text, signatures: [await signNote(text, 'witness.example/w1', witness)] })
    const under = { ...keys, witnesses: [noteKey('witness.example/w1', witness.publicKey, 1)] }
    expect(await outcomeOfAsync(openCheckpoint(forged, under))).toBe('NOTE_UNSIGNED')
  })

  it('of one known ledger do not count for another', async () => {
    const text = parseNote(sealed).text
    const forged = formatNote({ text, signatures: [await signNote(text, 'another.ledger', stranger)] })
    const under = { ledger: [...keys.ledger, noteKey('another.ledger', stranger.publicKey)] }
    expect(await outcomeOfAsync(openCheckpoint(forged, under))).toBe('NOTE_UNSIGNED')
  })
})

describe('cosignatures', () => {
  it('name the witness and its time', async () => {
    const opened = await openCheckpoint(cosigned, keys)
    expect(opened.cosignedBy).toEqual([{ name: 'witness.example/w1', time: TIME }])
    expect(opened.signedBy).toEqual([ledger.publicKey.id])
    expect(opened.unknown).toBe(0)
  })

  it('count as unknown keys if no witness is known', async () => {
    expect(await openCheckpoint(cosigned, { ledger: keys.ledger })).toMatchObject({
      cosignedBy: [],
      unknown: 1,
    })
  })

  it('sign the message of C2SP tlog-cosignature', async () => {
    const [, line] = parseNote(cosigned).signatures
    const signature = await witness.sign(utf8(`cosignature/v1\ntime ${TIME}\n${TEXT}`))
    const time = new Uint8Array(8)
    new DataView(time.buffer).setBigUint64(0, BigInt(TIME))
    expect(toHex(line?.bytes ?? new Uint8Array())).toBe(toHex(concat(time, signature)))
  })

  it('leave earlier signatures unchanged', () => {
    expect(cosigned.startsWith(sealed)).toBe(true)
  })

  it('come from several witnesses', async () => {
    const second = await cosignCheckpoint(cosigned, { name: 'witness.example/w2', key: stranger }, TIME + 5)
    const under = {
      ledger: keys.ledger,
      witnesses: [...(keys.witnesses ?? []), noteKey('witness.example/w2', stranger.publicKey, 4)],
    }
    expect((await openCheckpoint(second, under)).cosignedBy).toEqual([
      { name: 'witness.example/w1', time: TIME },
      { name: 'witness.example/w2', time: TIME + 5 },
    ])
  })

  it('bind the time', async () => {
    for (const at of [0, 4, 7]) {
      const changed = withSignatures(cosigned, (lines) =>
        lines.map((line, i) => (i === 1 ? { ...line, bytes: flipped(line.bytes, at) } : line)),
      )
      await refuses('NOTE_SIGNATURE_WRONG', changed)
    }
  })

  it('are 72 bytes', async () => {
    for (const change of [
      (b: Uint8Array) => b.subarray(8),
      (b: Uint8Array) => b.subarray(0, 71),
      (b: Uint8Array) => concat(b, b),
    ]) {
      const changed = withSignatures(cosigned, (lines) =>
        lines.map((line, i) => (i === 1 ? { ...line, bytes: change(line.bytes) } : line)),
      )
      await refuses('NOTE_SIGNATURE_WRONG', changed)
    }
  })

  it('have a time that is a safe integer', async () => {
    for (const time of [0, Number.MAX_SAFE_INTEGER]) {
      const checkpoint = await cosignCheckpoint(sealed, { name: 'witness.example/w1', key: witness }, time)
      expect((await openCheckpoint(checkpoint, keys)).cosignedBy).toEqual([
        { name: 'witness.example/w1', time },
      ])
    }
    const beyond = new Uint8Array(8)
    new DataView(beyond.buffer).setBigUint64(0, 2n ** 53n)
    const signature = await witness.sign(utf8(`cosignature/v1\ntime ${2n ** 53n}\n${TEXT}`))
    const { hint } = noteKey('witness.example/w1', witness.publicKey, 4)
    const late = withSignatures(sealed, (lines) => [
      ...lines,
      { name: 'witness.example/w1', hint, bytes: concat(beyond, signature) },
    ])
    await refuses('NOTE_SIGNATURE_WRONG', late)
  })

  it('are not the plain signature of the same key', async () => {
    const { hint } = noteKey('witness.example/w1', witness.publicKey, 4)
    const bytes = concat(new Uint8Array(8), await witness.sign(utf8(TEXT)))
    const plain = withSignatures(sealed, (lines) => [...lines, { name: 'witness.example/w1', hint, bytes }])
    await refuses('NOTE_SIGNATURE_WRONG', plain)
  })

  it('are valid only for this checkpoint', async () => {
    const other = await cosignCheckpoint(
      await sealCheckpoint({ ...HEAD, size: 13 }, [ledger]),
      { name: 'witness.example/w1', key: witness },
      TIME,
    )
    const moved = withSignatures(sealed, (lines) => [...lines, ...parseNote(other).signatures.slice(1)])
    await refuses('NOTE_SIGNATURE_WRONG', moved)
  })

  it('are not made for an invalid note or an invalid name', async () => {
    expect(await outcomeOfAsync(cosignCheckpoint(TEXT, { name: 'w', key: witness }, TIME))).toBe(
      'NOTE_MALFORMED',
    )
    expect(await outcomeOfAsync(cosignCheckpoint(sealed, { name: 'a b', key: witness }, TIME))).toBe(
      'NOTE_MALFORMED',
    )
  })
})
