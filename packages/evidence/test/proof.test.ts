import { beforeAll, describe, expect, it } from 'vitest'
import { toBase64, toHex, utf8 } from '../src/bytes.ts'
import { sealCheckpoint, type CheckpointKeys } from '../src/checkpoint.ts'
import { sha256 } from '../src/hash.ts'
import type { SigningKey } from '../src/keys.ts'
import { inclusionProof } from '../src/merkle.ts'
import { noteKey } from '../src/note.ts'
import { formatProof, openProof, parseProof, type Proof } from '../src/proof.ts'
import { leavesOf, storeOf } from './merkle-laws.ts'
import { treeHash } from './merkle-model.ts'
import { ORIGIN, outcomeOf, outcomeOfAsync, signingKey } from './samples.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'
const SIZE = 11
const LEAVES = leavesOf(SIZE)

let ledger: SigningKey
let keys: CheckpointKeys
let checkpoint: string

beforeAll(async () => {
  ledger = await signingKey()
  keys = { ledger: [noteKey(ORIGIN, ledger.publicKey)] }
  checkpoint = await checkpointAt(SIZE)
})

function checkpointAt(size: number): Promise<string> {
  return sealCheckpoint({ origin: ORIGIN, size, root: treeHash(LEAVES.slice(0, size)) }, [ledger])
}

/** The proof of one leaf, with some of its parts replaced. */
async function proofOf(index: number, changes: Partial<Proof> = {}): Promise<Proof> {
  const { read } = storeOf(LEAVES)
  return { index, hashes: await inclusionProof(index, SIZE, read), checkpoint, ...changes }
}

function leafAt(index: number): Uint8Array {
  return LEAVES[index] ?? new Uint8Array()
}

/** The outcome of opening the proof for the leaf at an index. */
async function outcome(proof: Proof, leaf: number): Promise<string> {
  const text = formatProof(proof)
  const answer = await outcomeOfAsync(openProof(text, leafAt(leaf), keys))
  expect(await outcomeOfAsync(openProof(utf8(text), leafAt(leaf), keys))).toBe(answer)
  return answer
}

describe('a proof', () => {
  it('opens for its own leaf, at every index', async () => {
    for (let index = 0; index < SIZE; index++) {
      const opened = await openProof(formatProof(await proofOf(index)), leafAt(index), keys)
      expect(opened.index).toBe(index)
      expect(opened.checkpoint).toMatchObject({ size: SIZE, signedBy: [ledger.publicKey.id] })
    }
  })

  it('reads back as it was written', async () => {
    for (let index = 0; index < SIZE; index++) {
      const proof = await proofOf(index)
      const text = formatProof(proof)
      const read = parseProof(text)
      expect(read.index).toBe(index)
      expect(read.hashes.map(toHex)).toEqual(proof.hashes.map(toHex))
      expect(read.checkpoint).toBe(checkpoint)
      expect(formatProof(read)).toBe(text)
      expect(parseProof(utf8(text))).toEqual(read)
    }
  })

  it('of a ledger of one entry has no hashes', async () => {
    const alone = formatProof({ index: 0, hashes: [], checkpoint: await checkpointAt(1) })
    expect(alone.startsWith(`${HEADER}\nindex 0\n\n${ORIGIN}\n1\n`)).toBe(true)
    expect((await openProof(alone, leafAt(0), keys)).index).toBe(0)
  })

  it('is wrong for every other leaf', async () => {
    const proof = await proofOf(4)
    for (let leaf = 0; leaf < SIZE; leaf++)
      expect(await outcome(proof, leaf)).toBe(leaf === 4 ? 'accepted' : 'PROOF_WRONG')
    const text = formatProof(proof)
    expect(await outcomeOfAsync(openProof(text, utf8('another'), keys))).toBe('PROOF_WRONG')
    expect(await outcomeOfAsync(openProof(text, new Uint8Array(), keys))).toBe('PROOF_WRONG')
  })

  it('is wrong at every other index', async () => {
    for (let index = 0; index <= SIZE; index++)
      if (index !== 4) expect(await outcome(await proofOf(4, { index }), 4)).toBe('PROOF_WRONG')
  })

  it('is wrong with a hash changed, dropped, added or out of order', async () => {
    const { hashes } = await proofOf(4)
    const spoiled = [
      hashes.with(0, sha256('stranger')),
      hashes.slice(1),
      hashes.slice(0, -1),
      [...hashes, sha256('stranger')],
      [sha256('stranger'), ...hashes],
      hashes.toReversed(),
      [],
    ]
    for (const other of spoiled)
      expect(await outcome(await proofOf(4, { hashes: other }), 4)).toBe('PROOF_WRONG')
  })

  it('is wrong with the checkpoint of another size, though the ledger signed it', async () => {
    for (const size of [1, 5, 8, 10])
      expect(await outcome(await proofOf(4, { checkpoint: await checkpointAt(size) }), 4), String(size)).toBe(
        'PROOF_WRONG',
      )
  })

  it('proves nothing about the empty ledger', async () => {
    expect(await outcome({ index: 0, hashes: [], checkpoint: await checkpointAt(0) }, 0)).toBe('PROOF_WRONG')
  })

  it('is refused if its checkpoint is refused', async () => {
    const [, other] = [ledger, await signingKey(2)]
    const root = treeHash(LEAVES)
    const foreign = await sealCheckpoint({ origin: ORIGIN, size: SIZE, root }, [other])
    expect(await outcome(await proofOf(4, { checkpoint: foreign }), 4)).toBe('NOTE_UNSIGNED')
    const elsewhere = await sealCheckpoint({ origin: 'another.ledger', size: SIZE, root }, [ledger])
    expect(await outcome(await proofOf(4, { checkpoint: elsewhere }), 4)).toBe('CHECKPOINT_ORIGIN_WRONG')
    const larger = checkpoint.replace('\n11\n', '\n12\n')
    expect(await outcome(await proofOf(4, { checkpoint: larger }), 4)).toBe('NOTE_SIGNATURE_WRONG')
    expect(await outcome(await proofOf(4, { checkpoint: 'no checkpoint' }), 4)).toBe('NOTE_MALFORMED')
  })
})

describe('parsing', () => {
  const hash = toBase64(sha256('hash'))
  const textOf = (...lines: readonly string[]): string => [...lines, '', 'the checkpoint\n'].join('\n')

  function malformed(...texts: readonly string[]): void {
    for (const text of texts) {
      expect(
        outcomeOf(() => parseProof(text)),
        JSON.stringify(text),
      ).toBe('PROOF_MALFORMED')
      expect(outcomeOf(() => parseProof(utf8(text)))).toBe('PROOF_MALFORMED')
    }
  }

  it('reads header, index, hashes, and the rest as the checkpoint', () => {
    const read = parseProof(textOf(HEADER, 'index 7', hash, hash))
    expect([read.index, read.hashes.length, read.checkpoint]).toEqual([7, 2, 'the checkpoint\n'])
  })

  it('drops an extra line, because nothing signs it', () => {
    const plain = parseProof(textOf(HEADER, 'index 7', hash))
    for (const extra of ['extra AAAA', 'extra Zg==', 'extra '])
      expect(parseProof(textOf(HEADER, extra, 'index 7', hash))).toEqual(plain)
  })

  it('refuses an extra line that is not base64 or misplaced', () => {
    malformed(
      ...['extra A', 'extra Zh==', 'extra -_-_', 'extra AAAA ', 'extra', 'Extra AAAA'].map((line) =>
        textOf(HEADER, line, 'index 7'),
      ),
    )
    malformed(textOf(HEADER, 'index 7', 'extra AAAA'), textOf(HEADER, 'extra AAAA', 'extra AAAA', 'index 7'))
    malformed(textOf('extra AAAA', HEADER, 'index 7'))
  })

  it('refuses another header', () => {
    malformed(
      ...[
        '',
        'c2sp.org/tlog-proof@v2',
        'C2SP.org/tlog-proof@v1',
        ` ${HEADER}`,
        `${HEADER} `,
        `\ufeff${HEADER}`,
      ].map((line) => textOf(line, 'index 7')),
    )
    malformed(textOf('index 7', HEADER), textOf('index 7'))
  })

  it('refuses an index in any other form', () => {
    for (const index of ['0', '1', '10', '9007199254740991'])
      expect(parseProof(textOf(HEADER, `index ${index}`)).index).toBe(Number(index))
    const spellings = [
      '00',
      '01',
      '+1',
      '-1',
      '-0',
      '1.0',
      '1e3',
      '0x1',
      '',
      ' 1',
      '1 ',
      '9007199254740992',
      '10000000000000000',
      'NaN',
    ]
    malformed(...spellings.map((index) => textOf(HEADER, `index ${index}`)))
    malformed(
      textOf(HEADER),
      textOf(HEADER, 'index'),
      textOf(HEADER, 'Index 1'),
      textOf(HEADER, hash),
      textOf(HEADER, 'index 1', 'index 1'),
    )
  })

  it('refuses hashes that are not 32 bytes in base64', () => {
    const hashes = [
      hash.slice(0, -1),
      `${hash} `,
      ` ${hash}`,
      toHex(sha256('hash')),
      'AAAA',
      toBase64(new Uint8Array(31)),
      toBase64(new Uint8Array(33)),
    ]
    malformed(...hashes.map((other) => textOf(HEADER, 'index 7', hash, other)))
  })

  it('refuses more than 64 hashes', () => {
    const many = (count: number): string =>
      textOf(HEADER, 'index 7', ...Array.from({ length: count }, () => hash))
    expect(parseProof(many(64)).hashes.length).toBe(64)
    malformed(many(65))
  })

  it('refuses a text without a checkpoint, with other newlines, or not in UTF-8', () => {
    malformed('', '\n', '\n\n', `${HEADER}\nindex 7\n`, `${HEADER}\nindex 7\n${hash}`, HEADER)
    malformed(textOf(HEADER, 'index 7', hash).replaceAll('\n', '\r\n'))
    expect(outcomeOf(() => parseProof(Uint8Array.of(...utf8(textOf(HEADER, 'index 7')), 0xff)))).toBe(
      'PROOF_MALFORMED',
    )
  })

  it('refuses more than 128 KiB', () => {
    const start = `${HEADER}\nindex 7\n\n`
    const limit = 128 * 1024
    expect(parseProof(start + 'x'.repeat(limit - start.length)).checkpoint.length).toBe(limit - start.length)
    malformed(start + 'x'.repeat(limit - start.length + 1))
  })
})
