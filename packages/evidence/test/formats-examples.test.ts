// Computes the examples of `docs/formats.md` and `docs/verification.md` again. `kernel/test/road/formats-examples.test.ts` has those
// of a decision.

import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { callOf } from '../src/audit.ts'
import {
  canonicalize,
  consistencyProof,
  createTree,
  fromHex,
  importPublicKey,
  importSigningKey,
  inclusionProof,
  leafHash,
  noteKey,
  openCheckpoint,
  openDelegation,
  parseCheckpoint,
  parseJson,
  parseProof,
  parseVkey,
  saltedHash,
  sha256Hex,
  toBase64,
  toHex,
  verifyInclusion,
  type SigningKey,
} from '../src/index.ts'
import { formatVkey } from '../src/note.ts'
import { bundles } from '../src/manifest.ts'
import { parseReceipt, signatureHolds } from '../src/receipt.ts'
import { archiveHeader } from '../src/tar.ts'
import { exampleNames, exampleOf, linesIn, valueIn } from './doc-page.ts'
import { contentOf, membersOf, RECEIPTS, type Members } from './pack-forge.ts'
import { outcomeOf } from './samples.ts'

const DEMO = new URL('../../../vectors/demo/demo.pack', import.meta.url)

let demo: Members = []
let lines: readonly string[] = []
let key: SigningKey

beforeAll(async () => {
  demo = await membersOf(readFileSync(DEMO))
  lines = contentOf(demo, RECEIPTS).split('\n').slice(0, -1)
  key = await importSigningKey(bytesOf(valueIn('key', 'seed')))
})

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if (!bytes) throw new Error('an example is not hexadecimal')
  return bytes
}

function leafOf(line: string): Uint8Array {
  return leafHash(Buffer.from(line))
}

describe('the examples', () => {
  it('are all computed', () => {
    const here = ['strict-json', 'canonical', 'salted', 'key', 'envelope', 'delegation', 'tree', 'checkpoint']
    const more = ['cosignature', 'proof', 'header', 'bundles', 'call']
    const elsewhere = [
      'patterns',
      'words',
      'reasons',
      'stages',
      'ladder',
      'evidence',
      'state',
      'scope',
      'page',
    ]
    expect([...exampleNames()].sort()).toEqual([...here, ...more, ...elsewhere].sort())
  })

  it.each(exampleOf('strict-json'))('strict JSON: %s %s', (outcome, document) => {
    expect(outcomeOf(() => parseJson(document))).toBe(outcome)
  })

  it('canonical JSON', () => {
    const text = canonicalize(parseJson(valueIn('canonical', 'input')))
    expect(text).toBe(valueIn('canonical', 'canonical'))
    expect(sha256Hex(text)).toBe(valueIn('canonical', 'sha256'))
  })

  it('a salted commitment', () => {
    const content = Buffer.from(valueIn('salted', 'content'))
    const salted = saltedHash('args', bytesOf(valueIn('salted', 'salt')), content)
    expect(valueIn('salted', 'label')).toBe('args')
    expect([sha256Hex(content), salted]).toEqual([valueIn('salted', 'plain'), valueIn('salted', 'salted')])
  })

  it('a key', () => {
    const { bytes, id } = key.publicKey
    const vkey = formatVkey(noteKey('ledger.example/demo', key.publicKey))
    const stated = ['public key', 'base64', 'id', 'vkey'].map((label) => valueIn('key', label))
    expect([toHex(bytes), toBase64(bytes), id, vkey]).toEqual(stated)
  })

  it('an envelope', async () => {
    const envelope = lines[0] ?? ''
    const { payload, id, signature, keyId } = parseReceipt(envelope)
    expect(envelope).toBe(valueIn('envelope', 'envelope'))
    expect(Buffer.from(payload).toString()).toBe(valueIn('envelope', 'payload'))
    const stated = ['id', 'signature', 'leaf'].map((label) => valueIn('envelope', label))
    expect([id, toHex(signature), toHex(leafOf(envelope))]).toEqual(stated)
    expect(keyId).toBe(key.publicKey.id)
    expect(await signatureHolds({ payload, signature }, key.publicKey)).toBe(true)
    const before = valueIn('envelope', 'before the payload').slice(1, -1)
    expect(toHex(await key.sign(Buffer.concat([Buffer.from(before), payload])))).toBe(toHex(signature))
  })

  it('a delegation', async () => {
    const payload = valueIn('delegation', 'payload')
    const signature = bytesOf(valueIn('delegation', 'signature'))
    const { publicKey } = await importSigningKey(bytesOf(valueIn('delegation', 'seed')))
    const type = 'application/vnd.tollgate.delegation+json;v=1'
    const signed = `"signatures":[{"keyid":"${publicKey.id}","sig":"${toBase64(signature)}"}]`
    const envelope = `{"payload":"${toBase64(Buffer.from(payload))}","payloadType":"${type}",${signed}}`
    const { id } = await openDelegation(envelope, () => importPublicKey(publicKey.bytes))
    expect([id, sha256Hex(payload)]).toEqual([valueIn('delegation', 'id'), id])
  })

  it('a tree', async () => {
    const nodes = new Map<string, Uint8Array>()
    const tree = createTree()
    const made: [string, string][] = []
    for (const [i, line] of lines.slice(0, 3).entries()) {
      made.push([`leaf ${i}`, toHex(leafOf(line))])
      for (const { level, index, hash } of tree.append(leafOf(line))) nodes.set(`${level}/${index}`, hash)
      made.push([`root of ${tree.size}`, toHex(tree.root())])
    }
    const read = (level: number, index: number): Uint8Array =>
      nodes.get(`${level}/${index}`) ?? new Uint8Array()
    const written = (hashes: readonly Uint8Array[]): string => hashes.map(toHex).join(' ')
    made.push(['inclusion of 1 in 3', written(await inclusionProof(1, 3, read))])
    made.push(['consistency of 2 to 3', written(await consistencyProof(2, 3, read))])
    made.push(['range 1 to 2 of 3, left', toHex(read(0, 0))], ['range 1 to 2 of 3, right', toHex(read(0, 2))])
    expect(new Map(exampleOf('tree'))).toEqual(new Map(made))
  })

  it('a checkpoint', async () => {
    const note = linesIn('checkpoint', 'note')
    const ledger = [parseVkey(valueIn('checkpoint', 'vkey'))]
    expect(note).toBe(contentOf(demo, 'checkpoint'))
    const { root, signedBy } = await openCheckpoint(note, { ledger })
    expect([toHex(root), signedBy]).toEqual([valueIn('checkpoint', 'root'), [key.publicKey.id]])
  })

  it('a cosignature', async () => {
    const note = linesIn('cosignature', 'note')
    const witness = parseVkey(valueIn('cosignature', 'vkey'))
    const time = Number(valueIn('cosignature', 'time'))
    const opened = await openCheckpoint(note, {
      ledger: [parseVkey(valueIn('key', 'vkey'))],
      witnesses: [witness],
    })
    expect(opened.cosignedBy).toEqual([{ name: witness.name, time }])
    const { text } = parseCheckpoint(note).note
    expect(linesIn('cosignature', 'signed')).toBe(`cosignature/v1\ntime ${time}\n${text}`)
  })

  it('a proof', () => {
    const { index, hashes, checkpoint } = parseProof(linesIn('proof', 'proof'))
    const { size, root } = parseCheckpoint(checkpoint)
    expect(verifyInclusion(leafOf(lines[index] ?? ''), index, size, hashes, root)).toBe(true)
  })

  it('a header', () => {
    const header = archiveHeader(valueIn('header', 'name'), Number(valueIn('header', 'size')))
    const stated = ['sum', 'sha256'].map((label) => valueIn('header', label))
    expect([Buffer.from(header.subarray(148, 154)).toString(), sha256Hex(header)]).toEqual(stated)
    expect(sha256Hex(readFileSync(DEMO).subarray(0, 512))).toBe(valueIn('header', 'sha256'))
  })

  it.each(exampleOf('bundles'))('the bundles of %s', (request, stated) => {
    const [start = 0, end = 0, ...selected] = [...request.matchAll(/[0-9]+/g)].map(([digits]) =>
      Number(digits),
    )
    const made = [...bundles({ range: { start, end }, selected })].map(
      ({ name, count }) => `${name} ${count}`,
    )
    expect(made.join(', ')).toBe(stated)
  })

  it('a call', () => {
    const { receipt } = parseReceipt(lines[12] ?? '')
    expect(receipt.kind === 'decision' && callOf(receipt)).toBe(sha256Hex(valueIn('call', 'text')))
  })
})
