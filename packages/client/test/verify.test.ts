// Verifies one receipt, and refuses every way in which a gateway could forge it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  formatProof,
  formatTrust,
  inclusionProof,
  noteKey,
  parseCheckpoint,
  sealCheckpoint,
  sealReceipt,
  toBase64,
  type NoteKey,
} from '../../evidence/src/index.ts'
import { createLedger, begin, decision, fixedKey, hash, type TestLedger } from '../../evidence/test/ledger.ts'
import { createClient, verifyReceipt, type Proven, type ReceiptEvidence } from '../src/index.ts'
import { OPERATOR_TOKEN, startStandIn, type StandIn } from './stand-in.ts'

const POLICY = hash('policy')

/** A ledger whose writer gets a new key: genesis, key, decision, retire, add, decision. */
async function makeLedger(): Promise<TestLedger> {
  const ledger = await createLedger()
  await begin(ledger)
  await ledger.append(decision(POLICY))
  const old = toBase64(ledger.writerKey.publicKey.bytes)
  await ledger.append({ kind: 'key', op: 'retire', role: 'writer', of: 'gw-1', public_key: old })
  const next = await fixedKey('the next writer')
  const added = toBase64(next.publicKey.bytes)
  await ledger.append({ kind: 'key', op: 'add', role: 'writer', of: 'gw-1', public_key: added })
  await ledger.append(decision(POLICY, { tool: 'mail/send' }), next)
  return ledger
}

async function prove(ledger: TestLedger, index: number, checkpoint?: string): Promise<Proven> {
  const head = checkpoint ?? (await ledger.checkpointAt())
  const hashes = await inclusionProof(index, parseCheckpoint(head).size, (level, at) =>
    ledger.node(level, at),
  )
  const [envelope = new Uint8Array()] = await collect(ledger.receipts(index, index + 1))
  return { envelope, proof: formatProof({ index, hashes, checkpoint: head }) }
}

async function collect(envelopes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const each of envelopes) all.push(each)
  return all
}

function trustOf(
  ledger: TestLedger,
  more: { witnesses?: NoteKey[]; quorum?: number; checkpoint?: string } = {},
): string {
  return formatTrust({ ledger: ledger.origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0, ...more })
}

async function keysOf(ledger: TestLedger, ...indexes: number[]): Promise<Proven[]> {
  return Promise.all(indexes.map((index) => prove(ledger, index)))
}

let ledger: TestLedger
let good: ReceiptEvidence

beforeAll(async () => {
  ledger = await makeLedger()
  good = { ...(await prove(ledger, 2)), trust: trustOf(ledger), keys: await keysOf(ledger, 0, 1, 3, 4) }
})

/** Expects evidence with this change to be refused. Returns the message. */
async function refused(change: Partial<ReceiptEvidence>): Promise<string> {
  const fault = await verifyReceipt({ ...good, ...change }).then(
    () => expect.fail('it was accepted'),
    (thrown: unknown) => thrown as Error & { code: string },
  )
  expect(fault.code).toBe('receipt-unproven')
  return fault.message
}

describe('a receipt', () => {
  it('is valid if it is in the ledger and its writer signed it', async () => {
    const found = await verifyReceipt({ ...good, id: ledger.entries[2]?.id ?? '', index: 2 })
    expect(found).toMatchObject({ index: 2, id: ledger.entries[2]?.id, signature: 'checked' })
    expect(found.receipt).toEqual(ledger.entries[2]?.receipt)
    expect(found.checkpoint).toMatchObject({ size: 6, origin: ledger.origin })
  })

  it('is valid under a later key as well', async () => {
    const found = await verifyReceipt({ ...good, ...(await prove(ledger, 5)) })
    expect(found).toMatchObject({ index: 5, signature: 'checked' })
  })

  it.each([0, 1, 3, 4])('is valid if it is a key receipt (%i)', async (index) => {
    expect(await verifyReceipt({ ...good, ...(await prove(ledger, index)) })).toMatchObject({
      signature: 'checked',
    })
  })

  it('reports an unchecked signature if no keys are given', async () => {
    const { envelope, proof, trust } = good
    expect(await verifyReceipt({ envelope, proof, trust })).toMatchObject({
      index: 2,
      signature: 'unchecked',
    })
  })

  it('is refused if it is not the requested one', async () => {
    expect(await refused({ id: ledger.entries[5]?.id ?? '' })).toContain('not the requested receipt')
  })

  it('is refused at another index', async () => {
    expect(await refused({ index: 3 })).toContain('another index than expected')
  })

  it('is refused with the proof of another receipt', async () => {
    expect(await refused({ proof: (await prove(ledger, 5)).proof })).toContain(
      'does not show that this receipt is in the checkpoint',
    )
  })

  it('is refused if a byte of it is changed', async () => {
    const envelope = Buffer.from(good.envelope)
      .toString()
      .replace('"sig":"', '"sig":"A')
      .replace('="}]}', '"}]}')
    expect(await refused({ envelope })).toContain('not proven')
  })

  it('is refused under the keys of another ledger', async () => {
    const other = await createLedger({ origin: ledger.origin, salt: 'other' })
    expect(await refused({ trust: trustOf(other) })).toContain('no known key of the ledger')
    const elsewhere = await createLedger({ origin: 'ledger.example/elsewhere' })
    expect(await refused({ trust: trustOf(elsewhere) })).toContain('not of the expected one')
  })

  it('is refused without the witnesses that the trust file requires', async () => {
    const witness = noteKey('witness.example', (await fixedKey('witness')).publicKey, 4)
    expect(await refused({ trust: trustOf(ledger, { witnesses: [witness], quorum: 1 }) })).toContain(
      '0 witnesses',
    )
  })

  it('is refused in a ledger that is shorter than the pinned checkpoint', async () => {
    const trust = trustOf(ledger, { checkpoint: await ledger.checkpointAt() })
    const short = await prove(ledger, 2, await ledger.checkpointAt(3))
    expect(await refused({ ...short, trust })).toContain('shorter')
  })

  it('is refused in a ledger with another history of the pinned length', async () => {
    const forked = await sealCheckpoint(
      { origin: ledger.origin, size: 6, root: new Uint8Array(32).fill(7) },
      [ledger.ledgerKey],
    )
    expect(await refused({ trust: trustOf(ledger, { checkpoint: forked }) })).toContain(
      'two different histories',
    )
  })

  it('is refused if it names another ledger', async () => {
    const strange = await createLedger({ salt: 'strange' })
    await begin(strange)
    await strange.append(decision(POLICY, { ledger: 'ledger.example/other' }))
    const change = {
      ...(await prove(strange, 2)),
      keys: await keysOf(strange, 0, 1),
      trust: trustOf(strange),
    }
    expect(await refused(change)).toContain('another ledger')
  })

  it('is refused if its signature is invalid, although it is in the ledger', async () => {
    const careless = await createLedger({ salt: 'careless' })
    await begin(careless)
    const { envelope } = await sealReceipt(careless.prepare(decision(POLICY)), careless.writerKey)
    const text = Buffer.from(envelope).toString()
    const at = text.indexOf('"sig":"') + 7
    const flipped = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    careless.appendRaw(new TextEncoder().encode(flipped))
    const { keys, ...unsigned } = {
      ...(await prove(careless, 2)),
      trust: trustOf(careless),
      keys: await keysOf(careless, 0, 1),
    }
    expect(await refused({ ...unsigned, keys })).toContain('signature')
    expect(await verifyReceipt(unsigned)).toMatchObject({ signature: 'unchecked' })
  })

  it('is refused with an invalid trust file', async () => {
    await expect(verifyReceipt({ ...good, trust: '{}' })).rejects.toMatchObject({ code: 'TRUST_MALFORMED' })
  })
})

describe('the key of a writer', () => {
  it('is unknown without the genesis receipt', async () => {
    expect(await refused({ keys: await keysOf(ledger, 1, 3, 4) })).toContain('genesis receipt is missing')
    expect(await refused({ keys: [] })).toContain('genesis receipt is missing')
  })

  it('is unknown if the ledger did not add it', async () => {
    expect(await refused({ keys: await keysOf(ledger, 0) })).toContain('no key')
  })

  it('must come from a receipt that the ledger proves', async () => {
    const forged = await makeForgery()
    expect(await refused({ keys: [...(await keysOf(ledger, 0)), forged] })).toContain('not proven')
  })

  it('must come from a key receipt', async () => {
    expect(await refused({ keys: await keysOf(ledger, 0, 1, 2) })).toContain('not a key receipt')
  })

  it('is not active before it is added or after it is retired', async () => {
    const ahead = await createLedger({ salt: 'ahead' })
    await ahead.append({
      kind: 'genesis',
      public_key: toBase64(ahead.ledgerKey.publicKey.bytes),
      commit: 'plain',
    })
    await ahead.append(decision(POLICY))
    const writer = {
      role: 'writer',
      of: 'gw-1',
      public_key: toBase64(ahead.writerKey.publicKey.bytes),
    } as const
    await ahead.append({ kind: 'key', op: 'add', ...writer })
    await ahead.append({ kind: 'key', op: 'retire', ...writer })
    await ahead.append(decision(POLICY))
    const keys = await keysOf(ahead, 0, 2, 3)
    for (const index of [1, 4]) {
      const change = { ...(await prove(ahead, index)), keys, trust: trustOf(ahead) }
      expect(await refused(change)).toContain('not active then')
    }
  })

  it('does not sign for another writer', async () => {
    const mixed = await createLedger({ salt: 'mixed' })
    await begin(mixed)
    await mixed.append(decision(POLICY, { writer: 'gw-2' }))
    const change = { ...(await prove(mixed, 2)), keys: await keysOf(mixed, 0, 1), trust: trustOf(mixed) }
    expect(await refused(change)).toContain('no key')
  })

  it('is added once', async () => {
    expect(await refused({ keys: await keysOf(ledger, 0, 1, 1) })).toContain('twice')
  })

  it('is not added by a writer', async () => {
    const seized = await createLedger({ salt: 'seized' })
    await begin(seized)
    const own = await fixedKey('seized')
    const draft = { kind: 'key', op: 'add', role: 'writer', of: 'gw-2' } as const
    await seized.append({ ...draft, public_key: toBase64(own.publicKey.bytes) }, seized.writerKey)
    await seized.append(decision(POLICY, { writer: 'gw-2' }), own)
    const change = {
      ...(await prove(seized, 3)),
      keys: await keysOf(seized, 0, 1, 2),
      trust: trustOf(seized),
    }
    expect(await refused(change)).toContain('no key')
  })
})

/** A key receipt of an untrusted ledger, with a proof of the trusted one. */
async function makeForgery(): Promise<Proven> {
  const other = await createLedger({ origin: ledger.origin, salt: 'forged' })
  await begin(other)
  return { envelope: other.entries[1]?.envelope ?? '', proof: (await prove(ledger, 1)).proof }
}

describe('a client', () => {
  let gateway: StandIn

  beforeAll(async () => {
    gateway = await startStandIn()
  })
  afterAll(() => gateway.close())

  async function denied(): Promise<string> {
    const client = createClient({ url: gateway.url, token: OPERATOR_TOKEN })
    const { receipt } = await client.evaluate({ tool: 'fs/delete' })
    return receipt ?? ''
  }

  it('fetches a receipt with its proof and verifies it under the pinned keys', async () => {
    const client = createClient({ url: gateway.url, token: OPERATOR_TOKEN })
    const id = await denied()
    expect(await client.receipts.verify(id, gateway.trust)).toMatchObject({
      id,
      signature: 'checked',
      receipt: { kind: 'decision', verdict: 'DENY', tool: 'fs/delete' },
    })
    const stranger = trustOf(await createLedger({ origin: gateway.ledger.origin, salt: 'stranger' }))
    await expect(client.receipts.verify(id, stranger)).rejects.toMatchObject({ code: 'receipt-unproven' })
  })

  it('refuses a gateway that answers with another receipt', async () => {
    const [one, other] = [await denied(), await denied()]
    const client = createClient({
      url: gateway.url,
      token: OPERATOR_TOKEN,
      fetch: (url, init) => fetch(url.replace(one, other), init),
    })
    await expect(client.receipts.verify(one, gateway.trust)).rejects.toMatchObject({ code: 'answer-invalid' })
  })

  it('refuses a gateway that gives a receipt another id', async () => {
    const [one, other] = [await denied(), await denied()]
    const client = createClient({
      url: gateway.url,
      token: OPERATOR_TOKEN,
      async fetch(url, init) {
        const response = await fetch(url.replace(one, other), init)
        const text = await response.text()
        return new Response(text.replace(`"id":"${other}"`, `"id":"${one}"`), { headers: response.headers })
      },
    })
    await expect(client.receipts.verify(one, gateway.trust)).rejects.toMatchObject({
      code: 'receipt-unproven',
      message: expect.stringContaining('not the requested receipt') as string,
    })
  })
})
