// Compares the report of the verifier with that of the second one, which was written from the documents alone.

import { parseTrust, verifyPack, EvidenceError, type Report } from '../../packages/evidence/src/index.ts'
import { nameFinding } from '../../packages/evidence/test/case.ts'
import type { Made } from '../vectors/plan.ts'

/** The part of a report that both verifiers must agree on. */
export interface Verdict {
  readonly level: string
  readonly exit: number
  readonly findings: readonly string[]
  readonly more: number
}

/** A trust file that is not valid: nothing is verified. */
export const NOTHING: Verdict = { level: '', exit: 2, findings: [], more: 0 }

/** The report of the verifier of this project. */
export async function firstVerdict({ pack, trust }: Made): Promise<Verdict> {
  let options: Parameters<typeof verifyPack>[1] = {}
  try {
    if (trust !== undefined) options = { trust: await parseTrust(trust) }
  } catch (fault) {
    if (fault instanceof EvidenceError) return NOTHING
    throw fault
  }
  return verdictIn(await verifyPack(pack, options))
}

/** The same part of a report in JSON. */
export function verdictIn(report: Pick<Report, 'level' | 'exit' | 'findings' | 'more_findings'>): Verdict {
  const { level, exit, findings, more_findings: more } = report
  return { level, exit, findings: findings.map(nameFinding), more }
}
