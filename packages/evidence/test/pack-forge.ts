// Builds forged packs with a matching manifest. It skips the checks of `writePack`, so that only the verifier can detect a forgery.

import { canonicalBytes } from '../src/canonical.ts'
import { parseCheckpoint } from '../src/checkpoint.ts'
import {
  consistencyProof,
  EvidenceError,
  formatProof,
  inclusionProof,
  PAYLOAD_TYPE,
  sha256Hex,
  toBase64,
  type Manifest,
  type Member,
  type PackRequest,
  type Receipt,
  type SigningKey,
} from '../src/index.ts'
import { bundles, formatManifest, indexName, parseManifest, type Contents } from '../src/manifest.ts'
import { subtrees } from '../src/merkle.ts'
import { introducedKey, keyMember } from '../src/pack.ts'
import { parseReceipt } from '../src/receipt.ts'
import { archiveHeader, archivePadding, ARCHIVE_END, readArchive } from '../src/tar.ts'
import { text, type TestLedger } from './ledger.ts'

/** The one bundle of a small pack. */
export const RECEIPTS = 'receipts/0000000000000000.jsonl'

/** The members of a pack, in the order of the archive. */
export type Members = readonly Member[]

/** UTF-8 of a text. */
export function bytesOf(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

/** An archive of any members, without checks. */
export function archive(members: Members): Uint8Array {
  return joined([...members.flatMap(blocks), ARCHIVE_END])
}

/** The header, content and padding of a member. */
export function blocks({ name, bytes }: Member): Uint8Array[] {
  return [archiveHeader(name, bytes.length), bytes, archivePadding(bytes.length)]
}

/** Joins byte strings. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** Splits a pack into its members. */
export async function membersOf(pack: Uint8Array): Promise<Members> {
  const members: Member[] = []
  for await (const member of readArchive(pack, { maxMembers: 1000, maxSize: () => 1 << 30 }))
    members.push(member)
  return members
}

/** The content of a member, as text. */
export function contentOf(members: Members, name: string): string {
  const member = members.find((each) => each.name === name)
  if (!member) throw new Error(`no member ${name}`)
  return text(member.bytes)
}

/** The members with one of them changed. */
export function edited(members: Members, name: string, edit: (content: string) => string): Members {
  return replaced(members, name, bytesOf(edit(contentOf(members, name))))
}

/** The members with one of them replaced, or added at the end. */
export function replaced(members: Members, name: string, bytes: Uint8Array): Members {
  const member = { name, bytes }
  const known = members.some((each) => each.name === name)
  return known ? members.map((each) => (each.name === name ? member : each)) : [...members, member]
}

/** The members without one of them. */
export function without(members: Members, name: string): Members {
  return members.filter((member) => member.name !== name)
}

/** The members with the lines of a bundle changed. */
export function relined(
  members: Members,
  edit: (lines: readonly string[]) => readonly string[],
  bundle = RECEIPTS,
): Members {
  return edited(members, bundle, (content) =>
    edit(content.split('\n').slice(0, -1))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** The sorted members with a matching manifest. */
export function bound(members: Members, claims: Partial<Manifest> = {}): Members {
  const manifest = { ...parseManifest(bytesOf(contentOf(members, 'manifest.json'))), ...claims }
  const others = without(members, 'manifest.json')
  const fitting = formatManifest({ ...manifest, members: listed(others) })
  return sorted([...others, { name: 'manifest.json', bytes: fitting }])
}

/** Options of a forged pack. */
export interface ForgeRequest extends PackRequest {
  /** Policy texts. Default: those of the decisions that the ledger keeps. */
  readonly policies?: readonly string[]
}

/** The members of a pack of any ledger. For an honest ledger they equal those of `writePack`. */
export async function forge(ledger: TestLedger, request: ForgeRequest = wholeOf(ledger)): Promise<Members> {
  const { origin, size } = parseCheckpoint(ledger.checkpoint)
  const contents: Contents = {
    ...(request.range && { range: request.range }),
    selected: request.selected ?? [],
  }
  const files = [...bundles(contents)].map(({ name, runs }) => ({
    name,
    bytes: joined(runs.flatMap(({ start, end }) => [...linesOf(ledger, start, end)])),
  }))
  const receipts = files.flatMap(({ bytes }) => readable(text(bytes).split('\n').slice(0, -1)))
  const members: Members = [
    { name: 'checkpoint', bytes: bytesOf(ledger.checkpoint) },
    ...keyMembers(receipts),
    ...payloadMembers(request),
    ...policyMembers(ledger, request.policies ?? policiesIn(receipts)),
    ...(await proofMembers(ledger, contents, size, request.since)),
    ...files,
  ]
  const manifest: Manifest = {
    format: 'tollgate-evidence-pack',
    v: 1,
    ledger: origin,
    tree_size: size,
    ...contents,
    members: listed(members),
  }
  return sorted([...members, { name: 'manifest.json', bytes: formatManifest(manifest) }])
}

/** A request for all of a ledger. */
export function wholeOf({ size }: { readonly size: number }): { range: { start: number; end: number } } {
  return { range: { start: 0, end: size } }
}

/** A whole pack of any ledger. */
export async function forged(ledger: TestLedger, request?: ForgeRequest): Promise<Uint8Array> {
  return archive(await forge(ledger, request))
}

/** An envelope of any payload, signed by `key`, with the given key id and type. */
export async function sealAnything(
  payload: string,
  key: SigningKey,
  { keyid = key.publicKey.id, payloadType = PAYLOAD_TYPE } = {},
): Promise<Uint8Array> {
  const bytes = bytesOf(payload)
  const signed = joined([bytesOf(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes])
  const sig = toBase64(await key.sign(signed))
  return canonicalBytes({ payload: toBase64(bytes), payloadType, signatures: [{ keyid, sig }] })
}

function* linesOf(ledger: TestLedger, start: number, end: number): Generator<Uint8Array> {
  for (const envelope of ledger.receipts(start, end) as Iterable<Uint8Array>) yield* [envelope, bytesOf('\n')]
}

function readable(lines: readonly string[]): Receipt[] {
  return lines.flatMap((line) => unlessRefused(() => parseReceipt(line).receipt))
}

/** The keys that receipts add. The first receipt of a key counts. */
function keyMembers(receipts: readonly Receipt[]): Member[] {
  const keys = new Map<string, Member>()
  for (const key of receipts.flatMap((receipt) => unlessRefused(() => introducedKey(receipt)))) {
    if (key && !keys.has(key.key.id)) keys.set(key.key.id, keyMember(key))
  }
  return [...keys.values()]
}

function unlessRefused<T>(read: () => T): T[] {
  try {
    return [read()]
  } catch (fault) {
    if (fault instanceof EvidenceError) return []
    throw fault
  }
}

function policiesIn(receipts: readonly Receipt[]): string[] {
  return [...new Set(receipts.flatMap((each) => (each.kind === 'decision' ? [each.policy_hash] : [])))]
}

function policyMembers(ledger: TestLedger, hashes: readonly string[]): Member[] {
  return hashes.flatMap((hash) => {
    const bytes = ledger.policy(hash) as Uint8Array | undefined
    return bytes ? [{ name: `policy/${hash}`, bytes }] : []
  })
}

function payloadMembers({ payloads = [] }: PackRequest): Member[] {
  return payloads.map(({ hash, bytes, salted }) => ({
    name: `payloads/${hash}${salted ? `.${salted.label}` : ''}`,
    bytes: joined([salted?.salt ?? new Uint8Array(0), bytes]),
  }))
}

async function proofMembers(
  { node, checkpoint }: TestLedger,
  { range, selected }: Contents,
  size: number,
  since: number | undefined,
): Promise<Member[]> {
  const hashes = (start: number, end: number): string[] =>
    subtrees(start, end).map(({ level, index }) => toBase64(node(level, index) as Uint8Array))
  const members: Member[] = []
  for (const index of selected) {
    const proof = formatProof({ index, hashes: await inclusionProof(index, size, node), checkpoint })
    members.push({ name: proofName(index), bytes: bytesOf(proof) })
  }
  if (since !== undefined) {
    const value = { hashes: (await consistencyProof(since, size, node)).map(toBase64), size: since }
    members.push({ name: 'proofs/consistency.json', bytes: canonicalBytes(value) })
  }
  if (range) {
    const value = { left: hashes(0, range.start), right: hashes(range.end, size) }
    members.push({ name: 'proofs/range.json', bytes: canonicalBytes(value) })
  }
  return members
}

/** The name of the inclusion proof of an index. */
export function proofName(index: number): string {
  return `proofs/${indexName(index)}.tlog-proof`
}

function listed(members: Members): Manifest['members'] {
  return sorted(members).map(({ name, bytes }) => ({ name, sha256: sha256Hex(bytes), size: bytes.length }))
}

function sorted(members: Members): Members {
  return [...members].sort((a, b) => (a.name < b.name ? -1 : 1))
}
