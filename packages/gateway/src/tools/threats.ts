// Scans the texts of a definition with the kernel's threat scanner, because models read definitions as they read results.

import { scanText, THREAT_CODES, type ThreatClass, type ThreatFinding } from '@tollgate/kernel/detection'
import type { Finding, FindingCode } from './finding.ts'
import { excerpt } from './hidden.ts'
import type { Placed } from './texts.ts'

const CODES: Readonly<Record<ThreatClass, FindingCode>> = {
  instruction: 'THREAT_INSTRUCTION',
  spoofing: 'THREAT_SPOOFING',
  exfiltration: 'THREAT_EXFILTRATION',
  secret: 'THREAT_SECRET',
  command: 'THREAT_COMMAND',
  obfuscation: 'THREAT_OBFUSCATION',
}

// Already reported as HIDDEN_CHARACTERS, with the characters.
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'TAG_CHARACTERS',
  'SELECTOR_STREAM',
  'ZERO_WIDTH',
  'BIDI_CONTROL',
  'TERMINAL_ESCAPE',
])

/** The findings in a text, each code once, without low severities. */
export function threatNotes({ at, text }: Placed): readonly Omit<Finding, 'tool'>[] {
  const seen = new Set<string>()
  return scanText(text).flatMap((found) => {
    const { class: kind, code, severity } = found
    if (severity === 'low' || REPORTED_ELSEWHERE.has(code) || seen.has(code)) return []
    seen.add(code)
    return [{ code: CODES[kind], severity, message: `\`${excerpt(at)}\`: ${sentence(found, text)}` }]
  })
}

function sentence({ class: kind, code, start, end }: ThreatFinding, text: string): string {
  const about = THREAT_CODES[code]?.about.replace(/\.$/, '') ?? 'Something is wrong with it'
  const words = `${about.charAt(0).toLowerCase()}${about.slice(1)} (${kind}, ${code})`
  // A secret is never repeated.
  return kind === 'secret' ? words : `${words}: \`${excerpt(text.slice(start, end))}\``
}
