// Packs with what a verifier must say of them: `vectors/packs/*.case`. One file one case: a text header, a line `---`,
// then the pack, byte for byte, to the end of the file. Writing and reading stand side by side.

import { readdirSync, readFileSync } from 'node:fs'
import { FINDINGS, type Finding, type Level, type Report } from '../src/index.ts'

/** A pack and what is expected of it. */
export interface PackCase {
  readonly name: string
  readonly about: string
  readonly expect: Level
  /** Every finding, in the report's order, as `nameFinding` writes it. */
  readonly findings: readonly string[]
  /** The text of the trust file, in one line; without one the pack is verified without trust. */
  readonly trust?: string
  readonly pack: Uint8Array
}

/** The exit code that goes with each level. */
export const EXITS: Readonly<Record<Level, number>> = {
  verified: 0,
  witnessed: 0,
  failed: 1,
  malformed: 2,
  'integrity only': 3,
}

/** A finding in a line: `CODE`, `CODE at 7`, `CODE in checkpoint`, or both. */
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

/** Reads a case file. One that is not exactly what `formatCase` writes is a fault of the vectors. */
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
    // Sound: compared below with the levels there are.
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

/** Where the pack cases are. */
export const PACK_CASES: URL = new URL('../../../vectors/packs/', import.meta.url)

/** Every pack case there is, by name. */
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
