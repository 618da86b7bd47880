// The manifest of a pack: which part of which ledger it holds, and every member with its size and digest.

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
} from './fields.ts'
import { MEMBER_NAME } from './tar.ts'

/** A stretch of the ledger: from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Which receipts a pack holds: a whole stretch, some by themselves, or both. */
export interface Contents {
  readonly range?: Range
  /** Indexes outside of the range, rising. Each comes with its own inclusion proof. */
  readonly selected: readonly number[]
}

/** A member as the manifest lists it. */
export interface ListedMember {
  readonly name: string
  readonly sha256: string
  readonly size: number
}

/** What `manifest.json` says. It is signed by nobody: everything in it is checked against the checkpoint. */
export interface Manifest extends Contents {
  readonly format: 'tollgate-evidence-pack'
  readonly v: 1
  readonly ledger: string
  readonly tree_size: number
  /** Every other member, sorted by name. */
  readonly members: readonly ListedMember[]
}

/** Most receipts that can be picked by themselves; beyond that a range is the better proof. */
const MAX_SELECTED = 10_000

/** Most members of a pack. */
export const MAX_MEMBERS = 1_000_000

/** Receipts in a bundle. */
const BUNDLE_SIZE = 256

/** A file of receipts: those of one aligned block of 256 indexes that the pack holds. */
export interface Bundle {
  readonly name: string
  readonly runs: readonly Range[]
  readonly count: number
}

/**
 * Checks that contents can be had from a tree of `size`.
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
  if (!range && selected.length === 0) throw malformed('it holds no receipts')
  if (selected.length > MAX_SELECTED) {
    throw malformed(`more than ${MAX_SELECTED} receipts are selected; use a range`)
  }
  let previous = -1
  for (const index of selected) {
    const inRange = range && index >= range.start && index < range.end
    if (!isIndex(index) || index <= previous || index >= size || inRange) {
      throw malformed('the selected indexes are not rising, or not in the tree, or in the range')
    }
    previous = index
  }
}

function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** The bundles that hold these contents, in order. The same contents always give the same bundles. */
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

/** An index as it stands in member names: sixteen digits, so that text order is number order. */
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
  // Before anybody goes through the bundles one by one: a range can claim any length.
  if ((end - start) / BUNDLE_SIZE > names.length) throw malformed('it lists too few members for its range')
  return manifest
}

/** A manifest with its list of members taken out of it: what is left of its text has an empty list there. */
interface Listed {
  readonly members: readonly ListedMember[]
  readonly rest: Uint8Array
}

const LIST = '"members":['
// What comes before the list is a format and the name of a ledger; a member is two names and two numbers.
const MAX_HEAD = 2048
const MAX_LISTED = 256
const LISTED = /^\{"name":"([a-z0-9._/-]{1,100})","sha256":"([0-9a-f]{64})","size":(0|[1-9][0-9]{0,15})\}(,?)/

/**
 * Takes the members out of a manifest. It has one spelling, so each is matched where it stands: what is none ends the reading
 * there, and a long list of anything else costs nothing. A list that is not as it should be stays in the rest.
 */
function readListed(bytes: Uint8Array): Listed {
  const start = latin1(bytes.subarray(0, MAX_HEAD)).indexOf(LIST) + LIST.length
  const members: ListedMember[] = []
  let at = start
  for (let more = start >= LIST.length && bytes[at] === 0x7b; more;) {
    const [text = '', name = '', sha256 = '', size, comma] =
      LISTED.exec(latin1(bytes.subarray(at, at + MAX_LISTED))) ?? []
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
  if (rest.length > MAX_REST_BYTES) throw malformed('manifest.json: what it lists are not members of a pack')
  return rest
}

// All but the members: 10,000 indexes at most, and a few names.
const MAX_REST_BYTES = 1 << 20

/** Reads what is left of a manifest, in which nothing may be listed any more. */
function parseRest(rest: Uint8Array): Manifest {
  const value = parseCanonical(rest, rest.length)
  const problem = problemWith(value, SHAPE)
  if (problem !== undefined) throw malformed(`manifest.json: ${problem}`)
  // Sound: the table has exactly the fields of Manifest, and all were checked.
  const manifest = value as unknown as Manifest
  if (manifest.members.length > 0) throw malformed('manifest.json: a comma is missing between two members')
  return manifest
}

/** Longest manifest: room for some 100 million receipts. */
export const MAX_MANIFEST_BYTES: number = 64 << 20

const name = textThat('the name of a member', (text) => text.length <= 100 && MEMBER_NAME.test(text))

const member: Fields = { name, sha256: hash, size: count() }
const MEMBER = shape(member)

const SHAPE = shape({
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
  return new EvidenceError('PACK_MALFORMED', `the pack cannot be as described: ${problem}`)
}
