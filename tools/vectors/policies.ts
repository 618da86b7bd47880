// Crimes with policies and with disclosed payloads.

import { DENIED, POLICY, told } from '../../packages/evidence/test/audit-story.ts'
import { begin, createLedger, decision, POLICY_TEXT } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  bytesOf,
  forge,
  joined,
  replaced,
  wholeOf,
} from '../../packages/evidence/test/pack-forge.ts'
import { NO_HASH, sha256Hex, type Payload } from '../../packages/evidence/src/index.ts'
import { trustIn } from '../../packages/evidence/test/audit-story.ts'
import { disclosing } from './honest.ts'
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

const LENIENT = 'tollgate: 1\nname: demo\nrules: [{ id: all, allow: "*" }]\n'
const POLICY_FILE = `policy/${POLICY}`

/** A crime against the first payload that is disclosed. */
function payloadCrime(
  commit: 'plain' | 'salted',
  tamper: (payload: Payload) => Payload,
): () => Promise<Made> {
  return async () => {
    const { ledger, payloads } = await disclosing(commit)
    const [first, ...others] = payloads
    return packed(ledger, { ...wholeOf(ledger), payloads: [...(first ? [tamper(first)] : []), ...others] })
  }
}

const plain = await disclosing('plain')
const salted = await disclosing('salted')
const [{ hash: PLAIN } = { hash: '' }] = plain.payloads
const [{ hash: SALTED } = { hash: '' }] = salted.payloads

export const POLICIES: readonly Plan[] = [
  fails(
    'policy-text-replaced',
    'the pack shows a more lenient text under the name of the policy',
    [`POLICY_CHANGED in ${POLICY_FILE}`],
    boundCrime((members) => replaced(members, POLICY_FILE, bytesOf(LENIENT))),
  ),
  fails(
    'policy-claimed-otherwise',
    'a decision names a more lenient policy, which the pack shows and which was never activated',
    [`POLICY_NOT_ACTIVE at ${ADDED}`],
    sealedCrime((ledger) => ledger.append(decision(ledger.keepPolicy(LENIENT)))),
  ),
  fails(
    'policy-outdated',
    'a decision was made under a policy that had been replaced',
    [`POLICY_NOT_ACTIVE at ${ADDED + 1}`],
    sealedCrime(async (ledger) => {
      const policy_hash = ledger.keepPolicy(LENIENT)
      await ledger.append({ kind: 'policy', policy_hash, name: 'lenient', by: 'admin:ann' })
      await ledger.append(decision(POLICY))
    }),
  ),
  fails(
    'policy-not-yet-active',
    'a decision was made under a policy that was activated only afterwards',
    ['POLICY_NOT_ACTIVE at 2'],
    async () => {
      const ledger = await createLedger()
      const policy_hash = ledger.keepPolicy(POLICY_TEXT)
      await begin(ledger)
      await ledger.append(decision(policy_hash))
      await ledger.append({ kind: 'policy', policy_hash, name: 'demo', by: 'admin:ann' })
      await ledger.sealHead()
      return packed(ledger)
    },
  ),
  fails(
    'policy-of-another-tenant',
    'a decision was made under the policy of another tenant',
    [`POLICY_NOT_ACTIVE at ${ADDED}`],
    sealedCrime((ledger) => ledger.append({ ...DENIED, tenant: 'b' })),
  ),
  fails(
    'policy-denied-away',
    'a decision claims that there was no policy, and there was one',
    [`POLICY_NOT_ACTIVE at ${ADDED}`],
    sealedCrime((ledger) =>
      ledger.append(decision(NO_HASH, { verdict: 'DENY', reason_code: 'NO_POLICY_DEFINED' })),
    ),
  ),
  unreadable(
    'policy-unreferenced',
    'the pack shows a policy that no decision was made under',
    [`MEMBER_UNEXPECTED in policy/${sha256Hex(LENIENT)}`],
    async () => {
      const ledger = await told(undefined, BEGINNING)
      const members = replaced(await forge(ledger), `policy/${sha256Hex(LENIENT)}`, bytesOf(LENIENT))
      return { pack: archive(bound(members)), trust: trustIn(ledger) }
    },
  ),
  fails(
    'payload-changed',
    'other arguments are shown than those the receipt commits to',
    [`PAYLOAD_CHANGED in payloads/${PLAIN}`],
    payloadCrime('plain', (payload) => ({ ...payload, bytes: bytesOf('{"path":"/etc/passwd"}') })),
  ),
  fails(
    'payload-salted-changed',
    'other arguments are shown under the same salt',
    [`PAYLOAD_CHANGED in payloads/${SALTED}.args`],
    payloadCrime('salted', (payload) => ({ ...payload, bytes: bytesOf('{"path":"/etc/passwd"}') })),
  ),
  fails(
    'payload-salt-cut',
    'a salted payload that is shorter than its salt',
    [`PAYLOAD_CHANGED in payloads/${SALTED}.args`],
    payloadCrime('salted', (payload) => ({
      hash: payload.hash,
      bytes: new Uint8Array(0),
      salted: { label: 'args', salt: new Uint8Array(16) },
    })),
  ),
  fails(
    'payload-label-changed',
    'arguments are shown as if they were an output',
    [`PAYLOAD_CHANGED in payloads/${SALTED}.effect`],
    payloadCrime('salted', (payload) => ({
      ...payload,
      ...(payload.salted && { salted: { ...payload.salted, label: 'effect' } }),
    })),
  ),
  fails(
    'payload-unreferenced',
    'a payload is shown that no receipt commits to',
    [`PAYLOAD_UNREFERENCED in payloads/${sha256Hex('anything')}`],
    payloadCrime('plain', () => ({ hash: sha256Hex('anything'), bytes: bytesOf('anything') })),
  ),
  fails(
    'payload-salted-shown-as-plain',
    'label, salt and arguments are shown together, as if they were the arguments',
    [`PAYLOAD_UNREFERENCED in payloads/${SALTED}`],
    payloadCrime('salted', ({ hash, bytes, salted }) => ({
      hash,
      bytes: joined([bytesOf('tollgate/args/v1\n'), salted?.salt ?? new Uint8Array(0), bytes]),
    })),
  ),
]
