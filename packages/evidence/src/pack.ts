// Writes and reads EvidencePacks: a part of a ledger with everything needed to verify it offline.
//
// Members are sorted by name: `checkpoint`, `keys/`, `manifest.json`, `payloads/`, `policy/`, `proofs/`, `receipts/`. A reader
// therefore has the manifest and the proofs before the receipts.

import { concat, join, requireBase64, sameBytes, toBase64, utf8 } from './bytes.ts'
import { canonicalBytes, parseCanonical } from './canonical.ts'
import { parseCheckpoint, type Head } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import { array, bytes32, count, problemWith, shape, type Fields } from './fields.ts'
import { saltedHash, sha256Hex } from './hash.ts'
import type { Json, JsonObject } from './json.ts'
import { importPublicKey } from './keys.ts'
import { NO_HASH, type Receipt } from './kinds.ts'
import {
  bundles,
  checkContents,
  formatManifest,
  indexName,
  MAX_MANIFEST_BYTES,
  MAX_MEMBERS,
  parseManifest,
  type Bundle,
  type Contents,
  type ListedMember,
  type Manifest,
} from './manifest.ts'
import { consistencyProof, inclusionProof, subtrees, type ReadNode } from './merkle.ts'
import { formatVkey, noteKey, type NoteKey } from './note.ts'
import { formatProof, parseProof } from './proof.ts'
import { MAX_ENVELOPE_BYTES, parseReceipt } from './receipt.ts'
import {
  archiveHeader,
  archivePadding,
  ARCHIVE_END,
  readArchive,
  type ByteSource,
  type Member,
} from './tar.ts'

/** The source of a pack. Its answers must not change while the pack is written. */
export interface LedgerReader {
  /** The signed checkpoint of the pack, with cosignatures. */
  readonly checkpoint: string
  /** The envelopes of the entries [start, end), in order. */
  receipts(start: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** Hashes of full subtrees, as returned by `Tree.append`. */
  readonly node: ReadNode
  /** The text of a policy, or undefined if it is no longer stored. */
  policy(hash: string): Promise<Uint8Array | undefined> | Uint8Array | undefined
}

/** Content behind a hash of a receipt, disclosed on purpose. */
export interface Payload {
  readonly hash: string
  readonly bytes: Uint8Array
  /** For a salted commitment: its label and salt. */
  readonly salted?: { readonly label: 'args' | 'effect'; readonly salt: Uint8Array }
}

/** The wanted contents of a pack. */
export interface PackRequest extends Partial<Contents> {
  /** The size of an earlier checkpoint. The pack then proves that the ledger only grew since. */
  readonly since?: number
  readonly payloads?: readonly Payload[]
}

/** A proof that a range of leaves is in the tree: the full subtrees left and right of it. */
export interface RangeProof {
  readonly left: readonly Uint8Array[]
  readonly right: readonly Uint8Array[]
}

/** A proof that the ledger continues an earlier one of `size` entries. */
export interface ConsistencyProof {
  readonly size: number
  readonly hashes: readonly Uint8Array[]
}

/** A part of a pack as read. Its form is checked; its content is not verified. */
export type Part = { readonly member: Member } & (
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | { readonly kind: 'payload'; readonly hash: string; readonly label?: 'args' | 'effect' }
  | { readonly kind: 'policy'; readonly hash: string }
  | {
      readonly kind: 'inclusion'
      readonly index: number
      readonly hashes: readonly Uint8Array[]
      readonly checkpoint: string
    }
  | { readonly kind: 'range'; readonly proof: RangeProof }
  | { readonly kind: 'consistency'; readonly proof: ConsistencyProof }
  | { readonly kind: 'receipts'; readonly bundle: Bundle; readonly envelopes: readonly Uint8Array[] }
  | { readonly kind: 'unexpected' }
)

/**
 * Writes a pack in chunks. The same contents at the same tree size give the same bytes on every machine.
 *
 * The contents must include the genesis receipt, every `key` receipt and, for a range, the `policy` receipt in force at its
 * start. Put those outside the range into `selected`.
 *
 * @throws EvidenceError `PACK_MALFORMED` for an impossible request, `PACK_INCOMPLETE` if a key is missing or the ledger changed
 * during the write.
 */
export async function* writePack(ledger: LedgerReader, request: PackRequest): AsyncGenerator<Uint8Array> {
  const head = parseCheckpoint(ledger.checkpoint)
  const contents: Contents = {
    ...(request.range && { range: request.range }),
    selected: request.selected ?? [],
  }
  checkContents(contents, head.size)
  checkRequest(request, head.size)
  const survey = await surveyReceipts(ledger, contents)
  checkSigner(head, survey.ledgerKeys)
  const small: Member[] = [
    { name: 'checkpoint', bytes: utf8(ledger.checkpoint) },
    ...survey.keys,
    ...(request.payloads ?? []).map(payloadMember),
    ...(await policyMembers(ledger, survey.policies)),
    ...(await proofMembers(ledger, contents, head, request.since)),
  ]
  const members = [...small.map(listed), ...survey.bundles].sort(byName)
  const manifest: Manifest = {
    format: 'tollgate-evidence-pack',
    v: 1,
    ledger: head.origin,
    tree_size: head.size,
    ...contents,
    members,
  }
  const files = [...small, { name: 'manifest.json', bytes: formatManifest(manifest) }].sort(byName)
  for (const file of files) yield* archived(file)
  for (const bundle of bundles(contents)) {
    const file = await readBundle(ledger, bundle)
    if (survey.digests.get(file.name) !== sha256Hex(file.bytes)) {
      throw new EvidenceError(
        'PACK_INCOMPLETE',
        'the ledger changed while the pack was written; write it again',
      )
    }
    yield* archived(file)
  }
  yield ARCHIVE_END
}

/**
 * Reads a pack part by part and checks its form only: canonical archive, known names, readable parts. `verifyPack` verifies the
 * contents.
 *
 * @throws EvidenceError `ARCHIVE_MALFORMED`, `ARCHIVE_TOO_LARGE`, `PACK_MALFORMED`, `PROOF_MALFORMED` or a `JSON_…` code.
 */
export async function* readPack(source: ByteSource): AsyncGenerator<Part> {
  let expected: Generator<Bundle> | undefined
  for await (const member of readArchive(source, { maxMembers: MAX_MEMBERS, maxSize })) {
    const slash = member.name.indexOf('/')
    const [folder, name] = [member.name.slice(0, Math.max(slash, 0)), member.name.slice(slash + 1)]
    if (folder === 'receipts') {
      const bundle = expected?.next().value as Bundle | undefined
      const fits = bundle?.name === member.name
      yield fits
        ? { kind: 'receipts', member, bundle, envelopes: lines(member, bundle.count) }
        : { kind: 'unexpected', member }
      continue
    }
    const part = readSmall(member, folder, name)
    if (part.kind === 'manifest') expected = bundles(part.manifest)
    yield part
  }
}

/** The member of `keys/` for a key of the ledger. */
export function keyMember(key: NoteKey): Member {
  return { name: `keys/${key.key.id}`, bytes: utf8(`${formatVkey(key)}\n`) }
}

/** The key that a receipt adds to the ledger, or undefined if it adds none. */
export function introducedKey(receipt: Receipt): NoteKey | undefined {
  const adds = receipt.kind === 'genesis' || (receipt.kind === 'key' && receipt.op === 'add')
  if (!adds) return undefined
  const of = receipt.kind === 'key' ? receipt.of : undefined
  const name = of === undefined ? receipt.ledger : `${receipt.ledger}/${of}`
  return noteKey(name, importPublicKey(receipt.public_key))
}

const MAX_BUNDLE_BYTES = 256 * (MAX_ENVELOPE_BYTES + 1)

/** Maximum size of a member in bytes, by its name. */
export function maxSize(name: string): number {
  if (name === 'manifest.json') return MAX_MANIFEST_BYTES
  if (name.startsWith('receipts/')) return MAX_BUNDLE_BYTES
  if (name.startsWith('payloads/')) return 64 << 20
  if (name.startsWith('keys/')) return 1024
  return name.startsWith('policy/') ? 4 << 20 : 256 << 10
}

const HASH_NAME = /^[0-9a-f]{64}$/
const PAYLOAD_NAME = /^([0-9a-f]{64})(?:\.(args|effect))?$/

function readSmall(member: Member, folder: string, name: string): Part {
  if (member.name === 'checkpoint') return { kind: 'checkpoint', member }
  if (member.name === 'manifest.json')
    return { kind: 'manifest', member, manifest: parseManifest(member.bytes) }
  if (folder === 'keys' && HASH_NAME.test(name)) return { kind: 'key', member, id: name }
  if (folder === 'policy' && HASH_NAME.test(name)) return { kind: 'policy', member, hash: name }
  if (folder === 'proofs') return readProof(member, name)
  const payload = folder === 'payloads' ? PAYLOAD_NAME.exec(name) : null
  if (!payload) return { kind: 'unexpected', member }
  const [, hash = '', label] = payload
  // Sound: the pattern allows these two words.
  return { kind: 'payload', member, hash, ...(label !== undefined && { label: label as 'args' | 'effect' }) }
}

function readProof(member: Member, name: string): Part {
  if (name === 'range.json') return { kind: 'range', member, proof: parseRangeProof(member) }
  if (name === 'consistency.json')
    return { kind: 'consistency', member, proof: parseConsistencyProof(member) }
  if (!/^[0-9]{16}\.tlog-proof$/.test(name)) return { kind: 'unexpected', member }
  const proof = parseProof(member.bytes)
  if (name !== `${indexName(proof.index)}.tlog-proof`)
    throw malformed(member, 'has the name of another index')
  // The canonical form only: nothing signs an `extra` line, so it is not allowed in a pack.
  if (!sameBytes(utf8(formatProof(proof)), member.bytes))
    throw malformed(member, 'contains more than a proof')
  return { kind: 'inclusion', member, ...proof }
}

/** Maximum number of hashes of a list in `range.json` or `consistency.json`. */
export const MAX_LISTED_HASHES = 128

const hashes = array(bytes32, MAX_LISTED_HASHES)

function parseRangeProof(member: Member): RangeProof {
  const { left, right } = parseFields(member, { left: hashes, right: hashes })
  return { left: decodeHashes(left), right: decodeHashes(right) }
}

function parseConsistencyProof(member: Member): ConsistencyProof {
  const value = parseFields(member, { hashes, size: count() })
  return { hashes: decodeHashes(value['hashes']), size: Number(value['size']) }
}

function parseFields(member: Member, fields: Fields): JsonObject {
  const value = parseCanonical(member.bytes, member.bytes.length)
  const problem = problemWith(value, shape(fields))
  if (problem !== undefined) throw malformed(member, `cannot be read: ${problem}`)
  // Sound: a value that is not an object has a problem.
  return value as JsonObject
}

function decodeHashes(list: Json | undefined): Uint8Array[] {
  // Sound: the field table allowed a list of base64 texts and nothing else.
  return (list as readonly string[]).map((text) => requireBase64(text, 32, 'a hash'))
}

/** The envelopes of a bundle, one per line. Stops at one more than `max`, which already proves that there are too many. */
function lines(member: Member, max: number): Uint8Array[] {
  const { bytes } = member
  const envelopes: Uint8Array[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0 && envelopes.length <= max; end = bytes.indexOf(10, start)) {
    envelopes.push(bytes.subarray(start, end))
    start = end + 1
  }
  if (start < bytes.length && envelopes.length <= max) throw malformed(member, 'does not end with a newline')
  return envelopes
}

/** The result of the first pass over the receipts: all that the manifest needs. */
interface Survey {
  readonly bundles: readonly ListedMember[]
  readonly digests: ReadonlyMap<string, string>
  readonly policies: ReadonlySet<string>
  readonly keys: readonly Member[]
  /** Hints of the ledger's own keys. */
  readonly ledgerKeys: ReadonlySet<string>
}

/** The receipt that added the signing key of the checkpoint must be in the pack, or verification fails. */
function checkSigner({ origin, note }: ReturnType<typeof parseCheckpoint>, hints: ReadonlySet<string>): void {
  if (note.signatures.some(({ name, hint }) => name === origin && hints.has(hint))) return
  throw new EvidenceError(
    'PACK_INCOMPLETE',
    'the receipt that added the key of the checkpoint is not selected; add it to `selected`',
  )
}

async function surveyReceipts(ledger: LedgerReader, contents: Contents): Promise<Survey> {
  const listedBundles: ListedMember[] = []
  const policies = new Set<string>()
  const signers = new Set<string>()
  const keys = new Map<string, Member>()
  const ledgerKeys = new Set<string>()
  for (const bundle of bundles(contents)) {
    const file = await readBundle(ledger, bundle)
    listedBundles.push(listed(file))
    for (const envelope of lines(file, bundle.count)) {
      const { receipt } = parseReceipt(envelope)
      signers.add(receipt.key)
      if (receipt.kind === 'decision' && receipt.policy_hash !== NO_HASH) policies.add(receipt.policy_hash)
      const key = introducedKey(receipt)
      if (key) keys.set(key.key.id, keyMember(key))
      if (key?.name === receipt.ledger) ledgerKeys.add(key.hint)
    }
  }
  const unknown = [...signers].find((id) => !keys.has(id))
  if (unknown !== undefined) {
    throw new EvidenceError(
      'PACK_INCOMPLETE',
      `the receipt that added the key \`${unknown}\` is not selected; add it to \`selected\``,
    )
  }
  const digests = new Map(listedBundles.map(({ name, sha256 }) => [name, sha256]))
  return { bundles: listedBundles, digests, policies, keys: [...keys.values()], ledgerKeys }
}

async function readBundle(ledger: LedgerReader, bundle: Bundle): Promise<Member> {
  const parts: Uint8Array[] = []
  for (const { start, end } of bundle.runs) {
    for await (const envelope of ledger.receipts(start, end)) parts.push(envelope, LINE_END)
  }
  if (parts.length !== 2 * bundle.count) {
    throw new EvidenceError('PACK_INCOMPLETE', 'the ledger returned more or fewer receipts than requested')
  }
  return { name: bundle.name, bytes: join(parts) }
}

async function proofMembers(
  { node, checkpoint }: LedgerReader,
  { range, selected }: Contents,
  { size }: Head,
  since: number | undefined,
): Promise<Member[]> {
  const members: Member[] = []
  for (const index of selected) {
    const text = formatProof({ index, hashes: await inclusionProof(index, size, node), checkpoint })
    members.push({ name: `proofs/${indexName(index)}.tlog-proof`, bytes: utf8(text) })
  }
  if (since !== undefined) {
    const hashes = await consistencyProof(since, size, node)
    const value = { size: since, hashes: hashes.map(toBase64) }
    members.push({ name: 'proofs/consistency.json', bytes: canonicalBytes(value) })
  }
  if (range) {
    const left = await Promise.all(
      subtrees(0, range.start).map(async ({ level, index }) => node(level, index)),
    )
    const right = await Promise.all(
      subtrees(range.end, size).map(async ({ level, index }) => node(level, index)),
    )
    const value = { left: left.map(toBase64), right: right.map(toBase64) }
    members.push({ name: 'proofs/range.json', bytes: canonicalBytes(value) })
  }
  return members
}

async function policyMembers(ledger: LedgerReader, policies: ReadonlySet<string>): Promise<Member[]> {
  const members: Member[] = []
  for (const hash of policies) {
    const bytes = await ledger.policy(hash)
    if (bytes) members.push({ name: `policy/${hash}`, bytes })
  }
  return members
}

function checkRequest({ since = 0, payloads = [] }: PackRequest, size: number): void {
  if (!Number.isSafeInteger(since) || since < 0 || since > size)
    throw impossible('`since` is not a size that the ledger had')
  const names = payloads.map((payload) => payloadMember(payload).name)
  if (new Set(names).size < names.length) throw impossible('a payload is given twice')
  if (payloads.some(({ hash }) => !HASH_NAME.test(hash)))
    throw impossible('the hash of a payload is not a SHA-256 in hexadecimal')
  for (const payload of payloads) {
    const { bytes } = payloadMember(payload)
    if (!payloadHolds(payload.hash, payload.salted?.label, bytes))
      throw impossible('a payload does not match its hash')
  }
}

/** Whether the content of a `payloads/` member, with its salt, matches its hash. */
export function payloadHolds(hash: string, label: 'args' | 'effect' | undefined, bytes: Uint8Array): boolean {
  if (label === undefined) return sha256Hex(bytes) === hash
  return bytes.length >= 32 && saltedHash(label, bytes.subarray(0, 32), bytes.subarray(32)) === hash
}

function payloadMember({ hash, bytes, salted }: Payload): Member {
  if (!salted) return { name: `payloads/${hash}`, bytes }
  return { name: `payloads/${hash}.${salted.label}`, bytes: concat(salted.salt, bytes) }
}

function* archived({ name, bytes }: Member): Generator<Uint8Array> {
  yield archiveHeader(name, bytes.length)
  yield bytes
  yield archivePadding(bytes.length)
}

function listed({ name, bytes }: Member): ListedMember {
  return { name, sha256: sha256Hex(bytes), size: bytes.length }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

const LINE_END = Uint8Array.of(10)

function impossible(problem: string): EvidenceError {
  return new EvidenceError('PACK_MALFORMED', `the pack cannot be written: ${problem}`)
}

function malformed({ name }: Member, problem: string): EvidenceError {
  return new EvidenceError('PACK_MALFORMED', `\`${name}\` ${problem}`)
}
