// Reads the receipts of a pack, from docs/formats.md alone, and checks their signatures.

import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { at, isFields, listAt, textAt, type Fields } from './reading.ts'

/** A receipt of a pack. */
export interface Entry {
  readonly id: string
  readonly receipt: Fields
  readonly envelope: string
}

const BLOCK = 512
const TYPE = 'application/vnd.tollgate.receipt+json;v=1'

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The members of a pack, by name. */
export function membersOf(pack: Buffer): ReadonlyMap<string, Buffer> {
  const members = new Map<string, Buffer>()
  for (let place = 0; place + BLOCK <= pack.length && pack[place] !== 0;) {
    const header = pack.subarray(place, place + BLOCK)
    const size = Number.parseInt(header.toString('latin1', 124, 135), 8)
    const name = header.toString('latin1', 0, header.indexOf(0))
    members.set(name, pack.subarray(place + BLOCK, place + BLOCK + size))
    place += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return members
}

/** The receipts of a pack, in their order. */
export function entriesOf(pack: Buffer): readonly Entry[] {
  const bundles = [...membersOf(pack)].filter(([name]) => name.startsWith('receipts/'))
  return bundles.flatMap(([, content]) => content.toString().split('\n').slice(0, -1).map(entryOf))
}

function entryOf(envelope: string): Entry {
  const payload = payloadOf(envelope)
  const receipt: unknown = JSON.parse(payload.toString())
  if (!isFields(receipt)) throw new Error('a receipt is no object')
  return { id: sha256(payload), receipt, envelope }
}

function payloadOf(envelope: string): Buffer {
  return Buffer.from(textAt(JSON.parse(envelope), 'payload'), 'base64')
}

/** The indexes of the receipts whose signature is not valid under the key that they name, as the receipts before them added it. */
export function badSignatures(entries: readonly Entry[]): readonly number[] {
  const keys = new Map<string, KeyObject>()
  return entries.flatMap(({ receipt, envelope }, index) => {
    if (receipt.kind === 'genesis' || receipt.kind === 'key') {
      const raw = Buffer.from(textAt(receipt, 'public_key'), 'base64')
      keys.set(sha256(raw), publicKey(raw))
    }
    const key = keys.get(textAt(receipt, 'key'))
    return key && isSigned(envelope, key) ? [] : [index]
  })
}

function isSigned(envelope: string, key: KeyObject): boolean {
  const payload = payloadOf(envelope)
  const before = `DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `
  const signature = Buffer.from(textAt(JSON.parse(envelope), 'signatures', 0, 'sig'), 'base64')
  return verify(null, Buffer.concat([Buffer.from(before), payload]), key, signature)
}

function publicKey(raw: Buffer): KeyObject {
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } })
}

/** Where the chain of writers is broken: a link, a number, a clock or a time. */
export function chainProblems(entries: readonly Entry[]): readonly string[] {
  const last = new Map<string, Entry>()
  const clocks = new Map<string, number>()
  const problems: string[] = []
  entries.forEach(({ id, receipt, envelope }, index) => {
    const writer = textAt(receipt, 'writer')
    const before = last.get(writer)
    const complain = (what: string): void => void problems.push(`entry ${index} has a wrong ${what}`)
    if (receipt.prev_receipt_hash !== (before?.id ?? '0'.repeat(64))) complain('link')
    if (receipt.seq !== (before ? Number(before.receipt.seq) + 1 : 0)) complain('seq')
    const causes = listAt(receipt, 'causes').map(String)
    const known = [...causes, ...(before ? [before.id] : [])].map((each) => clocks.get(each))
    if (known.includes(undefined)) complain('cause')
    if (receipt.lamport_clock !== Math.max(0, ...known.map((clock) => clock ?? 0)) + 1) complain('clock')
    if (before && String(at(before.receipt, 'time')) > textAt(receipt, 'time')) complain('time')
    last.set(writer, { id, receipt, envelope })
    clocks.set(id, Number(receipt.lamport_clock))
  })
  return problems
}
