import { describe, expect, it } from 'vitest'
import { concat, fromBase64, toBase64, toHex, utf8 } from '../src/bytes.ts'
import { sha256 } from '../src/hash.ts'
import { importSigningKey, verifySignature } from '../src/keys.ts'
import { formatNote, formatVkey, isKeyName, noteKey, parseNote, parseVkey, signNote } from '../src/note.ts'
import { outcomeOf, signingKey } from './samples.ts'

/** Whether the note has a valid signature of this vkey. */
async function check(note: string, vkey: string): Promise<boolean> {
  const key = parseVkey(vkey)
  const { text, signatures } = parseNote(note)
  const signature = signatures.find(({ name, hint }) => name === key.name && hint === key.hint)
  return signature !== undefined && verifySignature(key.key, utf8(text), signature.bytes)
}

/** Expects the note to be refused, as text and as bytes. */
function refuses(...notes: readonly string[]): void {
  for (const note of notes) {
    expect(
      outcomeOf(() => parseNote(note)),
      JSON.stringify(note),
    ).toBe('NOTE_MALFORMED')
    if (note.isWellFormed()) expect(outcomeOf(() => parseNote(utf8(note)))).toBe('NOTE_MALFORMED')
  }
}

// The examples of the reference implementation, golang.org/x/mod/sumdb/note.
const PETER = {
  vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  seed: 'gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=',
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
}
const ENOCH = {
  vkey: 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop',
  line: '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n',
}
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const NOTE = `${TEXT}\n${PETER.line}${ENOCH.line}`

describe('published notes', () => {
  it('verify under their keys', async () => {
    expect(await check(NOTE, PETER.vkey)).toBe(true)
    expect(await check(NOTE, ENOCH.vkey)).toBe(true)
    expect(await check(NOTE.replace('cryptography', 'cryptographY'), PETER.vkey)).toBe(false)
  })

  it('are written byte for byte from their seeds', async () => {
    const peter = await importSigningKey(fromBase64(PETER.seed) ?? new Uint8Array())
    const enoch = await importSigningKey(new Uint8Array(32))
    const signatures = [await signNote(TEXT, 'PeterNeumann', peter), await signNote(TEXT, 'EnochRoot', enoch)]
    expect(formatNote({ text: TEXT, signatures })).toBe(NOTE)
    expect(formatVkey(noteKey('PeterNeumann', peter.publicKey))).toBe(PETER.vkey)
    expect(formatVkey(noteKey('EnochRoot', enoch.publicKey))).toBe(ENOCH.vkey)
  })

  it('verify: the example of C2SP signed-note', async () => {
    const note =
      'This is an example message.\n\n' +
      '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
    expect(await check(note, 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k')).toBe(
      true,
    )
  })

  it('verify: a checkpoint of the Go checksum database', async () => {
    const note =
      'go.sum database tree\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n' +
      '— sum.golang.org Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n'
    expect(await check(note, 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8')).toBe(
      true,
    )
  })
})

describe('notes', () => {
  it('read back as they were written', () => {
    const note = parseNote(NOTE)
    expect(note.text).toBe(TEXT)
    expect(note.signatures.map(({ name, hint }) => [name, hint])).toEqual([
      ['PeterNeumann', 'c74f20a3'],
      ['EnochRoot', 'af0cfe78'],
    ])
    expect(formatNote(note)).toBe(NOTE)
    expect(parseNote(utf8(NOTE))).toEqual(note)
  })

  it('may have empty lines in their text: the last one separates', () => {
    const { text, signatures } = parseNote(`one\n\ntwo\n\n\n${PETER.line}`)
    expect(text).toBe('one\n\ntwo\n\n')
    expect(signatures.length).toBe(1)
  })

  it('may have a text that is an empty line', () => {
    expect(parseNote(`\n\n${PETER.line}`).text).toBe('\n')
  })

  it('keep every hint, also those with a high or a zero first byte', () => {
    for (const hint of ['00000000', '00000001', '7fffffff', '80000000', 'ffffffff', '0a0b0c0d']) {
      const note = formatNote({ text: 'x\n', signatures: [{ name: 'n', hint, bytes: Uint8Array.of(1) }] })
      expect(parseNote(note).signatures[0]?.hint).toBe(hint)
    }
  })

  it('end with a newline, and have a blank line and signatures', () => {
    refuses(
      '',
      '\n',
      '\n\n',
      TEXT,
      `${TEXT}\n`,
      NOTE.slice(0, -1),
      `${TEXT}${PETER.line}`,
      `${NOTE}\n`,
      `${NOTE}\n\n`,
    )
    refuses(`${TEXT}\n\n`, `${NOTE}more\n`, `${NOTE}\nmore\n`, `${NOTE.slice(0, -1)}x`, `x${PETER.line}`)
  })

  it('have signature lines of one form', () => {
    const encoded = PETER.line.slice('— PeterNeumann '.length, -1)
    const lines = [
      `- PeterNeumann ${encoded}`,
      `–  PeterNeumann ${encoded}`,
      `—PeterNeumann ${encoded}`,
      `— PeterNeumann  ${encoded}`,
      ` — PeterNeumann ${encoded}`,
      `— PeterNeumann ${encoded} `,
      `— Peter Neumann ${encoded}`,
      `—  ${encoded}`,
      `— ${encoded}`,
      `— Peter+Neumann ${encoded}`,
      `— Peter\u00a0Neumann ${encoded}`,
      `— PeterNeumann`,
      `— PeterNeumann `,
      `— PeterNeumann x08goA==`,
      `— PeterNeumann ${encoded.slice(0, -1)}`,
      `— PeterNeumann ${encoded.replaceAll('/', '_')}`,
      `— PeterNeumann ${encoded.slice(0, -2)}N=`,
    ]
    for (const line of lines) refuses(`${TEXT}\n${line}\n`)
  })

  it('have at least one byte after the hint', () => {
    expect(parseNote('x\n\n— n AAAAAAE=\n').signatures[0]?.bytes.length).toBe(1)
    refuses('x\n\n— n AAAAAA==\n', 'x\n\n— n AAAA\n', 'x\n\n— n \n')
  })

  it('have no control character but the newline', () => {
    for (let code = 0; code < 0x20; code++)
      if (code !== 0x0a) refuses(`a${String.fromCharCode(code)}b\n\n${PETER.line}`)
    refuses(NOTE.replaceAll('\n', '\r\n'))
    expect(parseNote(`\u007f\u0085é😂\n\n${PETER.line}`).text).toBe('\u007f\u0085é😂\n')
  })

  it('are UTF-8', () => {
    refuses(`\ud800\n\n${PETER.line}`)
    const notUtf8 = concat(Uint8Array.of(0xff), utf8(NOTE))
    expect(outcomeOf(() => parseNote(notUtf8))).toBe('NOTE_MALFORMED')
  })

  it('have at most 64 signatures', () => {
    expect(parseNote(`${TEXT}\n${PETER.line.repeat(64)}`).signatures.length).toBe(64)
    refuses(`${TEXT}\n${PETER.line.repeat(65)}`)
  })

  it('are at most 64 KiB', () => {
    const filled = (length: number): string =>
      `${'x'.repeat(length - 2 - PETER.line.length)}\n\n${PETER.line}`
    expect(parseNote(filled(65_536)).signatures.length).toBe(1)
    refuses(filled(65_537))
  })
})

describe('verifier keys', () => {
  it.each([
    ['PeterNeumann', 1, PETER.vkey],
    ['EnochRoot', 1, ENOCH.vkey],
    ['TEST', 1, 'TEST+7997405c+AQcC+FTVKf0jlTdHDY3rbevmnKxxPjigCXlVtGe6RIr6'],
    ['remora.n621.de', 4, 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2'],
  ])('of %s with algorithm %i reads back as it is written', (name, algorithm, vkey) => {
    const key = parseVkey(vkey)
    expect(key.name).toBe(name)
    expect(key.algorithm).toBe(algorithm)
    expect(formatVkey(key)).toBe(vkey)
  })

  it('have the hint of C2SP: SHA-256 over name, newline, algorithm and key', async () => {
    const { publicKey } = await signingKey()
    for (const algorithm of [1, 4] as const) {
      const digest = sha256(concat(utf8('example.com/é\n'), Uint8Array.of(algorithm), publicKey.bytes))
      expect(noteKey('example.com/é', publicKey, algorithm).hint).toBe(toHex(digest.subarray(0, 4)))
    }
  })

  it('are refused in every part', () => {
    for (let from = 0; from <= PETER.vkey.length; from++)
      for (let to = from; to <= PETER.vkey.length; to++) {
        const part = PETER.vkey.slice(from, to)
        if (part !== PETER.vkey)
          expect(
            outcomeOf(() => parseVkey(part)),
            part,
          ).not.toBe('accepted')
      }
  })

  it('are refused with any character changed', () => {
    for (let at = 0; at < PETER.vkey.length; at++) {
      const changed = String.fromCharCode(PETER.vkey.charCodeAt(at) + 1)
      const vkey = PETER.vkey.slice(0, at) + changed + PETER.vkey.slice(at + 1)
      expect(
        outcomeOf(() => parseVkey(vkey)),
        vkey,
      ).not.toBe('accepted')
    }
  })

  it('are refused with white space, in capitals, or with trailing text', () => {
    for (const vkey of [
      ` ${PETER.vkey}`,
      `${PETER.vkey}\n`,
      `${PETER.vkey} `,
      PETER.vkey.replace('c74f20a3', 'C74F20A3'),
    ])
      expect(outcomeOf(() => parseVkey(vkey))).toBe('NOTE_MALFORMED')
    for (const vkey of [
      `${PETER.vkey}AAAA`,
      `${PETER.vkey}${'A'.repeat(2000)}`,
      `${PETER.vkey}+`,
      '+'.repeat(5000),
    ])
      expect(outcomeOf(() => parseVkey(vkey))).not.toBe('accepted')
  })

  it('are refused for an unknown algorithm', async () => {
    const { bytes } = (await signingKey()).publicKey
    for (const algorithm of [0, 2, 3, 5, 6, 0xff]) {
      const material = concat(Uint8Array.of(algorithm), bytes)
      const hint = toHex(sha256(concat(utf8('n\n'), material)).subarray(0, 4))
      expect(outcomeOf(() => parseVkey(`n+${hint}+${toBase64(material)}`))).toBe('NOTE_MALFORMED')
    }
  })

  it('are refused for a key that is too short, too long or weak', () => {
    const vkeyOf = (bytes: Uint8Array): string => {
      const material = concat(Uint8Array.of(1), bytes)
      return `n+${toHex(sha256(concat(utf8('n\n'), material)).subarray(0, 4))}+${toBase64(material)}`
    }
    for (const length of [0, 31, 33])
      expect(outcomeOf(() => parseVkey(vkeyOf(new Uint8Array(length))))).toBe('KEY_MALFORMED')
    expect(outcomeOf(() => parseVkey(vkeyOf(new Uint8Array(32))))).toBe('KEY_WEAK')
  })

  it('are refused under another name for the same key', async () => {
    const { publicKey } = await signingKey()
    const [, hint, material] = formatVkey(noteKey('one', publicKey)).split('+')
    expect(outcomeOf(() => parseVkey(`other+${hint ?? ''}+${material ?? ''}`))).toBe('NOTE_MALFORMED')
  })
})

describe('key names', () => {
  const good = ['a', 'example.com/log', 'é', '日本', 'a-b_c.d/e:f', '😂', 'x'.repeat(200)]
  const bad = [
    '',
    ' ',
    'a b',
    'a+b',
    '+',
    'a\u00a0b',
    'a\u2003b',
    'a\u3000b',
    'a\tb',
    'a\nb',
    'a\u0000',
    '\u007f',
    '\u200b',
  ]

  it('are not empty, not long, and have no space, plus or control character', () => {
    for (const name of good) expect(isKeyName(name), name).toBe(true)
    for (const name of [...bad, '\u202e', '\ud800', 'x'.repeat(201)])
      expect(isKeyName(name), JSON.stringify(name)).toBe(false)
  })

  it('are checked when a key is named', async () => {
    const key = await signingKey()
    for (const name of bad) {
      expect(outcomeOf(() => noteKey(name, key.publicKey))).toBe('NOTE_MALFORMED')
      await expect(signNote('x\n', name, key)).rejects.toMatchObject({ code: 'NOTE_MALFORMED' })
    }
    for (const name of good) expect(parseVkey(formatVkey(noteKey(name, key.publicKey))).name).toBe(name)
  })
})
