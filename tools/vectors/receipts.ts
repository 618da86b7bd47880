// Crimes of form, sealed into the tree by those who hold the keys: a right root does not make a receipt right.

import { AT, DENIED, told, trustIn } from '../../packages/evidence/test/audit-story.ts'
import {
  createLedger,
  fixedKey,
  text,
  type Draft,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { archive, bound, bytesOf, forge, sealAnything } from '../../packages/evidence/test/pack-forge.ts'
import { canonicalize, PAYLOAD_TYPE, toBase64, type JsonObject } from '../../packages/evidence/src/index.ts'
import {
  ADDED,
  BEGINNING,
  fails,
  packed,
  sealedCrime,
  unreadable,
  type Made,
  type Plan,
  lacking,
} from './plan.ts'

/** The receipt that would be next, in canonical form, and what is done to that text before it is signed. */
function payloadCrime(tamper: (payload: string) => string, draft: Draft = DENIED): () => Promise<Made> {
  return sealedCrime(async (ledger) => {
    const payload = tamper(canonicalize(ledger.prepare(draft)))
    ledger.appendRaw(await sealAnything(payload, ledger.writerKey))
  })
}

/** As `payloadCrime`, for fields: what is signed is canonical again. */
function fieldCrime(tamper: (fields: JsonObject) => JsonObject): () => Promise<Made> {
  return payloadCrime((payload) => canonicalize(tamper(JSON.parse(payload) as JsonObject)))
}

/** The envelope that would be next, and what is done to it before it enters the tree. */
function envelopeCrime(tamper: (envelope: string, ledger: TestLedger) => string): () => Promise<Made> {
  return sealedCrime(async (ledger) => {
    const payload = canonicalize(ledger.prepare(DENIED))
    const envelope = await sealAnything(payload, ledger.writerKey)
    ledger.appendRaw(bytesOf(tamper(text(envelope), ledger)))
  })
}

const MALFORMED = [`RECEIPT_MALFORMED at ${ADDED}`]
const stranger = await fixedKey('stranger')

/** The next letter of the base64 alphabet: the same bytes, if only unused bits change. */
function unusedBitsSet(envelope: string): string {
  return envelope.replace(/([A-Za-z0-9+/])==","payloadType/, (_, last: string) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    return `${alphabet.charAt(alphabet.indexOf(last) + 1)}==","payloadType`
  })
}

/** A ledger whose first entry is not a genesis. */
async function headless(): Promise<TestLedger> {
  const ledger = await createLedger()
  const public_key = toBase64(ledger.writerKey.publicKey.bytes)
  await ledger.append({ kind: 'key', op: 'add', role: 'writer', of: 'gw-1', public_key })
  await ledger.sealHead()
  return ledger
}

/** A ledger whose genesis names another key than the one it is signed by. */
async function disowned(): Promise<TestLedger> {
  const ledger = await createLedger()
  const public_key = toBase64(stranger.publicKey.bytes)
  await ledger.append({ kind: 'genesis', public_key, commit: 'plain' })
  await ledger.sealHead()
  return ledger
}

export const RECEIPTS: readonly Plan[] = [
  unreadable(
    'version-unknown',
    'a receipt says that it is of version 2',
    [`RECEIPT_VERSION_UNKNOWN at ${ADDED}`],
    fieldCrime((fields) => ({ ...fields, v: 2 })),
  ),
  unreadable(
    'version-unknown-in-the-envelope',
    'an envelope says that its receipt is of version 2',
    [`RECEIPT_VERSION_UNKNOWN at ${ADDED}`],
    sealedCrime(async (ledger) => {
      const payload = canonicalize(ledger.prepare(DENIED))
      const payloadType = PAYLOAD_TYPE.replace('v=1', 'v=2')
      ledger.appendRaw(await sealAnything(payload, ledger.writerKey, { payloadType }))
    }),
  ),
  unreadable(
    'kind-unknown',
    'a receipt of a kind that nobody knows',
    [`RECEIPT_KIND_UNKNOWN at ${ADDED}`],
    fieldCrime((fields) => ({ ...fields, kind: 'pardon' })),
  ),
  unreadable(
    'kind-inherited',
    'a receipt whose kind is a name that objects inherit',
    [`RECEIPT_KIND_UNKNOWN at ${ADDED}`],
    fieldCrime((fields) => ({ ...fields, kind: 'constructor' })),
  ),
  unreadable(
    'field-unknown',
    'a receipt with a field that nobody knows',
    MALFORMED,
    fieldCrime((fields) => ({ ...fields, comment: 'trust me' })),
  ),
  unreadable(
    'field-missing',
    'a decision that does not say for whom',
    MALFORMED,
    fieldCrime((fields) => lacking(fields, 'principal')),
  ),
  unreadable(
    'field-contradicted',
    'a call that was allowed for a reason to deny it',
    MALFORMED,
    fieldCrime((fields) => ({ ...fields, verdict: 'ALLOW' })),
  ),
  unreadable(
    'payload-not-canonical',
    'a signed payload with a space in it',
    MALFORMED,
    payloadCrime((payload) => payload.replace('":"', '": "')),
  ),
  unreadable(
    'author-is-no-server',
    'a decision whose arguments were written by something that is no server',
    MALFORMED,
    fieldCrime((fields) => ({ ...fields, author: 'agent:ci' })),
  ),
  unreadable(
    'session-reset-without-a-reason',
    'the risk of a session is lifted, and the receipt does not say why',
    MALFORMED,
    payloadCrime((payload) => payload.replace('"because":"asked for",', ''), {
      ...{ kind: 'session', op: 'reset', session: 's1', principal: 'agent:ci', by: 'user:olga' },
      ...{ because: 'asked for', next_state_hash: '0'.repeat(64), decisions: 1 },
    }),
  ),
  unreadable(
    'payload-unsorted',
    'a signed payload whose keys are in the reverse order',
    MALFORMED,
    payloadCrime((payload) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(payload) as JsonObject).reverse())),
    ),
  ),
  unreadable(
    'payload-key-twice',
    'a signed payload with two verdicts, of which parsers take the one or the other',
    MALFORMED,
    payloadCrime((payload) => payload.replace('"verdict":', '"verdict":"ALLOW","verdict":')),
  ),
  unreadable(
    'payload-number-misspelled',
    'a signed payload in which a number is not in its one spelling',
    MALFORMED,
    payloadCrime((payload) => payload.replace(`"seq":${ADDED},"`, `"seq":${ADDED}.0,"`)),
  ),
  unreadable(
    'payload-not-an-object',
    'a signed payload that is a list',
    MALFORMED,
    payloadCrime((payload) => `[${payload}]`),
  ),
  unreadable(
    'envelope-not-canonical',
    'an envelope with a space in it',
    MALFORMED,
    envelopeCrime((envelope) => envelope.replace(',"payloadType"', ', "payloadType"')),
  ),
  unreadable(
    'envelope-with-two-signatures',
    'an envelope with a second signature, which nothing asks for',
    MALFORMED,
    envelopeCrime((envelope) => envelope.replace(/\[(\{.*\})\]/, '[$1,$1]')),
  ),
  unreadable(
    'envelope-names-another-key',
    'the envelope names another key than the payload',
    MALFORMED,
    envelopeCrime((envelope, { writerKey }) =>
      envelope.replace(`"keyid":"${writerKey.publicKey.id}"`, `"keyid":"${stranger.publicKey.id}"`),
    ),
  ),
  unreadable(
    'envelope-base64-misspelled',
    'the payload in base64 whose unused bits are set: other bytes in the tree for the same receipt',
    MALFORMED,
    sealedCrime(async (ledger) => {
      // A tenant of the length that leaves four bits unused.
      for (const tenant of ['default', 'default1', 'default12']) {
        const payload = canonicalize(ledger.prepare({ ...DENIED, tenant }))
        if (payload.length % 3 !== 1) continue
        ledger.appendRaw(bytesOf(unusedBitsSet(text(await sealAnything(payload, ledger.writerKey)))))
      }
    }),
  ),
  unreadable(
    'envelope-empty',
    'an empty line in place of a receipt',
    MALFORMED,
    sealedCrime(async (ledger) => {
      ledger.appendRaw(bytesOf(''))
      return Promise.resolve()
    }),
  ),
  unreadable(
    'bundle-without-its-last-line-end',
    'the last line of the receipts is not ended',
    ['PACK_MALFORMED'],
    async () => {
      const ledger = await told(undefined, BEGINNING)
      const members = (await forge(ledger)).map((member) =>
        member.name.startsWith('receipts/') ? { ...member, bytes: member.bytes.slice(0, -1) } : member,
      )
      return { pack: archive(bound(members)), trust: trustIn(ledger) }
    },
  ),
  fails(
    'receipt-of-another-ledger',
    'a receipt in the tree says that it belongs to another ledger',
    [`RECEIPT_FOREIGN at ${ADDED}`],
    sealedCrime((ledger) => ledger.append({ ...DENIED, ledger: 'ledger.example/other' })),
  ),
  fails(
    'genesis-missing',
    'the genesis and its key were left out, so nobody knows whose ledger this is',
    ['CHECKPOINT_KEY_FOREIGN in checkpoint', 'GENESIS_MISSING', `KEY_UNKNOWN at ${AT.key}`],
    async () => packed(await told(undefined, BEGINNING), { range: { start: AT.key, end: AT.read + 1 } }),
  ),
  fails(
    'genesis-replaced',
    'the first entry of the ledger is not a genesis',
    ['CHECKPOINT_KEY_FOREIGN in checkpoint', 'GENESIS_MISSING', 'GENESIS_MISPLACED at 0', 'KEY_UNKNOWN at 0'],
    async () => packed(await headless()),
  ),
  fails(
    'genesis-twice',
    'a second genesis in the middle of the ledger',
    [`GENESIS_MISPLACED at ${ADDED}`],
    sealedCrime(async (ledger) => {
      const public_key = toBase64(ledger.ledgerKey.publicKey.bytes)
      await ledger.append({ kind: 'genesis', public_key, commit: 'plain' })
    }),
  ),
  fails(
    'genesis-names-another-key',
    'the genesis names a key and is signed by another',
    ['CHECKPOINT_KEY_FOREIGN in checkpoint', 'KEY_UNKNOWN at 0'],
    async () => packed(await disowned()),
  ),
]
