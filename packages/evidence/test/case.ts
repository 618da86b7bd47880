// Reads and writes `vectors/packs/*.case`: packs with their expected reports. A file has a text header, a line `---`, then the pack.

import { readdirSync, readFileSync } from 'node:fs'
import { FINDINGS, type Finding, type Level, type Report } from '../src/index.ts'

/** A pack and its expected report. */
export interface PackCase {
  readonly name: string
  readonly about: string
  readonly expect: Level
  /** Every finding in the order of the report, as `nameFinding` writes it. */
  readonly findings: readonly string[]
  /** The trust file in one line. If missing, the pack is verified without trust. */
  readonly trust?: string
  readonly pack: Uint8Array
}

/** The exit code of each level. */
export const EXITS: Readonly<Record<Level, number>> = {
  verified: 0,
  witnessed: 0,
  failed: 1,
  malformed: 2,
  'integrity only': 3,
}

/** A finding as one line: `CODE`, `CODE at 7`, `CODE in checkpoint`, or both. */
export function nameFinding({ code, index, member }: Omit<Finding, 'sentence'>): string {
  const at = index === undefined ? '' : ` at ${index}`
  return code + at + (member === undefined ? '' : ` in ${member}`)
}

/** The findings of a report, one line each. */
export function findingsOf({ findings }: Report): readonly string[] {
  return findings.map(nameFinding)
}

const VERSION = 'tollgate vector v1'
const END = '\n---\n'

/** The bytes of a case file. */
export function formatCase({ about, expect, findings, trust, pack }: PackCase): Uint8Array {
  const lines = [
    VERSION,
    `about: ${about}`,
    `expect: ${expect}`,
    `exit: ${EXITS[expect]}`,
    ...findings.map((finding) => `finding: ${finding}`),
    ...(trust === undefined ? [] : [`trust: ${trust}`]),
  ]
  return Buffer.concat([Buffer.from(lines.join('\n') + END), pack])
}

/** Reads a case file. Throws if `formatCase` would not write the same bytes. */
export function parseCase(name: string, file: Uint8Array): PackCase {
  const bytes = Buffer.from(file)
  const end = bytes.indexOf(END)
  const [version, ...lines] = bytes.subarray(0, Math.max(end, 0)).toString().split('\n')
  const all = (field: string): string[] =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2))
  const [trust] = all('trust')
  const found: PackCase = {
    name,
    about: all('about')[0] ?? '',
    // Sound: the levels are checked below.
    expect: all('expect')[0] as Level,
    findings: all('finding'),
    ...(trust !== undefined && { trust }),
    pack: new Uint8Array(bytes.subarray(end + END.length)),
  }
  const wellFormed = version === VERSION && found.about !== '' && Object.hasOwn(EXITS, found.expect)
  if (!wellFormed || !found.findings.every(isFinding) || !bytes.equals(formatCase(found))) {
    throw new Error(`${name} is not a pack case`)
  }
  return found
}

/** The folder of the pack cases. */
export const PACK_CASES: URL = new URL('../../../vectors/packs/', import.meta.url)

/** All pack cases, by name. */
export function readPackCases(): readonly PackCase[] {
  return readdirSync(PACK_CASES)
    .sort()
    .map((file) => parseCase(file.replace(/\.case$/, ''), readFileSync(new URL(file, PACK_CASES))))
}

const FINDING = /^([A-Z_]+)(?: at (?:0|[1-9][0-9]*))?(?: in [a-z0-9._/-]+)?$/

function isFinding(line: string): boolean {
  const code = FINDING.exec(line)?.[1]
  return code !== undefined && Object.hasOwn(FINDINGS, code)
}
