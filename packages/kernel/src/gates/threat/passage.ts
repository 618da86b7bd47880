// The passage that findings speak for. Who writes an attack frames it: a line that speaks to the machine, the order, a line that
// leads back. What is found are the frames; the order stands between them, beside them, or in the paragraph that they announce.

import { fieldsOf, type Stretch } from '../../text/fields.ts'
import type { ThreatFinding } from './finding.ts'

/** How far two frames of one field may be apart and still be one passage; and how long a paragraph counts. */
const APART = 700
const LONGEST = 1200

/** The passages around findings, in order. */
export function passagesAround(given: string, findings: readonly ThreatFinding[]): readonly Stretch[] {
  if (findings.length === 0) return []
  // In text that is itself escaped, `\\n` is a line break, and as long as two characters.
  const text = given.replaceAll('\\n', ' \n')
  // Where there are real line breaks, those that are escaped stand inside of a field.
  const fieldAt = fieldsOf(given.includes('\n') ? given : text)
  const passages: { start: number; end: number; field: number }[] = []
  for (const finding of [...findings].sort((a, b) => a.start - b.start)) {
    const field = fieldAt(finding.start)
    const { start, end } = around(text, finding, field)
    const last = passages.at(-1)
    const isNear = last && (start <= last.end || (last.field === field.start && start - last.end <= APART))
    if (isNear) last.end = Math.max(last.end, end)
    else passages.push({ start, end, field: field.start })
  }
  return passages
}

/** The paragraph of a finding, and the next one if it is announced. */
function around(text: string, finding: ThreatFinding, field: Stretch): Stretch {
  // What announces an order stands before it.
  const isAnnounced = ANNOUNCING.has(finding.code)
  const least = Math.min(finding.start, Math.max(field.start, finding.start - LONGEST))
  const start = isAnnounced ? finding.start : least + lastParagraph(text.slice(least, finding.start))
  const most = Math.max(finding.end, Math.min(field.end, finding.end + LONGEST))
  const rest = text.slice(finding.end, most)
  const end = paragraphEnd(rest, 0)
  const goesOn =
    isAnnounced ||
    text
      .slice(Math.max(0, finding.end + end - 8), finding.end + end)
      .trimEnd()
      .endsWith(':')
  return { start, end: finding.end + (goesOn ? paragraphEnd(rest, pastBlank(rest, end)) : end) }
}

/** Findings behind which comes what they are about. */
const ANNOUNCING: ReadonlySet<string> = new Set([
  'IGNORE_INSTRUCTIONS',
  'NEW_INSTRUCTIONS',
  'ROLE_CHANGE',
  'ORDER_BEFORE_TASK',
  'FALSE_AUTHORITY',
  'OUTPUT_END',
  'CHAT_DELIMITER',
  'ROLE_TAG',
  'ROLE_HEADER',
  'ROLE_LABEL',
])

// Both read a few hundred characters and no more, whatever the text is.

/** Where the paragraph begins that a text breaks off in: after an empty line. */
function lastParagraph(text: string): number {
  let line = text.lastIndexOf('\n')
  while (line > 0) {
    const before = text.lastIndexOf('\n', line - 1)
    if (isBlank(text, before + 1, line)) return line + 1
    line = before
  }
  return 0
}

/** Where the paragraph of a place ends: at an empty line. */
function paragraphEnd(text: string, place: number): number {
  let line = text.indexOf('\n', place)
  while (line >= 0) {
    const next = text.indexOf('\n', line + 1)
    if (next >= 0 && isBlank(text, line + 1, next)) return line
    line = next
  }
  return text.length
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) > 32) return false
  return true
}

function pastBlank(text: string, place: number): number {
  let at = place
  while (at < text.length && text.charCodeAt(at) <= 32) at++
  return at
}
