// The contract of every scan result.

import { SEVERITIES, THREAT_CODES, type ThreatFinding } from '../../../src/gates/threat/finding.ts'

/** Throws if the findings violate the contract. */
export function checkFindings(text: string, findings: readonly ThreatFinding[]): void {
  let before = 0
  if (findings.length > 64) throw new Error('too many findings')
  for (const { class: kind, code, severity, start, end } of findings) {
    const valid = Number.isInteger(start) && Number.isInteger(end) && start >= before && start < end
    if (!valid || end > text.length) throw new Error(`span ${start} to ${end} of ${text.length} for ${code}`)
    if (THREAT_CODES[code]?.class !== kind || !SEVERITIES.includes(severity))
      throw new Error(`unknown ${code}`)
    before = start
  }
}
