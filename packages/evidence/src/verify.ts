// Verifies a pack in one pass and bounded memory: archive, trust, checkpoint, leaves, parsing, signatures, chain, pairing, policies.
// Every problem of the pack becomes a finding, never an exception.

import { Audit } from './audit.ts'
import { sameBytes, toBase64, utf8 } from './bytes.ts'
import {
  openCheckpoint,
  parseCheckpoint,
  type Checkpoint,
  type CheckpointKeys,
  type Head,
} from './checkpoint.ts'
import { codeOf, EvidenceError, type EvidenceErrorCode } from './error.ts'
import { FINDINGS, type FindingCode } from './findings.ts'
import { sha256Hex } from './hash.ts'
import type { PublicKey } from './keys.ts'
import type { Receipt } from './kinds.ts'
import { Leaves } from './leaves.ts'
import { Listing } from './listing.ts'
import type { Manifest } from './manifest.ts'
import { EMPTY_ROOT, verifyConsistency } from './merkle.ts'
import { formatNote } from './note.ts'
import { keyMember, payloadHolds, readPack, type ConsistencyProof, type Part } from './pack.ts'
import { parseReceipt, signatureHolds, type Parsed } from './receipt.ts'
import {
  Findings,
  notProvedBy,
  provedBy,
  type Basis,
  type ExitCode,
  type Level,
  type Report,
} from './report.ts'
import { Tally } from './tally.ts'
import type { ByteSource, Member } from './tar.ts'
import type { Trust } from './trust.ts'

/** A signature to check. */
export interface SignatureJob {
  readonly index: number
  readonly receipt: Parsed
  readonly key: PublicKey
}

/** Checks signatures, in this thread or in others. */
export interface SignatureChecker {
  /** Number of batches that it can process concurrently. */
  readonly parallel: number
  /** Returns for each job whether its signature is valid. */
  check(jobs: readonly SignatureJob[]): Promise<readonly boolean[]>
}

/** The progress of a verification. */
export interface Progress {
  readonly bytes: number
  readonly receipts: number
}

/** The options of `verifyPack`. */
export interface VerifyOptions {
  /** The parsed trust file. Without it the level is at best `integrity only`. */
  readonly trust?: Trust
  /** Default: checks in this thread. */
  readonly signatures?: SignatureChecker
  /** Called after each part of the pack. */
  readonly onProgress?: (progress: Progress) => void
  /**
   * Called for each receipt that can be read, in the order of the pack, also if the pack is false. An entry is an unverified
   * claim until the report says how far the pack can be believed. The caller must not change it.
   */
  readonly onReceipt?: (entry: Entry) => void
}

/** A receipt at its place in the ledger, as the pack claims it. */
export interface Entry {
  readonly index: number
  readonly id: string
  readonly receipt: Receipt
}

/**
 * Verifies a pack and reports all its problems.
 *
 * Never throws because of the content of a pack. Reads it once, in chunks. Keeps in memory its manifest, its proofs, a few bundles,
 * about 60 bytes for each receipt and about 500 for each unanswered escalation.
 */
export async function verifyPack(source: ByteSource, options: VerifyOptions = {}): Promise<Report> {
  const verification = new Verification(options)
  let bytes = 0
  try {
    for await (const part of readPack(source)) {
      await verification.take(part)
      bytes += part.member.bytes.length
      options.onProgress?.({ bytes, receipts: verification.tally.receipts })
    }
  } catch (fault) {
    // A runtime without Ed25519 says nothing about the pack.
    if (!(fault instanceof EvidenceError) || fault.code === 'KEY_UNAVAILABLE') throw fault
    return verification.giveUp(fault)
  }
  return verification.finish()
}

const inThread: SignatureChecker = {
  parallel: 1,
  async check(jobs) {
    const answers: boolean[] = []
    for (const { receipt, key } of jobs) answers.push(await signatureHolds(receipt, key))
    return answers
  },
}

/** Maximum number of keys in a pack. */
export const MAX_KEYS = 10_000

/** Whether a checkpoint continues an earlier one. Every ledger continues the empty one; that needs no hashes. */
function continues(head: Head, seen: Pick<Head, 'size' | 'root'>, proof: readonly Uint8Array[]): boolean {
  if (seen.size === 0) return proof.length === 0 && sameBytes(seen.root, EMPTY_ROOT)
  return verifyConsistency(seen.size, head.size, proof, seen.root, head.root)
}

const EXIT: Readonly<Record<Level, ExitCode>> = {
  witnessed: 0,
  verified: 0,
  failed: 1,
  malformed: 2,
  'integrity only': 3,
}

/** One verification, from the first part to the report. */
class Verification {
  readonly tally = new Tally()
  readonly #trust: Trust | undefined
  readonly #checker: SignatureChecker
  readonly #onReceipt: VerifyOptions['onReceipt']
  readonly #findings = new Findings()
  readonly #listing = new Listing(this.#findings)
  /** Digests of the keys shown, by key id. */
  readonly #keyFiles = new Map<string, string>()
  readonly #policyFiles = new Map<string, string>()
  /** Disclosed payloads that no receipt has referred to yet, by hash and label. */
  readonly #payloads = new Map<string, string>()
  readonly #batches = new Set<Promise<unknown>>()
  #broken: { readonly fault: unknown } | undefined
  #checkpoint: { readonly bytes: Uint8Array; readonly text: string; readonly head: Head } | undefined
  #opened: Checkpoint | undefined
  #manifest: Manifest | undefined
  #leaves: Leaves | undefined
  #audit: Audit | undefined
  #consistency: ConsistencyProof | undefined

  constructor({ trust, signatures, onReceipt }: VerifyOptions) {
    this.#trust = trust
    this.#onReceipt = onReceipt
    this.#checker = signatures ?? inThread
  }

  async take(part: Part): Promise<void> {
    // Later parts need the manifest. Without it, the missing manifest is the only finding.
    if (part.member.name > 'manifest.json' && !this.#manifest) return
    if (part.kind !== 'manifest') this.#listing.take(part.member)
    if (part.kind === 'checkpoint') await this.#takeCheckpoint(part.member.bytes)
    else if (part.kind === 'receipts') await this.#takeReceipts(part)
    else this.#takeSmall(part)
  }

  /** The report on a pack that could not be read to the end. */
  async giveUp({ code, message }: EvidenceError): Promise<Report> {
    await this.#settle()
    this.#findings.add(findingFor(code), {}, message)
    return this.#report('malformed')
  }

  async finish(): Promise<Report> {
    await this.#settle()
    this.#listing.finish()
    this.#leaves?.finish()
    this.#checkKeyFiles()
    this.#checkReferences()
    await this.#checkAuthority()
    this.#checkContinuation()
    return this.#report(this.#level())
  }

  #takeSmall(part: Exclude<Part, { kind: 'checkpoint' | 'receipts' }>): void {
    const { member } = part
    switch (part.kind) {
      case 'manifest':
        return this.#takeManifest(part.manifest)
      case 'key':
        return this.#takeKeyFile(part.id, member)
      case 'payload':
        return this.#takePayload(part.hash, part.label, member)
      case 'policy':
        if (sha256Hex(member.bytes) !== part.hash)
          this.#findings.add('POLICY_CHANGED', { member: member.name })
        this.#policyFiles.set(part.hash, member.name)
        return
      case 'inclusion':
        return this.#takeInclusion(part)
      case 'range':
        if (!this.#manifest?.range) this.#findings.add('MEMBER_UNEXPECTED', { member: member.name })
        this.#leaves?.takeRangeProof(part.proof)
        return
      case 'consistency':
        this.#consistency = part.proof
        this.#leaves?.ask(part.proof.size)
        return
      case 'unexpected':
        this.#findings.add('MEMBER_UNEXPECTED', { member: member.name })
        return
    }
  }

  async #takeCheckpoint(bytes: Uint8Array): Promise<void> {
    const head = parseCheckpoint(bytes)
    this.#checkpoint = { bytes, head, text: formatNote(head.note) }
    if (!this.#trust) return
    const { keys, witnesses, quorum } = this.#trust
    this.#opened = await this.#open(bytes, { ledger: keys, witnesses })
    if (this.#checkpoint.head.origin !== this.#trust.ledger) {
      this.#findings.add('TRUST_LEDGER_WRONG', { member: 'checkpoint' })
    }
    const cosigned = this.#opened?.cosignedBy.length ?? quorum
    if (!(cosigned >= quorum)) {
      this.#findings.add('WITNESS_QUORUM_MISSED', { member: 'checkpoint' }, `${cosigned} of ${quorum}`)
    }
  }

  async #open(bytes: Uint8Array, keys: CheckpointKeys): Promise<Checkpoint | undefined> {
    try {
      return await openCheckpoint(bytes, keys)
    } catch (fault) {
      if (!(fault instanceof EvidenceError)) throw fault
      this.#findings.add(findingFor(fault.code), { member: 'checkpoint' }, fault.message)
      return undefined
    }
  }

  #takeManifest(manifest: Manifest): void {
    this.#manifest = manifest
    this.#listing.takeManifest(manifest)
    this.#audit = new Audit(manifest, (code, index, detail) => this.#findings.add(code, { index }, detail))
    const head = this.#checkpoint?.head
    if (!head) return
    this.#leaves = new Leaves(this.#findings, head, manifest)
    if (this.#trust?.checkpoint) this.#leaves.ask(this.#trust.checkpoint.size)
    if (manifest.ledger !== head.origin || manifest.tree_size !== head.size) {
      this.#findings.add('MANIFEST_WRONG', { member: 'manifest.json' })
    }
  }

  #takeKeyFile(id: string, { name, bytes }: Member): void {
    if (this.#keyFiles.size >= MAX_KEYS)
      this.#findings.add('MEMBER_UNEXPECTED', { member: name }, 'too many keys')
    else this.#keyFiles.set(id, sha256Hex(bytes))
  }

  #takePayload(hash: string, label: 'args' | 'effect' | undefined, { name, bytes }: Member): void {
    const holds = payloadHolds(hash, label, bytes)
    if (holds) this.#payloads.set(payloadName(hash, label), name)
    else this.#findings.add('PAYLOAD_CHANGED', { member: name })
  }

  #takeInclusion({ index, hashes, checkpoint, member }: Extract<Part, { kind: 'inclusion' }>): void {
    const { name } = member
    if (this.#checkpoint && !sameBytes(utf8(checkpoint), this.#checkpoint.bytes)) {
      this.#findings.add('INCLUSION_WRONG', { index, member: name }, 'it is for another checkpoint')
    }
    if (this.#leaves?.takeInclusionProof(index, hashes) !== true) {
      this.#findings.add('MEMBER_UNEXPECTED', { member: name })
    }
  }

  async #takeReceipts({ bundle, envelopes, member }: Extract<Part, { kind: 'receipts' }>): Promise<void> {
    if (envelopes.length !== bundle.count) {
      const detail = `it has ${envelopes.length} instead of ${bundle.count}`
      this.#findings.add('RECEIPT_COUNT_WRONG', { member: member.name }, detail)
    }
    const indexes = bundle.runs.flatMap(({ start, end }) =>
      Array.from({ length: end - start }, (_, i) => start + i),
    )
    const jobs: SignatureJob[] = []
    envelopes.slice(0, indexes.length).forEach((envelope, i) => {
      const job = this.#takeReceipt(indexes[i] ?? 0, envelope)
      if (job) jobs.push(job)
    })
    await this.#checkSignatures(jobs)
  }

  #takeReceipt(index: number, envelope: Uint8Array): SignatureJob | undefined {
    this.tally.receipts++
    this.#leaves?.take(index, envelope)
    const receipt = this.#parse(index, envelope)
    if (!receipt) return undefined
    this.tally.take(receipt.receipt)
    if (this.#payloads.size > 0) this.#payloads.delete(committedBy(receipt.receipt))
    const origin = this.#checkpoint?.head.origin ?? this.#manifest?.ledger
    if (receipt.receipt.ledger !== origin) this.#findings.add('RECEIPT_FOREIGN', { index })
    const key = this.#audit?.take(index, receipt)
    this.#onReceipt?.({ index, id: receipt.id, receipt: receipt.receipt })
    return key && { index, receipt, key }
  }

  #parse(index: number, envelope: Uint8Array): Parsed | undefined {
    try {
      return parseReceipt(envelope)
    } catch (fault) {
      const code = codeOf(fault)
      const named = code === 'RECEIPT_VERSION_UNKNOWN' || code === 'RECEIPT_KIND_UNKNOWN'
      // Sound: `codeOf` rethrows all other errors.
      this.#findings.add(named ? code : 'RECEIPT_MALFORMED', { index }, (fault as EvidenceError).message)
      return undefined
    }
  }

  async #checkSignatures(jobs: readonly SignatureJob[]): Promise<void> {
    if (this.#broken) throw this.#broken.fault
    const batch: Promise<unknown> = this.#checkBatch(jobs).finally(() => this.#batches.delete(batch))
    this.#batches.add(batch)
    // Limits the batches in memory.
    if (this.#batches.size >= this.#checker.parallel) await Promise.race(this.#batches)
  }

  async #checkBatch(jobs: readonly SignatureJob[]): Promise<void> {
    try {
      const answers = await this.#checker.check(jobs)
      for (const [i, { index }] of jobs.entries()) {
        if (answers[i] !== true) this.#findings.add('SIGNATURE_WRONG', { index })
      }
    } catch (fault) {
      // Rethrown by `#settle`: a failed checker says nothing about the pack, and must not count as success.
      this.#broken ??= { fault }
    }
  }

  /** Waits for all signature checks. */
  async #settle(): Promise<void> {
    await Promise.all(this.#batches)
    if (this.#broken) throw this.#broken.fault
  }

  #checkKeyFiles(): void {
    if (!this.#audit) return
    if (!this.#audit.genesis) this.#findings.add('GENESIS_MISSING')
    for (const { note } of this.#audit.keys.values()) {
      const { name, bytes } = keyMember(note)
      if (this.#keyFiles.get(note.key.id) !== sha256Hex(bytes))
        this.#findings.add('KEY_FILE_WRONG', { member: name })
      this.#keyFiles.delete(note.key.id)
    }
    for (const id of this.#keyFiles.keys()) this.#findings.add('KEY_FILE_WRONG', { member: `keys/${id}` })
  }

  #checkReferences(): void {
    for (const [hash, member] of this.#policyFiles) {
      if (this.#audit?.policies.has(hash) !== true) this.#findings.add('MEMBER_UNEXPECTED', { member })
    }
    for (const member of this.#payloads.values()) this.#findings.add('PAYLOAD_UNREFERENCED', { member })
  }

  /** The signing key of the checkpoint must be an active key of the ledger. The key of a witness must not be one. */
  async #checkAuthority(): Promise<void> {
    if (!this.#audit || !this.#checkpoint) return
    const where = { member: 'checkpoint' }
    const keys = [...this.#audit.keys.values()]
    const inService = keys
      .filter(({ role, retired }) => role === 'ledger' && !retired)
      .map(({ note }) => note)
    if (!this.#trust) {
      const named = inService.some(({ name }) => name === this.#checkpoint?.head.origin)
      if (named) await this.#open(this.#checkpoint.bytes, { ledger: inService })
      else this.#findings.add('CHECKPOINT_KEY_FOREIGN', where)
      return
    }
    const ids = new Set(inService.map(({ key }) => key.id))
    if (this.#opened && !this.#opened.signedBy.some((id) => ids.has(id)))
      this.#findings.add('CHECKPOINT_KEY_FOREIGN', where)
    if (this.#trust.witnesses.some(({ key }) => this.#audit?.keys.has(key.id) === true)) {
      this.#findings.add('KEY_ROLE_WRONG', where, 'the trust file names a key of the ledger as a witness')
    }
  }

  /** The pinned checkpoint, if any, must be a prefix of the ledger. The range or a consistency proof shows it. */
  #checkContinuation(): void {
    const head = this.#checkpoint?.head
    const seen = this.#trust?.checkpoint
    if (!head) return
    this.#checkConsistencyProof(head)
    if (!seen) return
    const where = { member: 'checkpoint' }
    if (seen.size > head.size) return this.#findings.add('CHECKPOINT_OLDER', where)
    const shown = this.#rootAt(seen.size)
    const proof = this.#consistency?.size === seen.size ? this.#consistency.hashes : undefined
    if (shown && !sameBytes(shown, seen.root)) this.#findings.add('CHECKPOINT_INCONSISTENT', where)
    else if (!shown && !proof) this.#findings.add('CONSISTENCY_MISSING', where)
    else if (proof && !continues(head, seen, proof)) {
      this.#findings.add('CHECKPOINT_INCONSISTENT', where)
    }
  }

  /** A consistency proof for another size than the pinned one must be possible, and must match the range. */
  #checkConsistencyProof(head: Head): void {
    if (!this.#consistency || this.#consistency.size === this.#trust?.checkpoint?.size) return
    const { size, hashes } = this.#consistency
    const root = this.#rootAt(size)
    const wrong = root && !continues(head, { size, root }, hashes)
    if (size > head.size || wrong)
      this.#findings.add('PROOF_MALFORMED', { member: 'proofs/consistency.json' })
  }

  /** The root of the ledger at a size, if the pack shows it. */
  #rootAt(size: number): Uint8Array | undefined {
    if (size === 0) return EMPTY_ROOT
    return size === this.#checkpoint?.head.size ? this.#checkpoint.head.root : this.#leaves?.rootAt(size)
  }

  #level(): Level {
    if (this.#findings.malformed) return 'malformed'
    if (this.#findings.any) return 'failed'
    if (!this.#trust) return 'integrity only'
    return (this.#opened?.cosignedBy.length ?? 0) > 0 ? 'witnessed' : 'verified'
  }

  #report(level: Level): Report {
    const { head } = this.#checkpoint ?? {}
    const { range, selected = [] } = this.#manifest ?? {}
    const basis = this.#basis(level)
    return {
      level,
      exit: EXIT[level],
      ...(head && { ledger: head.origin, tree_size: head.size, root: toBase64(head.root) }),
      ...(range && { range }),
      selected: selected.length,
      witnesses: basis.witnesses,
      ...((level === 'verified' || level === 'witnessed') && { checkpoint: this.#checkpoint?.text ?? '' }),
      summary: basis.summary,
      findings: this.#findings.sorted(),
      more_findings: this.#findings.more,
      proved: provedBy(basis),
      not_proved: notProvedBy(basis),
    }
  }

  #basis(level: Level): Basis {
    const { head } = this.#checkpoint ?? {}
    return {
      level,
      ledger: head?.origin ?? '',
      size: head?.size ?? 0,
      range: this.#manifest?.range,
      selected: this.#manifest?.selected.length ?? 0,
      witnesses: this.#opened?.cosignedBy ?? [],
      continues: this.#trust?.checkpoint?.size,
      summary: this.tally.summary(this.#audit?.open ?? 0),
      unknown: this.#audit?.unknown ?? 0,
      unseen: this.#audit?.unseen ?? { references: 0, policies: 0 },
      policiesMissing: [...(this.#audit?.policies ?? [])].filter((hash) => !this.#policyFiles.has(hash))
        .length,
    }
  }
}

/** The finding for a fault while reading. */
function findingFor(code: EvidenceErrorCode): FindingCode {
  if (code === 'NOTE_MALFORMED') return 'CHECKPOINT_MALFORMED'
  if (code === 'NOTE_UNSIGNED') return 'CHECKPOINT_UNSIGNED'
  if (code === 'NOTE_SIGNATURE_WRONG') return 'CHECKPOINT_SIGNATURE_WRONG'
  if (code === 'CHECKPOINT_ORIGIN_WRONG') return 'TRUST_LEDGER_WRONG'
  // Sound: `hasOwn` has found the code.
  return Object.hasOwn(FINDINGS, code) ? (code as FindingCode) : 'PACK_MALFORMED'
}

/** The name under which the payload of a receipt is disclosed; empty if it has none. */
function committedBy(receipt: Receipt): string {
  if (receipt.kind === 'decision')
    return payloadName(receipt.args_hash, receipt.commit === 'salted' ? 'args' : undefined)
  if (receipt.kind !== 'effect' || receipt.effect_hash === undefined) return ''
  return payloadName(receipt.effect_hash, receipt.commit === 'salted' ? 'effect' : undefined)
}

function payloadName(hash: string, label: 'args' | 'effect' | undefined): string {
  return label === undefined ? hash : `${hash}.${label}`
}
