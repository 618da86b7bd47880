// Reads and writes `vectors/packs/`: packs with their expected reports. Each case is a folder with `case.json`, `pack` and, if a trust
// file is given, `trust.json`.

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

/** The file `case.json` of a case. */
interface CaseFile {
  readonly about: string
  readonly level: Level
  readonly exit: number
  readonly findings: readonly Omit<Finding, 'sentence'>[]
}

/** The files of a case, by name. */
export function caseFiles({
  about,
  expect,
  findings,
  trust,
  pack,
}: PackCase): ReadonlyMap<string, Uint8Array> {
  const file: CaseFile = { about, level: expect, exit: EXITS[expect], findings: findings.map(readFinding) }
  const text = (content: string): Uint8Array => new TextEncoder().encode(content)
  return new Map([
    ['case.json', text(`${JSON.stringify(file, null, 2)}\n`)],
    ['pack', pack],
    ...(trust === undefined ? [] : [['trust.json', text(trust)] as const]),
  ])
}

/** The folder of the pack cases. */
export const PACK_CASES: URL = new URL('../../../vectors/packs/', import.meta.url)

/** Reads a case. Throws if `caseFiles` would not write the same bytes. */
export function readPackCase(name: string): PackCase {
  const read = (file: string): Buffer => readFileSync(new URL(`${name}/${file}`, PACK_CASES))
  // Sound: another form would not be written the same.
  const { about, level, findings } = JSON.parse(read('case.json').toString()) as CaseFile
  const names = readdirSync(new URL(`${name}/`, PACK_CASES)).sort()
  const found: PackCase = {
    ...{ name, about, expect: level, findings: findings.map(nameFinding) },
    ...(names.includes('trust.json') && { trust: read('trust.json').toString() }),
    pack: new Uint8Array(read('pack')),
  }
  const files = caseFiles(found)
  const isSame = [...files].every(([file, bytes]) => read(file).equals(bytes))
  if (isSame && names.join() === [...files.keys()].join()) return found
  throw new Error(`${name} is not a pack case`)
}

/** All pack cases, by name. */
export function readPackCases(): readonly PackCase[] {
  return readdirSync(PACK_CASES).sort().map(readPackCase)
}

const FINDING = /^([A-Z_]+)(?: at (0|[1-9][0-9]*))?(?: in ([a-z0-9._/-]+))?$/

function readFinding(line: string): Omit<Finding, 'sentence'> {
  const [, code = '', index, member] = FINDING.exec(line) ?? []
  if (!Object.hasOwn(FINDINGS, code)) throw new Error(`there is no finding \`${line}\``)
  return {
    // Sound: the table has the code.
    code: code as Finding['code'],
    ...(index !== undefined && { index: Number(index) }),
    ...(member !== undefined && { member }),
  }
}
