// Judges packs by both verifiers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PythonLines } from '../compat/python.ts'
import type { Made } from '../vectors/plan.ts'
import { firstVerdict, NOTHING, verdictIn, type Verdict } from './judge.ts'

/** A pack on whose report the verifiers differ. */
export interface Difference {
  readonly name: string
  readonly first: Verdict
  readonly second: Verdict
}

/** The counts of a comparison. */
export interface Comparison {
  readonly packs: number
  readonly failing: number
  /** The codes of all findings. */
  readonly codes: ReadonlySet<string>
  readonly differences: readonly Difference[]
}

/** The second verifier, as a running program: `verify.py --many`. */
export const SECOND: URL = new URL('../../conformance/second-verifier/verify.py', import.meta.url)

/** Judges every pack by both verifiers. */
export async function compare(
  second: PythonLines,
  packs: Iterable<readonly [string, Made | Promise<Made>]>,
): Promise<Comparison> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-second-'))
  const codes = new Set<string>()
  const differences: Difference[] = []
  let count = 0
  let failing = 0
  try {
    for (const [name, made] of packs) {
      const pack = await made
      const verdict = await firstVerdict(pack)
      const other = await secondVerdict(second, pack, folder)
      for (const finding of verdict.findings) codes.add(finding.split(' ')[0] ?? '')
      if (JSON.stringify(verdict) !== JSON.stringify(other))
        differences.push({ name, first: verdict, second: other })
      count++
      if (verdict.findings.length > 0) failing++
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { packs: count, failing, codes, differences }
}

async function secondVerdict(second: PythonLines, { pack, trust }: Made, folder: string): Promise<Verdict> {
  const paths = { pack: join(folder, 'pack'), trust: join(folder, 'trust') }
  writeFileSync(paths.pack, pack)
  if (trust !== undefined) writeFileSync(paths.trust, trust)
  const report = await second.ask(trust === undefined ? { pack: paths.pack } : paths)
  // Sound: the form of its reports. Another form would be a difference.
  const found = report as Parameters<typeof verdictIn>[0] | { readonly error: string }
  return 'error' in found ? NOTHING : verdictIn(found)
}
