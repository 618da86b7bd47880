// The manifest of a pack: the part of the ledger that it contains, and the size and digest of every member.

import { concat, latin1 } from './bytes.ts'
import { canonicalBytes, parseCanonical } from './canonical.ts'
import { isOrigin } from './checkpoint.ts'
import { EvidenceError } from './error.ts'
import {
  array,
  count,
  hash,
  only,
  optional,
  problemWith,
  record,
  shape,
  textThat,
  word,
  writeShape,
  type Field,
  type Fields,
  type Shape,
} from './fields.ts'
import { MEMBER_NAME } from './tar.ts'

/** A range of entries from `start` up to, but not including, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The receipts of a pack: a range, selected entries, or both. */
export interface Contents {
  readonly range?: Range
  /** Indexes outside the range, in ascending order. Each has its own inclusion proof. */
  readonly selected: readonly number[]
}

/** A member as the manifest lists it. */
export interface ListedMember {
  readonly name: string
  readonly sha256: string
  readonly size: number
}

/** The content of `manifest.json`. It is not signed: everything in it is checked against the checkpoint. */
export interface Manifest extends Contents {
  readonly format: 'tollgate-evidence-pack'
  readonly v: 1
  readonly ledger: string
  readonly tree_size: number
  /** Every other member, sorted by name. */
  readonly members: readonly ListedMember[]
}

/** Maximum number of selected entries. Use a range for more. */
export const MAX_SELECTED = 10_000

/** Maximum number of members of a pack. */
export const MAX_MEMBERS = 1_000_000

/** Maximum number of receipts in a bundle. */
export const BUNDLE_SIZE = 256

/** A file of receipts: the entries of one aligned block of 256 indexes that are in the pack. */
export interface Bundle {
  readonly name: string
  readonly runs: readonly Range[]
  readonly count: number
}

/**
 * Checks that a tree of `size` entries has these contents.
 *
 * @throws EvidenceError `PACK_MALFORMED` naming what is wrong.
 */
export function checkContents({ range, selected }: Contents, size: number): void {
  if (
    range &&
    !(isIndex(range.start) && isIndex(range.end) && range.start < range.end && range.end <= size)
  ) {
    throw malformed(`the range is empty or reaches beyond the ${size} entries of the checkpoint`)
  }
  if (!range && selected.length === 0) throw malformed('it contains no receipts')
  if (selected.length > MAX_SELECTED) {
    throw malformed(`more than ${MAX_SELECTED} receipts are selected; use a range`)
  }
  let previous = -1
  for (const index of selected) {
    const inRange = range && index >= range.start && index < range.end
    if (!isIndex(index) || index <= previous || index >= size || inRange) {
      throw malformed('the selected indexes are not in ascending order, not in the tree, or inside the range')
    }
    previous = index
  }
}

function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** The bundles of these contents, in order. The same contents always give the same bundles. */
export function* bundles({ range, selected }: Contents): Generator<Bundle> {
  const stretches = selected.map((index) => ({ start: index, end: index + 1 }))
  if (range) stretches.push(range)
  stretches.sort((a, b) => a.start - b.start)
  let block = -1
  let runs: Range[] = []
  for (const stretch of stretches) {
    for (let start = stretch.start; start < stretch.end;) {
      const at = Math.floor(start / BUNDLE_SIZE)
      if (at !== block && runs.length > 0) yield bundle(block, runs)
      if (at !== block) [block, runs] = [at, []]
      const end = Math.min(stretch.end, (at + 1) * BUNDLE_SIZE)
      runs.push({ start, end })
      start = end
    }
  }
  if (runs.length > 0) yield bundle(block, runs)
}

/** An index in a member name: sixteen digits, so that text order is number order. */
export function indexName(index: number): string {
  return String(index).padStart(16, '0')
}

/** The bytes of a manifest. */
export function formatManifest(manifest: Manifest): Uint8Array {
  return canonicalBytes(manifest, { maxLength: MAX_MANIFEST_BYTES })
}

/**
 * Reads a manifest.
 *
 * @throws EvidenceError `PACK_MALFORMED`, or a `JSON_…` code.
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw malformed(`manifest.json is larger than ${MAX_MANIFEST_BYTES} bytes`)
  }
  const listed = readListed(bytes)
  const manifest: Manifest = { ...parseRest(listed.rest), members: listed.members }
  const names = manifest.members.map(({ name }) => name)
  if (names.some((name, i) => i > 0 && name <= (names[i - 1] ?? '')))
    throw malformed('its members are not sorted')
  checkContents(manifest, manifest.tree_size)
  const { start, end } = manifest.range ?? { start: 0, end: 0 }
  // Checked before the bundles are listed: a range can claim any length.
  if ((end - start) / BUNDLE_SIZE > names.length) throw malformed('it lists too few members for its range')
  return manifest
}

/** The members of a manifest, and its text with an empty list in their place. */
interface Listed {
  readonly members: readonly ListedMember[]
  readonly rest: Uint8Array
}

const LIST = '"members":['
// The text before the list is a format and the name of a ledger. A member is two names and two numbers.
const MAX_HEAD_LENGTH = 2048
const MAX_LISTED_LENGTH = 256
const LISTED = /^\{"name":"([a-z0-9._/-]{1,100})","sha256":"([0-9a-f]{64})","size":(0|[1-9][0-9]{0,15})\}(,?)/

/**
 * Splits the list of members from a manifest. Members have one canonical form, so a pattern matches each in place and a long list
 * of something else costs nothing. A malformed list stays in `rest`.
 */
function readListed(bytes: Uint8Array): Listed {
  const start = latin1(bytes.subarray(0, MAX_HEAD_LENGTH)).indexOf(LIST) + LIST.length
  const members: ListedMember[] = []
  let at = start
  for (let more = start >= LIST.length && bytes[at] === 0x7b; more;) {
    const [text = '', name = '', sha256 = '', size, comma] =
      LISTED.exec(latin1(bytes.subarray(at, at + MAX_LISTED_LENGTH))) ?? []
    const member: ListedMember = { name, sha256, size: Number(size) }
    if (writeShape({ ...member }, MEMBER) === undefined || members.length === MAX_MEMBERS) {
      return { members: [], rest: checked(bytes) }
    }
    members.push(member)
    at += text.length
    more = comma === ','
  }
  return { members, rest: concat(bytes.subarray(0, start), checked(bytes.subarray(at))) }
}

function checked(rest: Uint8Array): Uint8Array {
  if (rest.length > MAX_REST_BYTES)
    throw malformed('manifest.json: its list has entries that are not members of a pack')
  return rest
}

/** Maximum size of a manifest without its members: at most 10,000 indexes and a few names. */
export const MAX_REST_BYTES: number = 1 << 20

/** Reads a manifest whose list of members was split off. */
function parseRest(rest: Uint8Array): Manifest {
  const value = parseCanonical(rest, rest.length)
  const problem = problemWith(value, MANIFEST)
  if (problem !== undefined) throw malformed(`manifest.json: ${problem}`)
  // Sound: the table has exactly the fields of Manifest, and all were checked.
  const manifest = value as unknown as Manifest
  if (manifest.members.length > 0) throw malformed('manifest.json: a comma is missing between two members')
  return manifest
}

/** Maximum size of a manifest: enough for about 100 million receipts. */
export const MAX_MANIFEST_BYTES: number = 64 << 20

const name = textThat('the name of a member', (text) => text.length <= 100 && MEMBER_NAME.test(text))

const member: Fields = { name, sha256: hash, size: count() }
const MEMBER = shape(member)

/** The shape of a manifest. */
export const MANIFEST: Shape = shape({
  format: word('tollgate-evidence-pack'),
  v: only(1),
  ledger: textThat('the name of a ledger', isOrigin),
  tree_size: count(),
  range: optional(record({ start: count(), end: count() })),
  selected: array(count(), MAX_SELECTED),
  members: array(record(member), MAX_MEMBERS),
} satisfies Readonly<Record<keyof Manifest, Field>>)

function bundle(block: number, runs: readonly Range[]): Bundle {
  const total = runs.reduce((sum, { start, end }) => sum + end - start, 0)
  return { name: `receipts/${indexName(block * BUNDLE_SIZE)}.jsonl`, runs, count: total }
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('PACK_MALFORMED', `the pack has an invalid manifest: ${problem}`)
}
