// Crimes against the head: another ledger's, an older one, one that nobody signed, one that contradicts what was seen.

import {
  AT,
  DENIED,
  keyChange,
  POLICY,
  story,
  told,
  trustIn,
} from '../../packages/evidence/test/audit-story.ts'
import { decision, fixedKey, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  edited,
  forge,
  forged,
  RECEIPTS,
  relined,
  replaced,
  bytesOf,
  type ForgeRequest,
  type Members,
} from '../../packages/evidence/test/pack-forge.ts'
import {
  cosignCheckpoint,
  noteKey,
  parseCheckpoint,
  sha256,
  toBase64,
} from '../../packages/evidence/src/index.ts'
import { formatNote, signNote, type NoteSignature } from '../../packages/evidence/src/note.ts'
import { cosign, keysWithRanges, MIDDLE, trustInTheStory, twoOfThree, witness } from './honest.ts'
import {
  BEGINNING,
  boundCrime,
  fails,
  packed,
  unreadable,
  withoutTrust,
  type Made,
  type Plan,
} from './plan.ts'
import { plusGroupOrder } from './signatures.ts'

const UNSIGNED = ['CHECKPOINT_UNSIGNED in checkpoint']
const SIGNATURE_WRONG = ['CHECKPOINT_SIGNATURE_WRONG in checkpoint']
const KEY_FOREIGN = ['CHECKPOINT_KEY_FOREIGN in checkpoint']
const INCONSISTENT = ['CHECKPOINT_INCONSISTENT in checkpoint']
const UNREADABLE = ['CHECKPOINT_MALFORMED']
const stranger = await fixedKey('stranger')

/** An honest pack with another checkpoint in it. */
async function withCheckpoint(ledger: TestLedger, checkpoint: string): Promise<Members> {
  return replaced(await forge(ledger), 'checkpoint', bytesOf(checkpoint))
}

/** A crime in which only the text of the checkpoint is another. */
function checkpointCrime(tamper: (checkpoint: string, ledger: TestLedger) => Promise<string> | string) {
  return async (): Promise<Made> => {
    const ledger = await told(undefined, BEGINNING)
    const members = await withCheckpoint(ledger, await tamper(ledger.checkpoint, ledger))
    return { pack: archive(bound(members)), trust: trustIn(ledger) }
  }
}

/** A crime against the signatures under the checkpoint; its text stays. */
function signatureCrime(tamper: (signature: NoteSignature) => NoteSignature | NoteSignature[]) {
  return checkpointCrime((checkpoint) => {
    const { note } = parseCheckpoint(checkpoint)
    return formatNote({ ...note, signatures: note.signatures.flatMap(tamper) })
  })
}

/** A crime of witnesses, or against them: the head of the story, with other cosignatures. */
function witnessCrime(forgeHead: (ledger: TestLedger) => Promise<unknown>) {
  return async (): Promise<Made> => {
    const ledger = await told(undefined, BEGINNING)
    await forgeHead(ledger)
    return packed(ledger, undefined, await twoOfThree())
  }
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
}

/** The head with the last cosignature changed. */
function cosignatureChanged(ledger: TestLedger, change: (bytes: Uint8Array) => Uint8Array): void {
  const { note } = parseCheckpoint(ledger.checkpoint)
  const signatures = note.signatures.map((signature, i, all) =>
    i === all.length - 1 ? { ...signature, bytes: change(signature.bytes) } : signature,
  )
  ledger.useCheckpoint(formatNote({ ...note, signatures }))
}

/** A ledger whose history was rewritten by those who hold all of its keys: what was denied became allowed. */
async function rewritten(): Promise<TestLedger> {
  return told(undefined, { instead: { at: AT.denied, draft: decision(POLICY) } })
}

/** A pack of the rewritten ledger for an auditor who had seen the true head of `seen` entries. */
async function rewrittenSince(seen: number, request?: ForgeRequest): Promise<Made> {
  const pins = { checkpoint: await (await story()).checkpointAt(seen) }
  return packed(await rewritten(), request, pins)
}

async function otherLedger(origin: string): Promise<TestLedger> {
  return told(undefined, { ...BEGINNING, origin, salt: 'other' })
}

const OTHER = 'ledger.example/other'
const SAME = 'ledger.example/demo'

export const CHECKPOINTS: readonly Plan[] = [
  fails(
    'ledger-key-used-after-its-range',
    'a retired key of the ledger signs a head that is newer than its retirement',
    UNSIGNED,
    async () => {
      const ledger = await told()
      return packed(ledger, undefined, { keys: keysWithRanges(ledger, 4) })
    },
  ),
  fails(
    'ledger-key-used-before-its-range',
    'a key of the ledger signs a head that is older than its first entry',
    UNSIGNED,
    async () => {
      const ledger = await told()
      return packed(ledger, undefined, { keys: [{ ...ledger.noteKey(), from: ledger.size + 1 }] })
    },
  ),
  fails(
    'pack-of-another-ledger',
    'an honest pack, but of another ledger than the one that is pinned',
    ['TRUST_LEDGER_WRONG in checkpoint'],
    async () => ({ pack: await forged(await otherLedger(OTHER)), trust: await trustInTheStory() }),
  ),
  fails(
    'checkpoint-of-another-ledger',
    'the checkpoint and the manifest are of another ledger than the receipts',
    [
      'TRUST_LEDGER_WRONG in checkpoint',
      'LEAVES_WRONG',
      ...[0, 1, 2, 3].map((index) => `RECEIPT_FOREIGN at ${index}`),
    ],
    async () => {
      const ledger = await told(undefined, BEGINNING)
      const members = await withCheckpoint(ledger, (await otherLedger(OTHER)).checkpoint)
      return { pack: archive(bound(members, { ledger: OTHER })), trust: trustIn(ledger) }
    },
  ),
  fails(
    'checkpoint-of-another-key',
    'the checkpoint is of a ledger with the same name and another key',
    [...UNSIGNED, 'LEAVES_WRONG'],
    checkpointCrime(async () => (await otherLedger(SAME)).checkpoint),
  ),
  fails(
    'ledger-remade-under-another-key',
    'a forger made everything anew under keys of its own, with the name of the pinned ledger',
    UNSIGNED,
    async () => ({ pack: await forged(await otherLedger(SAME)), trust: await trustInTheStory() }),
  ),
  fails(
    'checkpoint-signed-by-a-writer',
    'a thief of the key of a writer signed the checkpoint',
    UNSIGNED,
    async () => {
      const ledger = await story(BEGINNING)
      await ledger.sealHead([ledger.writerKey])
      return packed(ledger)
    },
  ),
  fails(
    'checkpoint-signed-by-a-writer-without-trust',
    'the key of a writer signed the checkpoint, and nothing is pinned',
    UNSIGNED,
    async () => {
      const ledger = await story(BEGINNING)
      await ledger.sealHead([ledger.writerKey])
      return withoutTrust(packed(ledger))
    },
  ),
  fails(
    'checkpoint-signature-flipped',
    'one bit of the signature is another',
    SIGNATURE_WRONG,
    signatureCrime((signature) => ({ ...signature, bytes: flipped(signature.bytes, 20) })),
  ),
  fails(
    'checkpoint-signature-plus-order',
    'the group order was added to the signature of the head, which lenient verifiers accept',
    SIGNATURE_WRONG,
    signatureCrime((signature) => ({ ...signature, bytes: plusGroupOrder(signature.bytes) })),
  ),
  fails(
    'checkpoint-signature-short',
    'the signature lacks a byte',
    SIGNATURE_WRONG,
    signatureCrime((signature) => ({ ...signature, bytes: signature.bytes.subarray(0, 63) })),
  ),
  fails(
    'checkpoint-signed-twice',
    'the same signature stands under the checkpoint twice',
    SIGNATURE_WRONG,
    signatureCrime((signature) => [signature, signature]),
  ),
  fails(
    'checkpoint-root-changed',
    'the root is another, the signature is not',
    [...SIGNATURE_WRONG, 'LEAVES_WRONG'],
    checkpointCrime((checkpoint) =>
      checkpoint.replace(toBase64(parseCheckpoint(checkpoint).root), toBase64(sha256('another'))),
    ),
  ),
  fails(
    'checkpoint-root-forged',
    'a thief of the key of a writer rewrote history and the root over it, but cannot sign the root',
    SIGNATURE_WRONG,
    async () => {
      const ledger = await story({ instead: { at: AT.read, draft: DENIED }, ...BEGINNING })
      const truth = parseCheckpoint((await told(undefined, BEGINNING)).checkpoint)
      const { note } = parseCheckpoint(await ledger.checkpointAt())
      ledger.useCheckpoint(formatNote({ ...note, signatures: truth.note.signatures }))
      return packed(ledger)
    },
  ),
  unreadable(
    'checkpoint-unsigned',
    'no signature stands under the checkpoint',
    UNREADABLE,
    signatureCrime(() => []),
  ),
  unreadable(
    'checkpoint-with-an-extension',
    'the checkpoint says more than a witness vouches for',
    UNREADABLE,
    checkpointCrime(async (checkpoint, { origin, ledgerKey }) => {
      const text = `${parseCheckpoint(checkpoint).note.text}and more\n`
      return formatNote({ text, signatures: [await signNote(text, origin, ledgerKey)] })
    }),
  ),
  unreadable(
    'checkpoint-size-misspelled',
    'the size has a leading zero',
    UNREADABLE,
    checkpointCrime((checkpoint) => checkpoint.replace(`\n${AT.read + 1}\n`, `\n0${AT.read + 1}\n`)),
  ),
  fails(
    'checkpoint-key-foreign',
    'the pinned key signed the head of a ledger that never had that key',
    KEY_FOREIGN,
    async () => {
      const ledger = await story(BEGINNING)
      await ledger.sealHead([stranger])
      return packed(ledger, undefined, { keys: [noteKey(ledger.origin, stranger.publicKey)] })
    },
  ),
  fails(
    'checkpoint-key-retired',
    'the pinned key was retired by the ledger, and signs its head all the same',
    KEY_FOREIGN,
    async () =>
      packed(
        await told(async (ledger) => {
          await ledger.append(keyChange(stranger))
          await ledger.append(keyChange(ledger.ledgerKey, undefined, 'retire'))
        }, BEGINNING),
      ),
  ),
  fails(
    'quorum-missed',
    'one witness of the two that are demanded',
    ['WITNESS_QUORUM_MISSED in checkpoint'],
    witnessCrime((ledger) => cosign(ledger, 2)),
  ),
  fails(
    'quorum-missed-by-a-namesake',
    'the second cosignature is of a key that only has the name of a witness',
    ['WITNESS_QUORUM_MISSED in checkpoint'],
    witnessCrime(async (ledger) => {
      await cosign(ledger, 1)
      const { name } = await witness(2)
      const checkpoint = await cosignCheckpoint(ledger.checkpoint, { name, key: stranger }, 1_767_603_700)
      ledger.useCheckpoint(checkpoint)
    }),
  ),
  fails(
    'cosignature-repeated',
    'one witness cosigned twice, at two times, to make up a quorum',
    SIGNATURE_WRONG,
    witnessCrime(async (ledger) => {
      await cosign(ledger, 1)
      const { name } = await witness(1)
      const again = { name, key: await fixedKey('witness 1') }
      ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, again, 1_767_603_800))
    }),
  ),
  fails(
    'cosignature-wrong',
    'a cosignature has one bit flipped',
    SIGNATURE_WRONG,
    witnessCrime(async (ledger) => {
      await cosign(ledger, 1, 2)
      cosignatureChanged(ledger, (bytes) => flipped(bytes, 30))
    }),
  ),
  fails(
    'cosignature-post-dated',
    'the time of a cosignature was moved, to make an old head look fresh',
    SIGNATURE_WRONG,
    witnessCrime(async (ledger) => {
      await cosign(ledger, 1, 2)
      cosignatureChanged(ledger, (bytes) => flipped(bytes, 4))
    }),
  ),
  fails(
    'cosignature-replayed',
    'a cosignature was taken from another checkpoint',
    SIGNATURE_WRONG,
    witnessCrime(async (ledger) => {
      const older = await told(undefined, { length: AT.read })
      await cosign(older, 1, 2)
      const [, ...cosignatures] = parseCheckpoint(older.checkpoint).note.signatures
      const { note } = parseCheckpoint(ledger.checkpoint)
      ledger.useCheckpoint(formatNote({ ...note, signatures: [...note.signatures, ...cosignatures] }))
    }),
  ),
  fails(
    'cosignature-by-the-ledger-key',
    'the key of the ledger signs in the form of a witness, and reaches no quorum',
    ['WITNESS_QUORUM_MISSED in checkpoint'],
    witnessCrime(async (ledger) => {
      const { name } = await witness(1)
      const itself = { name, key: ledger.ledgerKey }
      ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, itself, 1_767_603_700))
    }),
  ),
  fails(
    'tail-cut-naive',
    'the last entry was cut off, and nothing else was changed',
    [`MEMBER_CHANGED in ${RECEIPTS}`, `RECEIPT_COUNT_WRONG in ${RECEIPTS}`, 'LEAVES_WRONG'],
    async () => {
      const ledger = await told()
      const members = relined(await forge(ledger), (lines) => lines.slice(0, -1))
      return { pack: archive(members), trust: trustIn(ledger) }
    },
  ),
  fails(
    'tail-cut-and-manifest-adjusted',
    'the last entry was cut off, and the manifest claims the shorter range as if it were all',
    ['LEAVES_WRONG'],
    async () => {
      const ledger = await told()
      const members = relined(await forge(ledger), (lines) => lines.slice(0, -1))
      const range = { start: 0, end: AT.sentEffect }
      return { pack: archive(bound(members, { range })), trust: trustIn(ledger) }
    },
  ),
  fails(
    'tail-cut-with-an-older-checkpoint',
    'the tail was cut off down to an older, true checkpoint; the auditor had seen a newer one',
    ['CHECKPOINT_OLDER in checkpoint'],
    async () => {
      const older = await told(undefined, { length: AT.sent })
      return packed(older, undefined, { checkpoint: (await told()).checkpoint })
    },
  ),
  fails(
    'history-rewritten',
    'those who hold all keys rewrote an entry that an auditor had seen',
    INCONSISTENT,
    async () => rewrittenSince(8),
  ),
  fails(
    'history-rewritten-with-a-proof',
    'history was rewritten, and the proof of continuation is that of the new history',
    INCONSISTENT,
    async () => rewrittenSince(7, { ...MIDDLE, since: 7 }),
  ),
  fails(
    'history-rewritten-without-a-proof',
    'history was rewritten, and the pack keeps silent about the head seen earlier',
    ['CONSISTENCY_MISSING in checkpoint'],
    async () => rewrittenSince(7, MIDDLE),
  ),
  fails(
    'split-view',
    'another head of the same size than the one the auditor had seen',
    INCONSISTENT,
    async () => rewrittenSince(AT.next),
  ),
  fails(
    'split-view-in-the-middle',
    'another head of the same size, shown with a range that both views have in common',
    INCONSISTENT,
    async () => {
      const seen = await told((ledger) => ledger.append(DENIED))
      const shown = await told((ledger) => ledger.append(decision(POLICY)))
      return packed(shown, { range: { start: 0, end: AT.next } }, { checkpoint: seen.checkpoint })
    },
  ),
  fails(
    'consistency-proof-wrong',
    'a hash of the proof of continuation is another',
    INCONSISTENT,
    async () => {
      const ledger = await told()
      const members = edited(
        await forge(ledger, { ...MIDDLE, since: 7 }),
        'proofs/consistency.json',
        (text) => text.replace(/"[^"]{44}"/, JSON.stringify(toBase64(sha256('another')))),
      )
      const trust = trustIn(ledger, { checkpoint: await ledger.checkpointAt(7) })
      return { pack: archive(bound(members)), trust }
    },
  ),
  unreadable(
    'consistency-proof-unasked-and-wrong',
    'nobody pinned a head, and the proof of continuation is none',
    ['PROOF_MALFORMED in proofs/consistency.json'],
    boundCrime((members) => replaced(members, 'proofs/consistency.json', bytesOf('{"hashes":[],"size":3}'))),
  ),
  fails(
    'consistency-proof-of-another-size',
    'the proof continues another head than the one that was seen',
    ['CONSISTENCY_MISSING in checkpoint'],
    async () => {
      const ledger = await told()
      return packed(ledger, { ...MIDDLE, since: 6 }, { checkpoint: await ledger.checkpointAt(7) })
    },
  ),
  unreadable(
    'consistency-proof-malformed',
    'the proof of continuation holds something that is not a hash',
    ['PACK_MALFORMED'],
    boundCrime(
      (members) => edited(members, 'proofs/consistency.json', (text) => text.replace(/"[^"]{44}"/, '"hash"')),
      { ...MIDDLE, since: 7 },
    ),
  ),
  fails(
    'checkpoint-size-changed',
    'the checkpoint says that there is one entry more, under the old signature',
    [...SIGNATURE_WRONG, 'LEAVES_WRONG'],
    async () => {
      const ledger = await told(undefined, BEGINNING)
      const checkpoint = ledger.checkpoint.replace(`\n${ledger.size}\n`, `\n${ledger.size + 1}\n`)
      const members = bound(await withCheckpoint(ledger, checkpoint), { tree_size: ledger.size + 1 })
      return { pack: archive(members), trust: trustIn(ledger) }
    },
  ),
]
