// Crimes against the list of members: something more, something less, or something else than the manifest says.

import { AT, POLICY, told, trustIn } from '../../packages/evidence/test/audit-story.ts'
import {
  archive,
  bound,
  bytesOf,
  edited,
  forge,
  RECEIPTS,
  replaced,
  without,
  type Members,
} from '../../packages/evidence/test/pack-forge.ts'
import { canonicalBytes } from '../../packages/evidence/src/canonical.ts'
import { sha256Hex, type Json, type JsonObject, type Manifest } from '../../packages/evidence/src/index.ts'
import {
  BEGINNING,
  boundCrime,
  fails,
  naiveCrime,
  unreadable,
  type Made,
  type Plan,
  lacking,
} from './plan.ts'

const POLICY_FILE = `policy/${POLICY}`
const RENAMED = `policy/${sha256Hex('renamed')}`
const NOTE = { name: 'notes.txt', bytes: bytesOf('nothing to see here\n') }

/** A crime that changes what the manifest says, and nothing else. */
function claims(change: (manifest: JsonObject) => Json): () => Promise<Made> {
  return naiveCrime((members) =>
    edited(members, 'manifest.json', (text) =>
      // Sound: the manifest was just written by the forger.
      Buffer.from(canonicalBytes(change(JSON.parse(text) as JsonObject))).toString(),
    ),
  )
}

/** A crime that changes how the manifest is spelled. */
function spelled(change: (text: string) => string): () => Promise<Made> {
  return naiveCrime((members) => edited(members, 'manifest.json', change))
}

/** A crime in which the manifest fits the members, and says something else as well. */
function boundClaims(fields: Partial<Manifest>): () => Promise<Made> {
  return async () => {
    const ledger = await told(undefined, BEGINNING)
    return { pack: archive(bound(await forge(ledger), fields)), trust: trustIn(ledger) }
  }
}

/** A lie about the policy's row in the list. */
function rowClaims(lie: (row: JsonObject) => JsonObject): () => Promise<Made> {
  return claims((manifest) => ({
    ...manifest,
    members: (manifest.members as readonly JsonObject[]).map((row) =>
      row.name === POLICY_FILE ? lie(row) : row,
    ),
  }))
}

function withNote(members: Members): Members {
  return [...members.slice(0, 4), NOTE, ...members.slice(4)]
}

function policyRenamed(members: Members): Members {
  return members.map((member) => (member.name === POLICY_FILE ? { ...member, name: RENAMED } : member))
}

const SIZE = AT.read + 1
const UNREADABLE = ['PACK_MALFORMED']

export const MANIFESTS: readonly Plan[] = [
  unreadable(
    'member-extra',
    'a member that the manifest does not list',
    ['MEMBER_UNEXPECTED in notes.txt'],
    naiveCrime(withNote),
  ),
  unreadable(
    'member-extra-and-listed',
    'a member that does not belong in a pack, and that the manifest lists',
    ['MEMBER_UNEXPECTED in notes.txt'],
    boundCrime(withNote),
  ),
  unreadable(
    'member-missing',
    'the policy was taken out of the pack',
    [`MEMBER_MISSING in ${POLICY_FILE}`],
    naiveCrime((members) => without(members, POLICY_FILE)),
  ),
  unreadable(
    'checkpoint-missing',
    'the checkpoint was taken out of the pack and out of the manifest',
    ['MEMBER_MISSING in checkpoint'],
    boundCrime((members) => without(members, 'checkpoint')),
  ),
  unreadable(
    'manifest-missing',
    'the manifest was taken out of the pack',
    ['MEMBER_MISSING in manifest.json'],
    naiveCrime((members) => without(members, 'manifest.json')),
  ),
  unreadable(
    'range-proof-missing',
    'the proof of the range was taken out of the pack and out of the manifest',
    ['MEMBER_MISSING in proofs/range.json'],
    boundCrime((members) => without(members, 'proofs/range.json')),
  ),
  unreadable(
    'member-renamed',
    'the policy was renamed in the pack only',
    [`MEMBER_UNEXPECTED in ${RENAMED}`, `MEMBER_MISSING in ${POLICY_FILE}`, `POLICY_CHANGED in ${RENAMED}`],
    naiveCrime(policyRenamed),
  ),
  unreadable(
    'member-renamed-and-listed',
    'the policy was renamed in the pack and in the manifest',
    [`MEMBER_UNEXPECTED in ${RENAMED}`, `POLICY_CHANGED in ${RENAMED}`],
    boundCrime(policyRenamed),
  ),
  fails(
    'member-changed',
    'a policy text was changed, and the manifest was not',
    [`MEMBER_CHANGED in ${POLICY_FILE}`, `POLICY_CHANGED in ${POLICY_FILE}`],
    naiveCrime((members) => replaced(members, POLICY_FILE, bytesOf('tollgate: 1\nrules: [allow: "*"]\n'))),
  ),
  fails(
    'member-digest-lie',
    'the manifest gives another digest for a member',
    [`MEMBER_CHANGED in ${POLICY_FILE}`],
    rowClaims((row) => ({ ...row, sha256: sha256Hex('another') })),
  ),
  fails(
    'member-size-lie',
    'the manifest gives another size for a member',
    [`MEMBER_CHANGED in ${POLICY_FILE}`],
    rowClaims((row) => ({ ...row, size: 1 })),
  ),
  fails(
    'manifest-size-lie',
    'the manifest says that the tree is larger than the checkpoint does',
    ['MANIFEST_WRONG in manifest.json'],
    boundClaims({ tree_size: SIZE + 1 }),
  ),
  fails(
    'manifest-ledger-lie',
    'the manifest names another ledger than the checkpoint does',
    ['MANIFEST_WRONG in manifest.json'],
    boundClaims({ ledger: 'ledger.example/other' }),
  ),
  unreadable(
    'manifest-range-too-long',
    'the range reaches beyond the tree',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, range: { start: 0, end: SIZE + 1 } })),
  ),
  fails(
    'manifest-range-too-long-for-the-head',
    'range and tree reach beyond what the checkpoint says',
    ['MANIFEST_WRONG in manifest.json', `RECEIPT_COUNT_WRONG in ${RECEIPTS}`, 'LEAVES_WRONG'],
    boundClaims({ tree_size: SIZE + 1, range: { start: 0, end: SIZE + 1 } }),
  ),
  unreadable(
    'manifest-range-endless',
    'the range claims as many receipts as a number can count',
    UNREADABLE,
    claims((manifest) => ({
      ...manifest,
      tree_size: Number.MAX_SAFE_INTEGER,
      range: { start: 0, end: Number.MAX_SAFE_INTEGER },
    })),
  ),
  unreadable(
    'manifest-range-empty',
    'the range holds nothing',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, range: { start: 0, end: 0 } })),
  ),
  unreadable(
    'manifest-without-contents',
    'neither a range nor a selection',
    UNREADABLE,
    claims((manifest) => lacking(manifest, 'range')),
  ),
  unreadable(
    'manifest-selects-inside-the-range',
    'an entry of the range is also selected by itself',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, selected: [AT.key] })),
  ),
  unreadable(
    'manifest-members-unsorted',
    'the list of members is not in order',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, members: [...(manifest.members as Json[])].reverse() })),
  ),
  unreadable(
    'manifest-lists-a-member-twice',
    'a member stands in the list twice',
    UNREADABLE,
    claims((manifest) => {
      const [first = null, ...rest] = manifest.members as Json[]
      return { ...manifest, members: [first, first, ...rest] }
    }),
  ),
  unreadable(
    'manifest-lists-itself',
    'the manifest lists itself, and cannot know its own digest',
    ['MEMBER_MISSING in manifest.json'],
    claims((manifest) => {
      const members = manifest.members as JsonObject[]
      const itself = { name: 'manifest.json', sha256: sha256Hex(''), size: 0 }
      return { ...manifest, members: [...members.slice(0, 3), itself, ...members.slice(3)] }
    }),
  ),
  unreadable(
    'manifest-field-unknown',
    'the manifest has a field that nobody knows',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, comment: 'trust me' })),
  ),
  unreadable(
    'manifest-version-unknown',
    'a manifest of version 2',
    UNREADABLE,
    claims((manifest) => ({ ...manifest, v: 2 })),
  ),
  unreadable(
    'manifest-not-canonical',
    'the manifest has a line end behind it',
    UNREADABLE,
    spelled((text) => `${text}\n`),
  ),
  unreadable(
    'manifest-key-twice',
    'the manifest names its ledger twice, and parsers differ on which one counts',
    UNREADABLE,
    spelled((text) => text.replace('"ledger":', '"ledger":"ledger.example/other","ledger":')),
  ),
  unreadable(
    'manifest-not-json',
    'the manifest is a text',
    UNREADABLE,
    spelled(() => 'see README'),
  ),
]
