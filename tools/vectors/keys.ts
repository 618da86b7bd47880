// Crimes with keys: wrong signatures, and keys that sign what they may not.

import {
  AT,
  addWriter,
  DENIED,
  keyChange,
  POLICY,
  told,
  trustIn,
} from '../../packages/evidence/test/audit-story.ts'
import { decision, fixedKey, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  bytesOf,
  forge,
  relined,
  replaced,
  sealAnything,
  without,
} from '../../packages/evidence/test/pack-forge.ts'
import { canonicalBytes } from '../../packages/evidence/src/canonical.ts'
import { keyMember } from '../../packages/evidence/src/pack.ts'
import {
  canonicalize,
  fromBase64,
  noteKey,
  sha256Hex,
  toBase64,
  type Receipt,
} from '../../packages/evidence/src/index.ts'
import {
  ADDED,
  BEGINNING,
  boundCrime,
  fails,
  packed,
  sealedCrime,
  unreadable,
  type Made,
  type Plan,
} from './plan.ts'
import { plusGroupOrder } from './signatures.ts'

interface Envelope {
  readonly payload: string
  readonly payloadType: string
  readonly signatures: readonly [{ readonly keyid: string; readonly sig: string }]
}

const stranger = await fixedKey('stranger')
const { publicKey: writerKey } = await fixedKey('writer')
const STRANGERS_FILE = keyMember(noteKey('ledger.example/demo/gw-2', stranger.publicKey))
const WRITERS_FILE = `keys/${writerKey.id}`

/** The envelope with another signature in it. */
function resigned(envelope: Uint8Array, tamper: (signature: Uint8Array) => Uint8Array): Uint8Array {
  const parsed = JSON.parse(Buffer.from(envelope).toString()) as Envelope
  const [{ keyid, sig }] = parsed.signatures
  const changed = toBase64(tamper(fromBase64(sig) ?? new Uint8Array(0)))
  return canonicalBytes({ ...parsed, signatures: [{ keyid, sig: changed }] })
}

/** A receipt with a wrong signature, sealed into the tree. */
function signatureCrime(tamper: (signature: Uint8Array) => Uint8Array): () => Promise<Made> {
  return sealedCrime(async (ledger) => {
    const envelope = await sealAnything(canonicalize(ledger.prepare(DENIED)), ledger.writerKey)
    ledger.appendRaw(resigned(envelope, tamper))
  })
}

function flipped(signature: Uint8Array): Uint8Array {
  return signature.map((byte, i) => (i === 7 ? byte ^ 4 : byte))
}

// The point of order one: with it, a signature of zeros fits every message for verifiers that do not look.
const WEAK = Uint8Array.of(1, ...new Uint8Array(31))

async function weakKey(ledger: TestLedger): Promise<void> {
  const public_key = toBase64(WEAK)
  await ledger.append({ kind: 'key', op: 'add', role: 'writer', of: 'gw-2', public_key })
  const receipt: Receipt = { ...ledger.prepare({ ...DENIED, writer: 'gw-2' }), key: sha256Hex(WEAK) }
  const envelope = await sealAnything(canonicalize(receipt), stranger, { keyid: receipt.key })
  ledger.appendRaw(resigned(envelope, () => Uint8Array.of(...WEAK, ...new Uint8Array(32))))
}

export const KEYS: readonly Plan[] = [
  fails(
    'signature-flipped',
    'one bit of the signature of a receipt is another',
    ['LEAVES_WRONG', `SIGNATURE_WRONG at ${AT.read}`],
    boundCrime((members) =>
      relined(members, (lines) =>
        lines.map((line, i) =>
          i === AT.read ? Buffer.from(resigned(bytesOf(line), flipped)).toString() : line,
        ),
      ),
    ),
  ),
  fails(
    'signature-flipped-in-the-tree',
    'a receipt with a wrong signature was taken into the tree',
    [`SIGNATURE_WRONG at ${ADDED}`],
    signatureCrime(flipped),
  ),
  fails(
    'signature-plus-order',
    'the group order was added to the signature, which lenient verifiers accept',
    [`SIGNATURE_WRONG at ${ADDED}`],
    signatureCrime(plusGroupOrder),
  ),
  fails(
    'signature-of-another-receipt',
    'a true signature of the writer, but of another receipt',
    [`SIGNATURE_WRONG at ${ADDED}`],
    sealedCrime(async (ledger) => {
      const other = await sealAnything(canonicalize(ledger.prepare(decision(POLICY))), ledger.writerKey)
      const envelope = await sealAnything(canonicalize(ledger.prepare(DENIED)), ledger.writerKey)
      const [{ sig }] = (JSON.parse(Buffer.from(other).toString()) as Envelope).signatures
      ledger.appendRaw(resigned(envelope, () => fromBase64(sig) ?? new Uint8Array(0)))
    }),
  ),
  fails(
    'signature-without-its-type',
    'the writer signed the payload itself, not the encoding that says what it is',
    [`SIGNATURE_WRONG at ${ADDED}`],
    sealedCrime(async (ledger) => {
      const payload = canonicalize(ledger.prepare(DENIED))
      const bare = await ledger.writerKey.sign(bytesOf(payload))
      ledger.appendRaw(resigned(await sealAnything(payload, ledger.writerKey), () => bare))
    }),
  ),
  fails(
    'key-swapped',
    'a receipt names the key of the writer and is signed by another',
    [`SIGNATURE_WRONG at ${ADDED}`],
    sealedCrime(async (ledger) => {
      const payload = canonicalize(ledger.prepare(DENIED))
      ledger.appendRaw(await sealAnything(payload, stranger, { keyid: ledger.writerKey.publicKey.id }))
    }),
  ),
  fails(
    'receipt-re-signed',
    'a receipt was made anew under the key of a stranger, in the pack only',
    ['LEAVES_WRONG', `KEY_UNKNOWN at ${AT.read}`],
    async () => {
      const ledger = await told(undefined, { length: AT.read })
      const receipt = ledger.prepare(decision(POLICY), stranger)
      const line = Buffer.from(await sealAnything(canonicalize(receipt), stranger)).toString()
      return boundCrime((members) => relined(members, (lines) => [...lines.slice(0, -1), line]))()
    },
  ),
  fails(
    'key-never-added',
    'a receipt is signed by a key that the ledger never had',
    [`KEY_UNKNOWN at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(DENIED, stranger)),
  ),
  fails(
    'key-never-added-but-shown',
    'a receipt is signed by a key that the ledger never had, and that the pack shows among its keys',
    [`KEY_FILE_WRONG in ${STRANGERS_FILE.name}`, `KEY_UNKNOWN at ${ADDED}`],
    async () => {
      const ledger = await told((going) => going.append({ ...DENIED, writer: 'gw-2' }, stranger), BEGINNING)
      const members = replaced(await forge(ledger), STRANGERS_FILE.name, STRANGERS_FILE.bytes)
      return { pack: archive(bound(members)), trust: trustIn(ledger) }
    },
  ),
  fails(
    'key-added-too-late',
    'a key signs before the receipt that adds it',
    [`KEY_UNKNOWN at ${ADDED}`],
    sealedCrime(async (ledger) => {
      await ledger.append({ ...DENIED, writer: 'gw-2' }, stranger)
      await ledger.append(keyChange(stranger, 'gw-2'))
    }),
  ),
  fails(
    'key-retired-before-use',
    'a writer signs with a key that was retired',
    [`KEY_RETIRED at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      await ledger.append(keyChange(ledger.writerKey, 'gw-1', 'retire'))
      await ledger.append(DENIED)
    }),
  ),
  fails(
    'ledger-key-retired-before-use',
    'a key of the ledger adds another one after it was retired',
    [`KEY_RETIRED at ${ADDED + 2}`],
    async () => {
      const next = await fixedKey('next ledger key')
      const ledger = await told(async (going) => {
        await going.append(keyChange(next))
        await going.append(keyChange(going.ledgerKey, undefined, 'retire'), next)
        await going.append(keyChange(stranger, 'gw-2'))
      }, BEGINNING)
      await ledger.sealHead([next])
      return packed(ledger, undefined, { keys: [noteKey(ledger.origin, next.publicKey)] })
    },
  ),
  fails(
    'key-retired-that-never-was',
    'a key is retired that was not in service',
    [`KEY_UNKNOWN at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(keyChange(stranger, 'gw-1', 'retire'))),
  ),
  fails(
    'key-added-again',
    'a retired key comes back',
    [`KEY_ROLE_WRONG at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      await ledger.append(keyChange(ledger.writerKey, 'gw-1', 'retire'))
      await ledger.append(keyChange(ledger.writerKey, 'gw-1'))
    }),
  ),
  fails(
    'key-of-another-writer',
    'a writer signs in the name of another',
    [`KEY_ROLE_WRONG at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      await addWriter(ledger, 'gw-2')
      await ledger.append({ ...DENIED, writer: 'gw-2' })
    }),
  ),
  fails(
    'writer-key-adds-a-key',
    'a writer adds a key by itself, and the key signs',
    [`KEY_ROLE_WRONG at ${ADDED}`],
    sealedCrime(async (ledger) => {
      await ledger.append(keyChange(stranger, 'gw-2'), ledger.writerKey)
      await ledger.append({ ...DENIED, writer: 'gw-2' }, stranger)
    }),
  ),
  fails(
    'writer-key-adds-a-ledger-key',
    'a writer makes a key of its own one of the ledger, and that key signs the head',
    [`KEY_ROLE_WRONG at ${ADDED}`],
    async () => {
      const ledger = await told((going) => going.append(keyChange(stranger), going.writerKey), BEGINNING)
      await ledger.sealHead([stranger])
      return packed(ledger, undefined, { keys: [noteKey(ledger.origin, stranger.publicKey)] })
    },
  ),
  fails(
    'ledger-key-decides',
    'the key of the ledger signs a decision',
    [`KEY_ROLE_WRONG at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(DENIED, ledger.ledgerKey)),
  ),
  fails(
    'key-in-two-roles',
    'the key of a writer is made a key of the ledger too',
    [`KEY_ROLE_WRONG at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(keyChange(ledger.writerKey))),
  ),
  fails(
    'key-of-two-writers',
    'two writers share a key',
    [`KEY_ROLE_WRONG at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(keyChange(ledger.writerKey, 'gw-2'))),
  ),
  fails(
    'key-weak',
    'a key of order one is added, under which a signature of zeros fits everything',
    [`KEY_WEAK at ${ADDED}`, `KEY_UNKNOWN at ${ADDED + 1}`],
    sealedCrime(weakKey),
  ),
  fails(
    'key-file-lies',
    'the pack shows a key of the ledger under another name',
    [`KEY_FILE_WRONG in ${WRITERS_FILE}`],
    boundCrime((members) =>
      replaced(members, WRITERS_FILE, keyMember(noteKey('ledger.example/demo/gw-9', writerKey)).bytes),
    ),
  ),
  unreadable(
    'key-file-below-another',
    'the right key lies below a false one of its name',
    [`MEMBER_UNEXPECTED in ${WRITERS_FILE}/a`, `KEY_FILE_WRONG in ${WRITERS_FILE}`],
    boundCrime((members) => {
      const right = members.find(({ name }) => name === WRITERS_FILE)?.bytes ?? bytesOf('')
      return [
        ...replaced(members, WRITERS_FILE, bytesOf('garbage\n')),
        { name: `${WRITERS_FILE}/a`, bytes: right },
      ]
    }),
  ),
  fails(
    'key-file-missing',
    'the pack does not show a key of the ledger',
    [`KEY_FILE_WRONG in ${WRITERS_FILE}`],
    boundCrime((members) => without(members, WRITERS_FILE)),
  ),
  fails(
    'key-file-extra',
    'the pack shows a key that the ledger does not have',
    [`KEY_FILE_WRONG in ${STRANGERS_FILE.name}`],
    boundCrime((members) => replaced(members, STRANGERS_FILE.name, STRANGERS_FILE.bytes)),
  ),
]
