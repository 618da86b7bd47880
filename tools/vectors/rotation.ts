// Keys of the ledger that change, and witnesses: honest changes, and abuses of them.

import { AT, DENIED, keyChange, story, trustIn } from '../../packages/evidence/test/audit-story.ts'
import { fixedKey, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import { archive, bound, forge, replaced, without } from '../../packages/evidence/test/pack-forge.ts'
import {
  cosignCheckpoint,
  noteKey,
  parseCheckpoint,
  type LedgerKey,
  type SigningKey,
} from '../../packages/evidence/src/index.ts'
import { formatNote, type NoteSignature } from '../../packages/evidence/src/note.ts'
import { keyMember } from '../../packages/evidence/src/pack.ts'
import { cosign, keysWithRanges, twoOfThree } from './honest.ts'
import { ADDED, BEGINNING, exported, fails, packed, passes, type Made, type Plan } from './plan.ts'

const next = await fixedKey('next ledger key')
const third = await fixedKey('third ledger key')
const stranger = await fixedKey('stranger')

const UNSIGNED = ['CHECKPOINT_UNSIGNED in checkpoint']
const FOREIGN = ['CHECKPOINT_KEY_FOREIGN in checkpoint']
const SIGNATURE_WRONG = ['CHECKPOINT_SIGNATURE_WRONG in checkpoint']
const QUORUM_MISSED = ['WITNESS_QUORUM_MISSED in checkpoint']

/** A ledger with changes of its keys, whose head these keys sign. */
async function changed(
  change: (ledger: TestLedger) => Promise<unknown>,
  signers: readonly SigningKey[],
): Promise<TestLedger> {
  const ledger = await story(BEGINNING)
  await change(ledger)
  await ledger.sealHead(signers)
  return ledger
}

async function rotate(ledger: TestLedger): Promise<void> {
  await ledger.append(keyChange(next))
  await ledger.append(keyChange(ledger.ledgerKey, undefined, 'retire'), next)
}

/** Trust in one key for every size. */
function pinned({ origin }: TestLedger, ...keys: readonly SigningKey[]): { keys: readonly LedgerKey[] } {
  return { keys: keys.map(({ publicKey }) => noteKey(origin, publicKey)) }
}

/** A pack with changed members, and trust in the next key. */
async function withMembers(
  ledger: TestLedger,
  change: (members: Awaited<ReturnType<typeof forge>>) => Awaited<ReturnType<typeof forge>>,
): Promise<Made> {
  const pack = archive(bound(change(await forge(ledger))))
  return { pack, trust: trustIn(ledger, pinned(ledger, next)) }
}

/** The story with cosignatures of witnesses that a crime changes. The trust file requires two of three. */
function witnessCrime(tamper: (signature: NoteSignature, at: number) => readonly NoteSignature[]) {
  return async (): Promise<Made> => {
    const ledger = await changed(() => Promise.resolve(), [(await story(BEGINNING)).ledgerKey])
    await cosign(ledger, 1, 2)
    const { note } = parseCheckpoint(ledger.checkpoint)
    ledger.useCheckpoint(formatNote({ ...note, signatures: note.signatures.flatMap(tamper) }))
    return packed(ledger, undefined, await twoOfThree())
  }
}

const LAST = 2

function onLast(change: (signature: NoteSignature) => readonly NoteSignature[]) {
  return witnessCrime((signature, at) => (at === LAST ? change(signature) : [signature]))
}

const nextFile = keyMember(noteKey('ledger.example/demo', next.publicKey))

export const ROTATION: readonly Plan[] = [
  passes('rotation-twice', 'the key of the ledger is rotated twice; the last one is pinned', async () => {
    const ledger = await changed(
      async (ledger) => {
        await rotate(ledger)
        await ledger.append(keyChange(third), next)
        await ledger.append(keyChange(next, undefined, 'retire'), third)
      },
      [third],
    )
    return exported(ledger, undefined, pinned(ledger, third))
  }),
  passes('rotation-and-a-selection', 'single receipts after a rotation, with both keys', async () => {
    const ledger = await changed(
      async (ledger) => {
        await rotate(ledger)
        await ledger.append(DENIED)
      },
      [next],
    )
    const selected = [AT.genesis, AT.key, ADDED, ADDED + 1, ADDED + 2]
    return exported(ledger, { selected }, pinned(ledger, next))
  }),
  passes(
    'witness-quorum-of-all',
    'three of three witnesses have cosigned',
    async () => {
      const ledger = await changed(() => Promise.resolve(), [(await story(BEGINNING)).ledgerKey])
      await cosign(ledger, 1, 2, 3)
      return exported(ledger, undefined, { ...(await twoOfThree()), quorum: 3 })
    },
    'witnessed',
  ),

  fails(
    'rotation-old-key-signs',
    'the retired key signs the head; the trust file has ranges',
    UNSIGNED,
    async () => {
      const { ledgerKey } = await story(BEGINNING)
      const ledger = await changed(rotate, [ledgerKey])
      return packed(ledger, undefined, { keys: keysWithRanges(ledger, ledger.size - 2) })
    },
  ),
  fails(
    'rotation-new-key-signs-early',
    'the next key signs a head before it was added',
    UNSIGNED,
    async () => {
      const ledger = await changed(() => Promise.resolve(), [next])
      return packed(ledger, undefined, { keys: keysWithRanges(ledger, ledger.size) })
    },
  ),
  fails(
    'rotation-by-a-stranger',
    'a key that the ledger never had adds a key of the ledger',
    [`KEY_UNKNOWN at ${ADDED}`],
    async () => {
      const ledger = await changed((ledger) => ledger.append(keyChange(next), stranger), [next])
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-by-the-new-key',
    'the next key of the ledger adds itself',
    [`KEY_UNKNOWN at ${ADDED}`],
    async () => {
      const ledger = await changed((ledger) => ledger.append(keyChange(next), next), [next])
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-added-twice',
    'the next key is added twice',
    [`KEY_ROLE_WRONG at ${ADDED + 1}`],
    async () => {
      const ledger = await changed(
        async (ledger) => {
          await ledger.append(keyChange(next))
          await ledger.append(keyChange(next))
        },
        [next],
      )
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-to-a-writer',
    'the key that signs the head was added as that of a writer',
    FOREIGN,
    async () => {
      const ledger = await changed((ledger) => ledger.append(keyChange(next, 'gw-9')), [next])
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-left-out',
    'the selection lacks the receipt that adds the signing key',
    FOREIGN,
    async () => {
      const ledger = await changed(rotate, [next])
      return packed(ledger, { selected: [AT.genesis, AT.key, AT.read] }, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-key-file-missing',
    'the pack does not show the next key',
    [`KEY_FILE_WRONG in ${nextFile.name}`],
    async () => withMembers(await changed(rotate, [next]), (members) => without(members, nextFile.name)),
  ),
  fails(
    'rotation-key-file-of-a-writer',
    'the pack shows the next key of the ledger as that of a writer',
    [`KEY_FILE_WRONG in ${nextFile.name}`],
    async () => {
      const lie = keyMember(noteKey('ledger.example/demo/gw-1', next.publicKey))
      return withMembers(await changed(rotate, [next]), (members) => replaced(members, lie.name, lie.bytes))
    },
  ),
  fails(
    'rotation-writes-with-a-ledger-key',
    'the next key of the ledger signs a decision',
    [`KEY_ROLE_WRONG at ${ADDED + 2}`],
    async () => {
      const ledger = await changed(
        async (ledger) => {
          await rotate(ledger)
          await ledger.append(DENIED, next)
        },
        [next],
      )
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),
  fails(
    'rotation-back',
    'a retired key of the ledger comes back',
    [`KEY_ROLE_WRONG at ${ADDED + 2}`],
    async () => {
      const ledger = await changed(
        async (ledger) => {
          await rotate(ledger)
          await ledger.append(keyChange(ledger.ledgerKey), next)
        },
        [next],
      )
      return packed(ledger, undefined, pinned(ledger, next))
    },
  ),

  fails(
    'witness-quorum-of-three',
    'two of three witnesses have cosigned, and all must',
    QUORUM_MISSED,
    async () => {
      const ledger = await changed(() => Promise.resolve(), [(await story(BEGINNING)).ledgerKey])
      await cosign(ledger, 1, 2)
      return packed(ledger, undefined, { ...(await twoOfThree()), quorum: 3 })
    },
  ),
  fails(
    'witness-is-a-writer',
    'the trust file names a key of a writer as a witness, and this key has cosigned',
    ['KEY_ROLE_WRONG in checkpoint'],
    async () => {
      const ledger = await changed(() => Promise.resolve(), [(await story(BEGINNING)).ledgerKey])
      const cosigner = { name: 'witness.example/writer', key: ledger.writerKey }
      ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, cosigner, 1_767_603_700))
      const witnesses = [noteKey(cosigner.name, ledger.writerKey.publicKey, 4)]
      return packed(ledger, undefined, { witnesses, quorum: 1 })
    },
  ),
  fails(
    'witness-without-the-ledger',
    'witnesses have cosigned a head that no ledger key signed',
    UNSIGNED,
    witnessCrime((signature, at) => (at === 0 ? [] : [signature])),
  ),
  fails(
    'witness-with-a-forged-ledger-signature',
    'witnesses have cosigned, and the signature of the ledger is wrong',
    SIGNATURE_WRONG,
    witnessCrime((signature, at) => [at === 0 ? flipped(signature) : signature]),
  ),
  fails(
    'witness-signature-flipped',
    'one bit of a cosignature is wrong',
    SIGNATURE_WRONG,
    onLast((each) => [flipped(each)]),
  ),
  fails(
    'witness-time-changed',
    'the time of a cosignature was changed after it was signed',
    SIGNATURE_WRONG,
    onLast((each) => [{ ...each, bytes: each.bytes.map((byte, i) => (i === 7 ? byte ^ 1 : byte)) }]),
  ),
  fails(
    'witness-time-beyond-counts',
    'the time of a cosignature is too large for a count',
    SIGNATURE_WRONG,
    onLast((each) => [{ ...each, bytes: each.bytes.map((byte, i) => (i === 0 ? 0xff : byte)) }]),
  ),
  fails(
    'witness-without-a-time',
    'a witness signed the head as a ledger does, without a time',
    SIGNATURE_WRONG,
    onLast((each) => [{ ...each, bytes: each.bytes.slice(8) }]),
  ),
  fails(
    'witness-twice',
    'a witness has cosigned the same head twice',
    SIGNATURE_WRONG,
    onLast((each) => [each, each]),
  ),
  fails(
    'witness-under-another-name',
    'a cosignature has the name of a witness that the trust file does not have',
    QUORUM_MISSED,
    onLast((each) => [{ ...each, name: 'witness-7.example' }]),
  ),
  fails(
    'witness-under-another-hint',
    'a cosignature has a hint that no key of the trust file has',
    QUORUM_MISSED,
    onLast((each) => [{ ...each, hint: '00000000' }]),
  ),
]

function flipped(signature: NoteSignature): NoteSignature {
  return { ...signature, bytes: signature.bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)) }
}
