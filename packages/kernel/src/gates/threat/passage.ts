// Finds the passage around findings. Attacks often frame an order with a line before it and a line after it. The scanner
// finds the frame, and the order is between, next to, or in the paragraph after these findings.

import { fieldsOf, type Span } from '../../text/fields.ts'
import type { ThreatFinding } from './finding.ts'

/** The maximum distance between two findings of one passage, and the maximum length of a paragraph. */
const MAX_DISTANCE = 700
const MAX_PARAGRAPH = 1200

/** Returns the passages around findings, in order. */
export function passagesAround(given: string, findings: readonly ThreatFinding[]): readonly Span[] {
  if (findings.length === 0) return []
  // In escaped text, `\\n` is a line break. The replacement keeps the length.
  const text = given.replaceAll('\\n', ' \n')
  // If the text has real line breaks, escaped ones are inside a field.
  const fieldAt = fieldsOf(given.includes('\n') ? given : text)
  const passages: { start: number; end: number; field: number }[] = []
  for (const finding of [...findings].sort((a, b) => a.start - b.start)) {
    const field = fieldAt(finding.start)
    const { start, end } = around(text, finding, field)
    const last = passages.at(-1)
    const isNear =
      last && (start <= last.end || (last.field === field.start && start - last.end <= MAX_DISTANCE))
    if (isNear) last.end = Math.max(last.end, end)
    else passages.push({ start, end, field: field.start })
  }
  return passages
}

/** Returns the paragraph of a finding, and the next one if the finding announces it. */
function around(text: string, finding: ThreatFinding, field: Span): Span {
  // An announcement comes before the order, so the passage starts with it.
  const isAnnounced = ANNOUNCING.has(finding.code)
  const least = Math.min(finding.start, Math.max(field.start, finding.start - MAX_PARAGRAPH))
  const start = isAnnounced ? finding.start : least + lastParagraph(text.slice(least, finding.start))
  const most = Math.max(finding.end, Math.min(field.end, finding.end + MAX_PARAGRAPH))
  const rest = text.slice(finding.end, most)
  const end = paragraphEnd(rest, 0)
  const continues =
    isAnnounced ||
    text
      .slice(Math.max(0, finding.end + end - 8), finding.end + end)
      .trimEnd()
      .endsWith(':')
  return { start, end: finding.end + (continues ? paragraphEnd(rest, pastBlank(rest, end)) : end) }
}

/** Codes of findings that announce the text after them. */
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

// Both functions read a limited part of the text.

/** Returns the start of the last paragraph, after an empty line. */
function lastParagraph(text: string): number {
  let line = text.lastIndexOf('\n')
  while (line > 0) {
    const before = text.lastIndexOf('\n', line - 1)
    if (isBlank(text, before + 1, line)) return line + 1
    line = before
  }
  return 0
}

/** Returns the end of the paragraph at a position, before an empty line. */
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
